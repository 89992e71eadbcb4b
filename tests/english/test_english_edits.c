/* tests/english/test_english_edits.c: every row of a table of edits is a test. Speaks TAP.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "english/edit.h"
#include "wire/json.h"
#include "wire/time.h"

#define TABLE_MAX   MIB
#define TASKS_MAX   32
#define OCCURRENCES 60

enum column { ID, NOW, ZONE, TASKS, TEXT, OP, TARGET, RULE, NEXT, NOTE, COLUMNS };

struct row {
    struct str field[COLUMNS];
    struct str ids[TASKS_MAX];
    struct rrule rules[TASKS_MAX];
    struct edit_schedule tasks[TASKS_MAX];
    size_t count;
    struct zones *zones;
    const struct zone *zone;
    int64_t now_ms;
    struct edit_read read;
};

static void bail(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(1);
}

static void read_task(struct row *row, struct str object, struct arena *arena)
{
    struct edit_schedule *task = &row->tasks[row->count];
    struct str rule = json_find_str(object, "rrule", arena);
    struct str next = json_find_str(object, str_absent(rule) ? "at" : "next", arena);
    row->ids[row->count] = json_find_str(object, "id", arena);
    task->title = json_find_str(object, "title", arena);
    task->paused = str_is(json_find_str(object, "state", arena), "paused");
    if (!time_parse(next, &task->next_ms, NULL)) {
        bail("a task has no time");
    }
    if (!str_absent(rule)) {
        if (!rrule_parse(rule, &row->rules[row->count], NULL)) {
            bail("a task has no rule");
        }
        task->rule = &row->rules[row->count];
    }
    row->count++;
}

static void prepare(struct row *row, struct zones *zones, struct str line, struct arena *arena)
{
    struct json json;
    struct str object;
    for (size_t i = 0; i < COLUMNS; i++) {
        row->field[i] = str_cut(&line, '\t');
    }
    if (!zones_get(zones, row->field[ZONE], &row->zone, NULL) ||
        !time_parse(row->field[NOW], &row->now_ms, NULL)) {
        bail("a row has no zone or time");
    }
    json_start(&json, row->field[TASKS], arena);
    if (!json_enter_array(&json, NULL)) {
        bail("a row has no tasks");
    }
    while (row->count < TASKS_MAX && json_item(&json, NULL) && json_raw(&json, &object, NULL)) {
        read_task(row, object, arena);
    }
}

static bool same_targets(const struct row *row)
{
    struct str rest = row->field[TARGET];
    size_t n = 0;
    while (!str_absent(rest)) {
        struct str id = str_trim(str_cut(&rest, ','));
        if (n >= row->read.count || !str_eq(id, row->ids[row->read.changes[n].which])) {
            return false;
        }
        n++;
    }
    return n == row->read.count;
}

static size_t expand(const struct row *row, const struct rrule *rule, const struct zone *zone,
                     int64_t *out)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    struct recur_order order = {.start = row->read.changes[0].start, .rule = rule, .zone = zone};
    return recur_new(&order, &recur, NULL) ? recur_list(recur, row->now_ms, OCCURRENCES, out) : 0;
}

/* " EXDATE=20261024T090000,…": the same times, in the same order. */
static bool same_exdates(const struct row *row, struct str list)
{
    const struct edit_change *change = &row->read.changes[0];
    for (size_t i = 0; i < change->skips_count; i++) {
        int64_t wall_s = zone_wall(row->zone, change->skips_ms[i] / 1000);
        SCOPED(buf_fini) struct buf text = BUF_INIT(64);
        wall_write(&text, wall_s);
        struct str want = str_cut(&list, ','), got = buf_view(&text);
        size_t n = 0;
        for (size_t k = 0; k < got.len; k++) {
            bool mark = got.ptr[k] == '-' || got.ptr[k] == ':';
            if (!mark && (n >= want.len || want.ptr[n++] != got.ptr[k])) {
                return false;
            }
        }
    }
    return list.len == 0;
}

