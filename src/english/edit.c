/* english/edit.c: reads a sentence as a change. See edit.h.
 *
 * SPDX-License-Identifier: MIT */
#include "english/edit.h"

#include "english/edit_parts.h"

bool edit_refuse(struct edit *e, const char *field, struct str reason)
{
    e->out->op = EDIT_REFUSED;
    e->out->refusal = (struct english_refusal){{field, NULL}, 1, reason};
    return false;
}

/* ---- Is it one, and of what kind? ---- */

/* "the" or "my" right before a word of a title. */
static bool has_name_with_article(const struct edit *e, size_t from)
{
    for (size_t at = from; at + 1 < e->t.count; at++) {
        if (!token_is(&e->t, at, WORD_THE) && !token_is(&e->t, at, WORD_MY)) {
            continue;
        }
        for (size_t i = 0; i < e->asked->count && i < EDIT_SCHEDULES_MAX; i++) {
            if (edit_matches_title(e, at + 1, e->asked->schedules[i].title)) {
                return true;
            }
        }
        return token_is_word(&e->t, at + 2, "one");
    }
    return false;
}

static bool names_some_title(const struct edit *e)
{
    for (size_t at = 0; at < e->t.count; at++) {
        for (size_t i = 0; i < e->asked->count && i < EDIT_SCHEDULES_MAX; i++) {
            if (e->use[at] <= USE_NAME && e->use[at] != USE_VERB &&
                edit_matches_title(e, at, e->asked->schedules[i].title)) {
                return true;
            }
        }
    }
    return false;
}

/* "cancel my gym membership tomorrow": nothing of that name, and a time that is not "to": new. */
static bool is_new_order(const struct edit *e)
{
    bool to = false;
    for (size_t at = 0; at < e->t.count; at++) {
        to |= token_is(&e->t, at, WORD_TO) && e->use[MIN(at + 1, e->t.count - 1)] == USE_VALUE;
    }
    return e->has_value && !to && edit_has_unknown_words(e) && !e->has_shift && !e->has_one &&
           !e->has_pronoun && !e->instead && e->verb != VERB_SKIP && e->verb != VERB_RENAME &&
           !names_some_title(e);
}

/* "make it 5pm", "set it to noon": the new time stands right behind the pronoun. */
static bool sets_it(const struct edit *e)
{
    size_t it = e->verb_to, value = it + 1;
    if (e->verb != VERB_DO || e->verb_at > 2 || it >= e->t.count ||
        !token_is_word(&e->t, it, "it") || e->asked->count == 0) {
        return false;
    }
    value += token_is(&e->t, value, WORD_TO);
    return value < e->t.count && e->use[value] == USE_VALUE;
}

static bool is_edit(const struct edit *e)
{
    bool marked = e->instead || e->not_more || e->only || e->also || e->has_shift ||
                  (e->verb == VERB_SKIP && e->has_value) ||
                  (e->verb == VERB_CANCEL && e->from_name);
    bool nameless = !edit_has_unknown_words(e) && e->asked->count > 0;
    if (e->strong) {
        return !is_new_order(e);
    }
    if (nameless && e->verb == VERB_SKIP &&
        (e->has_value || e->has_instance || edit_lists_days(e))) {
        return true; /* "not on 24 October" */
    }
    if (nameless &&
        (e->zone != NULL || e->has_pronoun || e->also || e->only || e->instead || e->not_more ||
         e->has_shift || e->has_replaced || e->again) &&
        (e->has_value || e->has_shift || e->zone != NULL || e->has_pronoun)) {
        return true; /* "also at 5pm", "only on Mondays", "same thing but at 8" */
    }
    if (e->zone != NULL && names_some_title(e)) {
        return true;
    }
    if ((marked && names_some_title(e)) || sets_it(e)) {
        return true;
    }
    bool led = e->verb != VERB_NONE && e->verb_at <= 2;
    bool starts = token_is(&e->t, 0, WORD_THE) || token_is(&e->t, 0, WORD_MY);
    return (led || starts) && has_name_with_article(e, 0);
}

