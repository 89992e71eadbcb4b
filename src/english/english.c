/* english/english.c: reads a sentence as an order. See english.h.
 *
 * SPDX-License-Identifier: MIT */
#include "english/english.h"

#include "english/phrase.h"

static void refuse(struct english_read *out, const char *field, struct str reason)
{
    out->kind = ENGLISH_REFUSED;
    out->refusal = (struct english_refusal){{field, NULL}, 1, reason};
}

/* A zone in the sentence must be the one that was given. */
static void check_zone(const struct english_asked *asked, const struct tokens *t, struct choice *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct phrase *p = &c->phrases[i];
        if (p->used && p->kind == PHRASE_ZONE && c->said.fault == FAULT_NONE &&
            !str_eq_nocase(t->at[p->from].text, str_of(zone_name(asked->zone)))) {
            c->said.fault = FAULT_ZONE;
        }
    }
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

void english_read(const struct english_asked *asked, struct arena *arena, struct english_read *out)
{
    struct tokens tokens;
    struct choice choice;
    struct resolved resolved;
    struct resolver to = {.now_ms = asked->now_ms,
                          .now_wall_s = zone_wall(asked->zone, wall_div(asked->now_ms, 1000)),
                          .zone = asked->zone,
                          .min_lead_ms = asked->min_lead_ms,
                          .arena = arena,
                          .default_s = RESOLVE_DEFAULT_S};
    to.today = wall_div(to.now_wall_s, WALL_DAY_S);
    *out = (struct english_read){.kind = ENGLISH_REFUSED};
    if (!is_readable(asked, out)) {
        return;
    }
    if (!tokens_cut(asked->text, arena, &tokens)) {
        refuse(out, "text", STR("the text has too many words"));
        return;
    }
    choose(&tokens, arena, &choice);
    check_zone(asked, &tokens, &choice);
    title_read(&tokens, &choice, arena, out);
    resolve(&to, &choice.said, &resolved);
    take(&resolved, arena, out);
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