static bool same_rule(const struct row *row)
{
    struct rrule expected;
    int64_t want[OCCURRENCES], got[OCCURRENCES];
    const struct edit_change *change = &row->read.changes[0];
    struct str rule = row->field[RULE];
    const char *exdate = memmem(rule.ptr, rule.len, " EXDATE=", 8);
    if (row->read.op == EDIT_SKIP) {
        return exdate != NULL && same_exdates(row, str_from(rule, (size_t)(exdate - rule.ptr) + 8));
    }
    if (rule.len == 0) {
        return row->read.op != EDIT_RESCHEDULE || !change->is_recurring;
    }
    if (!rrule_parse(rule, &expected, NULL)) {
        bail("an expected rule is none");
    }
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    if (str_absent(change->zone) || !zones_get(row->zones, change->zone, &zone, NULL)) {
        zone = zone_keep(row->zone);
    }
    size_t wanted = expand(row, &expected, zone, want);
    size_t given = expand(row, &change->rule, zone, got);
    return change->is_recurring && wanted == given && memcmp(want, got, given * sizeof got[0]) == 0;
}

/* The next time, and its zone when it is another: 2026-10-15T09:00:00+02:00[Europe/Berlin]. */
static bool same_next(const struct row *row)
{
    const struct edit_change *change = &row->read.changes[0];
    struct str next = row->field[NEXT];
    int64_t next_ms;
    const char *bracket = memchr(next.ptr, '[', next.len);
    if (bracket != NULL) {
        size_t at = (size_t)(bracket - next.ptr);
        struct str zone = {bracket + 1, next.len - at - 2};
        next.len = at;
        if (!str_eq(zone, change->zone)) {
            return false;
        }
    }
    return next.len == 0 || (time_parse(next, &next_ms, NULL) && next_ms == change->next_ms);
}

static bool is_right(const struct row *row)
{
    if (!str_is(row->field[OP], edit_op_name(row->read.op))) {
        return false;
    }
    if (row->read.op == EDIT_REFUSED) {
        return row->read.refusal.reason.len > 0;
    }
    if (row->read.op == EDIT_NONE) {
        return true;
    }
    return same_targets(row) && same_rule(row) && same_next(row) &&
           (row->read.op != EDIT_RENAME || str_eq_nocase(row->read.title, row->field[NOTE]));
}

static void tell(const struct row *row)
{
    const struct edit_read *read = &row->read;
    printf("# want " STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT "\n# got  %s",
           STR_ARG(row->field[OP]), STR_ARG(row->field[TARGET]), STR_ARG(row->field[RULE]),
           STR_ARG(row->field[NEXT]), STR_ARG(row->field[NOTE]), edit_op_name(read->op));
    for (size_t i = 0; i < read->count; i++) {
        char next[TIME_TEXT_LEN + 1];
        time_text(read->changes[i].next_ms, next);
        printf(" " STR_FMT " " STR_FMT " " STR_FMT " %s", STR_ARG(row->ids[read->changes[i].which]),
               STR_ARG(read->changes[i].rrule), STR_ARG(read->changes[i].dtstart), next);
    }
    printf(" " STR_FMT " " STR_FMT "\n", STR_ARG(read->title), STR_ARG(read->refusal.reason));
}

static bool run_row(struct zones *zones, int number, struct str line)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct row *row = arena_new(&arena, struct row);
    row->zones = zones;
    prepare(row, zones, line, &arena);
    struct edit_asked asked = {.text = row->field[TEXT],
                               .now_ms = row->now_ms,
                               .zone = row->zone,
                               .zones = zones,
                               .schedules = row->tasks,
                               .count = row->count};
    english_edit(&asked, &arena, &row->read);
    bool ok = is_right(row);
    printf("%sok %d - " STR_FMT " " STR_FMT "\n", ok ? "" : "not ", number, STR_ARG(row->field[ID]),
           STR_ARG(row->field[TEXT]));
    if (!ok) {
        tell(row);
    }
    zone_release(row->zone);
    return ok;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    char *bytes = malloc(TABLE_MAX);
    if (file == NULL || bytes == NULL) {
        printf("Bail out! usage: test_english_edits FILE\n");
        return 1;
    }
    struct str rest = {bytes, fread(bytes, 1, TABLE_MAX, file)};
    struct zones *zones = zones_new(ZONES);
    int number = 0, failed = 0;
    fclose(file);
    (void)str_cut(&rest, '\n'); /* the names of the columns */
    while (rest.len > 0) {
        failed += !run_row(zones, ++number, str_cut(&rest, '\n'));
    }
    printf("1..%d\n", number);
    zones_free(zones);
    free(bytes);
    return failed > 0;
}