/* A single coming day, or this week: one instance. */
static bool is_single(const struct said *said)
{
    return !said->plural && !said->listed && !said->every &&
           (said->has_offset || said->weekdays != 0 || said->of_week != OF_NONE ||
            said->which != OF_NONE || said->dated || said->is_weekend);
}

static bool any_recurs(const struct edit *e)
{
    for (size_t i = 0; i < e->out->count; i++) {
        if (e->asked->schedules[e->out->changes[i].which].rule != NULL) {
            return true;
        }
    }
    return false;
}

static enum edit_op op_of_cancel(struct edit *e)
{
    if (e->for_now) {
        return EDIT_PAUSE;
    }
    if (e->value.count > 0) { /* stop it after 10 more times */
        return EDIT_RESCHEDULE;
    }
    if (edit_lists_days(e) && any_recurs(e)) {
        return EDIT_SKIP;
    }
    bool series = e->has_value && (e->value.plural || e->value.clocks_count > 0);
    if (e->from_name || (series && any_recurs(e) && !is_single(&e->value))) {
        e->from_name = true;
        return EDIT_RESCHEDULE;
    }
    if (any_recurs(e) && (e->next || e->has_instance || (e->has_value && is_single(&e->value)))) {
        return EDIT_SKIP_NEXT;
    }
    return EDIT_CANCEL;
}

static enum edit_op op_of_skip(struct edit *e)
{
    if (!any_recurs(e) || (e->not_more && !e->has_value && !e->has_instance)) {
        return EDIT_CANCEL;
    }
    if (edit_lists_days(e)) {
        return EDIT_SKIP;
    }
    if (e->has_value && (e->value.plural || e->value.listed)) { /* skip Sundays */
        e->from_name = true;
        return EDIT_RESCHEDULE;
    }
    return EDIT_SKIP_NEXT;
}

static enum edit_op op_of(struct edit *e)
{
    if (edit_is_pause_until(e)) {
        return EDIT_PAUSE_UNTIL;
    }
    switch (e->verb) {
    case VERB_CANCEL:
        return op_of_cancel(e);
    case VERB_SKIP:
        return op_of_skip(e);
    case VERB_PAUSE: /* "from 2 to 6 November" */
        return edit_lists_days(e) ? EDIT_SKIP : EDIT_PAUSE;
    case VERB_RESUME:
        return EDIT_RESUME;
    case VERB_RENAME:
        return EDIT_RENAME;
    case VERB_END:
        return e->has_value ? EDIT_RESCHEDULE : EDIT_CANCEL;
    case VERB_START:
    case VERB_DO:
        return e->again && !e->has_value && !e->has_shift ? EDIT_RESUME : EDIT_RESCHEDULE;
    default:
        return EDIT_RESCHEDULE;
    }
}

/* ---- A new title ---- */

static struct str without_marks(struct str text)
{
    text = str_trim(text);
    while (text.len > 0 && strchr(".!?\"' ", text.ptr[text.len - 1]) != NULL) {
        text.len--;
    }
    while (text.len > 0 && strchr("\"' :", text.ptr[0]) != NULL) {
        text = str_from(text, 1);
    }
    return text;
}

static bool rename_it(struct edit *e)
{
    if (token_is_word(&e->t, e->verb_at, "call") && token_is_word(&e->t, e->verb_at + 1, "it") &&
        e->verb_at + 2 < e->t.count) { /* call it morning brief */
        const char *from = e->t.at[e->verb_at + 2].text.ptr;
        size_t len = (size_t)(e->t.text.ptr + e->t.text.len - from);
        e->out->title = arena_str(e->arena, without_marks((struct str){from, len}));
    }
    for (size_t at = e->verb_to; at + 1 < e->t.count && e->out->title.len == 0; at++) {
        if (token_is(&e->t, at, WORD_TO) || token_is_word(&e->t, at, "as") ||
            token_is_word(&e->t, at, "into") || e->t.at[at + 1].quoted) {
            const char *from = e->t.at[at + 1].text.ptr;
            size_t len = (size_t)(e->t.text.ptr + e->t.text.len - from);
            e->out->title = arena_str(e->arena, without_marks((struct str){from, len}));
            break;
        }
    }
    if (e->out->title.len == 0 || e->out->count != 1) {
        return edit_refuse(e, "title", STR("to what? Say the new title"));
    }
    return true;
}

