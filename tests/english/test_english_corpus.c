/* tests/english/test_english_corpus.c: every row of a table of sentences is a test. Speaks TAP.
 *
 * A row is right when the kind and the first occurrence are, the first 60 occurrences of the rule
 * are those of the expected rule, and the title contains what it should; and when the schedule said
 * in English (summary.h) and read again gives the same rule.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "english/english.h"
#include "english/summary.h"
#include "wire/time.h"

#define TABLE_MAX   MIB
#define OCCURRENCES 60

enum column { ID, NOW, ZONE, TEXT, KIND, RULE, FIRST, TITLE, NOTE, COLUMNS };

struct row {
    struct str field[COLUMNS];
    const struct zone *zone;
    int64_t now_ms, first_ms;
    struct english_read read;
    struct buf why;
};

static const char *const kinds[] = {"refuse", "once", "recurring"};

static bool contains(struct str text, struct str part)
{
    for (size_t i = 0; i + part.len <= text.len; i++) {
        if (str_eq_nocase((struct str){text.ptr + i, part.len}, part)) {
            return true;
        }
    }
    return false;
}

static size_t expand(const struct row *row, const struct rrule *rule, struct when start,
                     int64_t *out)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    struct recur_order order = {.start = start, .rule = rule, .zone = row->zone};
    return recur_new(&order, &recur, NULL) ? recur_list(recur, row->now_ms, OCCURRENCES, out) : 0;
}

static bool same_occurrences(struct row *row)
{
    struct rrule expected;
    int64_t want[OCCURRENCES], got[OCCURRENCES];
    struct err err = ERR_INIT;
    if (!rrule_parse(row->field[RULE], &expected, &err)) {
        buf_printf(&row->why, "the expected rule: %s", err.text);
        return false;
    }
    size_t wanted = expand(row, &expected, row->read.start, want);
    size_t given = expand(row, &row->read.rule, row->read.start, got);
    return wanted == given && memcmp(want, got, given * sizeof got[0]) == 0;
}

/* What is said of it in English gives it again. */
static bool comes_back(struct row *row, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    bool once = row->read.kind == ENGLISH_ONCE;
    struct english_asked asked = {.now_ms = row->now_ms, .zone = row->zone};
    struct english_read again;
    summary_write(&text, &(struct recur_order){.start = row->read.start,
                                               .rule = once ? NULL : &row->read.rule,
                                               .zone = row->zone});
    asked.text = buf_view(&text);
    english_read(&asked, arena, &again);
    bool same = again.kind == row->read.kind && str_eq(again.rrule, row->read.rrule) &&
                (!once || again.first_ms == row->read.first_ms);
    if (!same) {
        buf_printf(&row->why, "read again: \"" STR_FMT "\" gives %s " STR_FMT " " STR_FMT,
                   STR_ARG(buf_view(&text)), kinds[again.kind], STR_ARG(again.rrule),
                   STR_ARG(again.refusal.reason));
    }
    return same;
}

static bool is_right(struct row *row, struct arena *arena)
{
    struct english_read *read = &row->read;
    buf_printf(&row->why, "%s " STR_FMT " " STR_FMT " title \"" STR_FMT "\" " STR_FMT " ",
               kinds[read->kind], STR_ARG(read->rrule), STR_ARG(read->dtstart),
               STR_ARG(read->title), STR_ARG(read->refusal.reason));
    if (!str_is(row->field[KIND], kinds[read->kind])) {
        return false;
    }
    if (read->kind == ENGLISH_REFUSED) {
        return read->refusal.reason.len > 0 && read->refusal.fields_count > 0;
    }
    return read->first_ms == row->first_ms && contains(read->title, row->field[TITLE]) &&
           (read->kind == ENGLISH_ONCE || same_occurrences(row)) && comes_back(row, arena);
}

static bool prepare(struct row *row, struct zones *zones, struct str line)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        row->field[i] = str_cut(&line, '\t');
    }
    bool refused = row->field[FIRST].len == 0;
    return zones_get(zones, row->field[ZONE], &row->zone, NULL) &&
           time_parse(row->field[NOW], &row->now_ms, NULL) &&
           (refused || time_parse(row->field[FIRST], &row->first_ms, NULL));
}

static bool run_row(struct zones *zones, int number, struct str line)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct row row = {.why = BUF_INIT(64 * KIB)};
    if (!prepare(&row, zones, line)) {
        printf("Bail out! row %d is not one\n", number);
        exit(1);
    }
    struct english_asked asked = {.text = row.field[TEXT], .now_ms = row.now_ms, .zone = row.zone};
    english_read(&asked, &arena, &row.read);
    bool ok = is_right(&row, &arena);
    printf("%sok %d - " STR_FMT " " STR_FMT "\n", ok ? "" : "not ", number, STR_ARG(row.field[ID]),
           STR_ARG(row.field[TEXT]));
    if (!ok) {
        printf("# want " STR_FMT " " STR_FMT " " STR_FMT " title \"" STR_FMT "\"\n# got  %s\n",
               STR_ARG(row.field[KIND]), STR_ARG(row.field[RULE]), STR_ARG(row.field[FIRST]),
               STR_ARG(row.field[TITLE]), buf_c_text(&row.why));
    }
    buf_fini(&row.why);
    zone_release(row.zone);
    return ok;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    char *bytes = malloc(TABLE_MAX);
    if (file == NULL || bytes == NULL) {
        printf("Bail out! usage: test_english_corpus FILE\n");
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
