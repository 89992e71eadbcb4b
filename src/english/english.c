/* english/english.c: reads a sentence as an order. See english.h.
 *
 * SPDX-License-Identifier: MIT */
#include "english/english.h"

#include "english/phrase.h"

#define QUOTE_MAX 80 /* bytes of the text that a refusal quotes */

static void refuse(struct english_read *out, const char *field, struct str reason)
{
    out->kind = ENGLISH_REFUSED;
    out->refusal = (struct english_refusal){{field, NULL}, 1, reason};
}

/* The zone that the sentence names, if any; the caller releases it. */
static const struct zone *named_zone(const struct english_asked *asked, struct choice *c)
{
    const struct zone *zone = NULL;
    struct said *said = &c->said;
    if (said->fault != FAULT_NONE) {
        return NULL;
    }
    if (said->unsure_zone.len > 0) {
        if (!place_is_users(said->unsure_zone, asked->zone, wall_div(asked->now_ms, 1000))) {
            said->fault = FAULT_ZONES;
        }
        return NULL;
    }
    if (said->zone == NULL || str_eq_nocase(str_of(said->zone), str_of(zone_name(asked->zone)))) {
        return NULL;
    }
    if (asked->zones == NULL || !zones_get(asked->zones, str_of(said->zone), &zone, NULL)) {
        said->fault = FAULT_ZONE;
    }
    return zone;
}

/* Nothing was blamed yet: then it is the zone, or else the day. */
static void blame(struct choice *c)
{
    bool zone = c->said.fault == FAULT_ZONES || c->said.fault == FAULT_ZONE;
    for (size_t i = 0; i < c->count && c->blame_to == 0; i++) {
        const struct phrase *p = &c->phrases[i];
        if (p->used && (zone ? p->kind == PHRASE_ZONE : p->kind == PHRASE_DAY)) {
            c->blame_from = p->from;
            c->blame_to = p->to;
        }
    }
}

/* What is to blame, as it was written: "next sprint". */
static struct str quoted(const struct tokens *t, const struct choice *c)
{
    if (c->blame_from >= c->blame_to || c->blame_to > t->count) {
        return STR("");
    }
    const char *from = t->at[c->blame_from].text.ptr;
    struct str last = t->at[c->blame_to - 1].text;
    return str_trim((struct str){from, (size_t)(last.ptr - from) + last.len});
}

static struct str with_quote(struct str quote, struct str reason, struct arena *arena)
{
    if (quote.len == 0 || quote.len > QUOTE_MAX) {
        return reason;
    }
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    buf_printf(&text, "\"" STR_FMT "\": " STR_FMT, STR_ARG(quote), STR_ARG(reason));
    return arena_str(arena, buf_view(&text));
}

static struct str rule_text(const struct rrule *rule, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(RRULE_TEXT_MAX);
    rrule_write(&text, rule);
    return arena_str(arena, buf_view(&text));
}

static struct str start_text(const struct when *start, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64);
    wall_write(&text, start->s);
    if (start->is_utc) {
        buf_char(&text, 'Z');
    }
    return arena_str(arena, buf_view(&text));
}

static void take(const struct resolved *from, struct arena *arena, struct english_read *out)
{
    out->kind = from->kind;
    if (from->kind == ENGLISH_REFUSED) {
        refuse(out, from->field, from->reason);
        return;
    }
    out->first_ms = from->first_ms;
    out->start = from->start;
    out->dtstart = start_text(&from->start, arena);
    if (from->kind == ENGLISH_RECURRING) {
        out->exdates = from->exdates;
        out->exdates_count = from->exdates_count;
        out->rule = from->rule;
        out->rrule = rule_text(&from->rule, arena);
    }
}

static bool is_readable(const struct english_asked *asked, struct english_read *out)
{
    if (asked->text.len > ENGLISH_TEXT_MAX) {
        refuse(out, "text", STR("the text is too long"));
    } else if (!str_is_utf8(asked->text)) {
        refuse(out, "text", STR("the text is not UTF-8"));
    } else if (memchr(asked->text.ptr == NULL ? "" : asked->text.ptr, 0, asked->text.len) != NULL) {
        refuse(out, "text", STR("the text has a NUL character in it"));
    } else {
        return true;
    }
    return false;
}

static void set_zone(struct resolver *to, const struct zone *zone)
{
    to->zone = zone;
    to->now_wall_s = zone_wall(zone, wall_div(to->now_ms, 1000));
    to->today = wall_div(to->now_wall_s, WALL_DAY_S);
}

void english_read(const struct english_asked *asked, struct arena *arena, struct english_read *out)
{
    SCOPED(zone_release_at) const struct zone *named = NULL;
    struct tokens tokens;
    struct choice choice;
    struct resolved resolved;
    struct resolver to = {.now_ms = asked->now_ms,
                          .min_lead_ms = asked->min_lead_ms,
                          .arena = arena,
                          .default_s = RESOLVE_DEFAULT_S};
    *out = (struct english_read){.kind = ENGLISH_REFUSED};
    if (!is_readable(asked, out)) {
        return;
    }
    if (!tokens_cut(asked->text, arena, &tokens)) {
        refuse(out, "text", STR("the text has too many words"));
        return;
    }
    choose(&tokens, arena, &choice);
    named = named_zone(asked, &choice);
    set_zone(&to, named != NULL ? named : asked->zone);
    title_read(&tokens, &choice, arena, out);
    resolve(&to, &choice.said, &resolved);
    if (resolved.kind == ENGLISH_REFUSED) {
        blame(&choice);
        resolved.reason = with_quote(quoted(&tokens, &choice), resolved.reason, arena);
    }
    take(&resolved, arena, out);
    if (out->kind != ENGLISH_REFUSED && named != NULL) {
        out->zone = arena_str(arena, str_of(choice.said.zone));
    }
}

size_t english_run_end(const struct english_word *words, size_t count, size_t from)
{
    size_t to = from + 1;
    while (to < count && words[to].role == words[from].role &&
           words[to].phrase == words[from].phrase) {
        to++;
    }
    return to;
}

struct str english_run_text(const struct english_word *words, size_t from, size_t to)
{
    const char *start = words[from].text.ptr;
    struct str last = words[to - 1].text;
    return (struct str){start, (size_t)(last.ptr + last.len - start)};
}

const char *english_category_name(enum english_category category)
{
    static const char *const names[] = {"REMINDER", "REPORT", "ANALYSIS", "OTHERS"};
    return names[category];
}

const char *english_role_name(enum english_role role)
{
    static const char *const names[] = {
        [ENGLISH_TASK] = "the task",      [ENGLISH_POLITE] = "not needed",
        [ENGLISH_OFTEN] = "how often",    [ENGLISH_DAY] = "which day",
        [ENGLISH_TIME] = "what time",     [ENGLISH_START] = "from when",
        [ENGLISH_END] = "until when",     [ENGLISH_EXCEPT] = "what is left out",
        [ENGLISH_ZONE] = "the time zone", [ENGLISH_UNCLEAR] = "why it is refused"};
    return names[role];
}