/* ---- Doing it ---- */

/* Are all that are meant paused, or none of them? */
static bool are_all(const struct edit *e, bool paused)
{
    for (size_t i = 0; i < e->out->count; i++) {
        if (e->asked->schedules[e->out->changes[i].which].paused != paused) {
            return false;
        }
    }
    return e->out->count > 0;
}

static bool carry_out(struct edit *e)
{
    enum edit_op op = op_of(e);
    bool skips = op == EDIT_SKIP_NEXT || op == EDIT_SKIP;
    if (skips && !e->has_instance && e->has_value) {
        e->instance = e->value;
        e->has_instance = true;
    }
    if (op == EDIT_RENAME && !rename_it(e)) {
        return false;
    }
    if ((op == EDIT_PAUSE || op == EDIT_RESUME) && are_all(e, op == EDIT_PAUSE)) {
        return edit_refuse(
            e, "status", op == EDIT_PAUSE ? STR("it is paused already") : STR("it is not paused"));
    }
    for (size_t i = 0; i < e->out->count; i++) {
        struct edit_change *change = &e->out->changes[i];
        if ((op == EDIT_RESCHEDULE && !edit_apply(e, change)) ||
            (op == EDIT_PAUSE_UNTIL && !edit_pause(e, change)) ||
            (skips && !edit_skip(e, change, &op))) {
            return false;
        }
    }
    e->out->op = op;
    return true;
}

static bool find_zone(struct edit *e)
{
    struct zones *zones = e->asked->zones;
    if (e->zone == NULL) {
        return true;
    }
    return (zones != NULL && zones_get(zones, str_of(e->zone), &e->named, NULL)) ||
           edit_refuse(e, "timezone", STR("that time zone is not known here"));
}

void english_edit(const struct edit_asked *asked, struct arena *arena, struct edit_read *out)
{
    struct edit e = {.asked = asked,
                     .arena = arena,
                     .out = out,
                     .value = said_nothing(),
                     .replaced = said_nothing(),
                     .which = said_nothing(),
                     .instance = said_nothing()};
    *out = (struct edit_read){.op = EDIT_NONE};
    if (asked->text.len > ENGLISH_TEXT_MAX || !str_is_utf8(asked->text) ||
        !tokens_cut(asked->text, arena, &e.t) || e.t.count == 0) {
        return;
    }
    e.use = arena_array(arena, enum edit_use, e.t.count + 1);
    choose_find(&e.t, arena, &e.phrases);
    edit_scan(&e);
    if (!is_edit(&e) || !find_zone(&e) || !edit_name(&e) || !carry_out(&e)) {
        out->count = 0;
    }
    zone_release(e.named);
}

const char *edit_op_name(enum edit_op op)
{
    static const char *const names[] = {[EDIT_NONE] = "none",
                                        [EDIT_REFUSED] = "refuse",
                                        [EDIT_RESCHEDULE] = "reschedule",
                                        [EDIT_PAUSE] = "pause",
                                        [EDIT_RESUME] = "resume",
                                        [EDIT_CANCEL] = "cancel",
                                        [EDIT_RENAME] = "rename",
                                        [EDIT_SKIP_NEXT] = "skip_next",
                                        [EDIT_SKIP] = "skip",
                                        [EDIT_PAUSE_UNTIL] = "pause_until"};
    return names[op];
}
