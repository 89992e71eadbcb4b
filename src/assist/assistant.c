/* assist/assistant.c: what a text means, by the built-in grammar. See assistant.h.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/assistant.h"

#include "assist/assistant_parts.h"

const char *assistant_mode_name(enum assistant_mode mode)
{
    static const char *const names[] = {[ASSISTANT_REFUSAL] = "REFUSAL",
                                        [ASSISTANT_CREATION] = "TASK_CREATION",
                                        [ASSISTANT_UPDATE] = "TASK_UPDATE"};
    return names[mode];
}

void assistant_refuse(struct assistant_said *out, const char *field, struct str reason)
{
    out->mode = ASSISTANT_REFUSAL;
    out->refusal = (struct english_refusal){.reason = reason};
    if (field[0] != '\0') {
        out->refusal.fields[out->refusal.fields_count++] = field;
    }
}

void assistant_offer(const struct assistant_asked *asked, struct arena *arena,
                     struct assistant_said *out)
{
    out->candidates = arena_array(arena, size_t, ASSISTANT_CANDIDATES_MAX);
    for (int pass = 0; pass < 2 && out->candidates_count == 0; pass++) {
        for (size_t i = 0; i < asked->count; i++) {
            bool near = pass == 1 ||
                        (!str_absent(asked->chat) && str_eq(asked->schedules[i].chat, asked->chat));
            if (near && out->candidates_count < ASSISTANT_CANDIDATES_MAX) {
                out->candidates[out->candidates_count++] = i;
            }
        }
    }
}

/* Who names no zone means the one that all their schedules have. */
struct str assistant_zone(const struct assistant_asked *asked)
{
    if (!str_absent(asked->timezone)) {
        return asked->timezone;
    }
    for (size_t i = 1; i < asked->count; i++) {
        if (!str_eq(asked->schedules[i].timezone, asked->schedules[0].timezone)) {
            return STR("UTC");
        }
    }
    return asked->count > 0 ? asked->schedules[0].timezone : STR("UTC");
}

bool assistant_check(const struct assistant_asked *asked, struct schedule *schedule,
                     struct arena *arena, struct err *err)
{
    SCOPED(plan_close) struct plan plan = {0};
    struct schedule planned;
    if (!schedule_check(schedule, arena, err) ||
        !schedule_settle(schedule, STR_NONE, asked->zones, asked->now_ms, arena, err)) {
        return false;
    }
    planned = *schedule;
    return plan_open(schedule, asked->zones, arena, &plan, err) &&
           plan_begin(&plan, &planned, &asked->limits, asked->now_ms, err);
}

void assistant_set(struct schedule_change *change, const char *name, struct str text)
{
    const struct form_row *row = form_find(&schedule_form, str_of(name));
    *(struct str *)((char *)&change->schedule + row->at) = text;
    change->given |= form_bit(&schedule_form, name);
}

/* ---- By the grammar: new ones ---- */

static struct form_texts exdates_of(const struct english_read *read, struct arena *arena)
{
    struct str *texts = arena_array(arena, struct str, read->exdates_count);
    for (size_t i = 0; i < read->exdates_count; i++) {
        SCOPED(buf_fini) struct buf text = BUF_INIT(64);
        wall_write(&text, read->exdates[i].s);
        texts[i] = arena_str(arena, buf_view(&text));
    }
    return (struct form_texts){texts, read->exdates_count};
}

static void create(const struct assistant_asked *asked, const struct zone *zone,
                   struct arena *arena, struct assistant_said *out)
{
    struct english_read read;
    struct err err = ERR_INIT;
    int category = SCHEDULE_OTHERS;
    english_read(&(struct english_asked){.text = asked->text,
                                         .now_ms = asked->now_ms,
                                         .zone = zone,
                                         .zones = asked->zones,
                                         .min_lead_ms = asked->limits.min_lead_ms},
                 arena, &read);
    out->words = read.words;
    out->words_count = read.words_count;
    if (read.kind == ENGLISH_REFUSED) {
        out->mode = ASSISTANT_REFUSAL;
        out->refusal = read.refusal;
        return;
    }
    (void)!form_word(schedule_categories, str_of(english_category_name(read.category)), &category);
    out->mode = ASSISTANT_CREATION;
    out->schedule = schedule_blank();
    out->schedule.title = read.title.len == 0 ? STR("Reminder") : read.title;
    out->schedule.purpose = read.purpose;
    out->schedule.category = (enum schedule_category)category;
    out->schedule.rrule = read.kind == ENGLISH_RECURRING ? read.rrule : STR_NONE;
    out->schedule.dtstart = read.dtstart;
    out->schedule.timezone =
        str_absent(read.zone) ? arena_str(arena, str_of(zone_name(zone))) : read.zone;
    out->schedule.exdates = exdates_of(&read, arena);
    if (!assistant_check(asked, &out->schedule, arena, &err)) {
        assistant_refuse(out, arena_c_text(arena, str_of(err.field)),
                         arena_str(arena, str_of(err.text)));
    }
}

/* ---- By the grammar: changes ---- */

/* Its coming time; one that is paused has none planned. */
static int64_t next_of(const struct assistant_asked *asked, const struct schedule *schedule,
                       struct arena *arena)
{
    SCOPED(plan_close) struct plan plan = {0};
    int64_t next_ms = schedule->next_ms;
    struct err ignored = ERR_INIT;
    if (next_ms == 0 && plan_open(schedule, asked->zones, arena, &plan, &ignored) &&
        !recur_next(plan.recur, asked->now_ms, &next_ms)) {
        next_ms = 0;
    }
    return next_ms;
}

static const struct edit_schedule *list(const struct assistant_asked *asked, struct arena *arena)
{
    struct edit_schedule *all = arena_array(arena, struct edit_schedule, asked->count);
    for (size_t i = 0; i < asked->count; i++) {
        const struct schedule *schedule = &asked->schedules[i];
        struct rrule *rule = arena_new(arena, struct rrule);
        struct err ignored = ERR_INIT;
        bool recurs = !str_absent(schedule->rrule) && rrule_parse(schedule->rrule, rule, &ignored);
        all[i] = (struct edit_schedule){.title = schedule->title,
                                        .rule = recurs ? rule : NULL,
                                        .next_ms = next_of(asked, schedule, arena),
                                        .chat_id = schedule->chat,
                                        .paused = schedule->status == SCHEDULE_PAUSED};
    }
    return all;
}

static struct assistant_edit edit_of(const struct edit_read *read, const struct edit_change *change,
                                     struct str zone)
{
    struct assistant_edit edit = {
        .which = change->which, .op = read->op, .until_ms = change->resume_ms};
    if (read->op == EDIT_RENAME) {
        assistant_set(&edit.change, "title", read->title);
    } else if (read->op == EDIT_RESCHEDULE) {
        assistant_set(&edit.change, "rrule", change->is_recurring ? change->rrule : STR_NONE);
        assistant_set(&edit.change, "dtstart", change->dtstart);
        assistant_set(&edit.change, "timezone", str_absent(change->zone) ? zone : change->zone);
    } else if (read->op == EDIT_SKIP || read->op == EDIT_SKIP_NEXT) {
        edit.change.skips_ms = change->skips_ms;
        edit.change.skips_count = change->skips_count;
    }
    return edit;
}

/* False: the sentence is no change. */
static bool change(const struct assistant_asked *asked, const struct zone *zone,
                   struct arena *arena, struct assistant_said *out)
{
    struct edit_read read;
    struct str name = arena_str(arena, str_of(zone_name(zone)));
    english_edit(&(struct edit_asked){.text = asked->text,
                                      .now_ms = asked->now_ms,
                                      .zone = zone,
                                      .zones = asked->zones,
                                      .min_lead_ms = asked->limits.min_lead_ms,
                                      .schedules = list(asked, arena),
                                      .count = asked->count,
                                      .chat_id = asked->chat},
                 arena, &read);
    if (read.op == EDIT_NONE) {
        return false;
    }
    if (read.op == EDIT_REFUSED) {
        out->mode = ASSISTANT_REFUSAL;
        out->refusal = read.refusal;
        out->candidates = read.candidates;
        out->candidates_count = MIN(read.candidates_count, (size_t)ASSISTANT_CANDIDATES_MAX);
        return true;
    }
    out->mode = ASSISTANT_UPDATE;
    out->edits = arena_array(arena, struct assistant_edit, read.count);
    out->edits_count = read.count;
    for (size_t i = 0; i < read.count; i++) {
        out->edits[i] = edit_of(&read, &read.changes[i], name);
    }
    return true;
}

void assistant_read(const struct assistant_asked *asked, struct arena *arena,
                    struct assistant_said *out)
{
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    struct err err = ERR_INIT;
    *out = (struct assistant_said){.mode = ASSISTANT_REFUSAL};
    if (!zones_get(asked->zones, assistant_zone(asked), &zone, &err)) {
        assistant_refuse(out, "timezone", arena_str(arena, str_of(err.text)));
    } else if (asked->only_new || !change(asked, zone, arena, out)) {
        create(asked, zone, arena, out);
    }
}
