/* tests/english/test_english_corpus.c: every row of a table of sentences is a test. Speaks TAP.
 *
 * A row is right when the kind and the first occurrence are, the first 60 occurrences of the rule
 * are those of the expected rule, each in its own zone and without its exceptions, and the title
 * contains what it should; and when the schedule said in English (summary.h) and read again gives
 * the same rule. `|` separates alternatives: each of them is right. The last line tells of each
 * class (the middle part of the id) how many are right and how many were scheduled wrongly, which
 * is worse than a refusal.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "english/english.h"
#include "english/summary.h"
#include "wire/time.h"

#define TABLE_MAX   MIB
#define OCCURRENCES 60
#define EXDATES_MAX 16
#define CLASSES_MAX 32

enum column { ID, NOW, ZONE, TEXT, KIND, RULE, FIRST, TITLE, NOTE, COLUMNS };

struct row {
    struct str field[COLUMNS];
    struct zones *zones;
    const struct zone *zone;
    int64_t now_ms;
    struct english_read read;
    struct buf why;
};

/* One of the answers that are right. */
struct answer {
    struct str kind, rule, exdates, first, zone;
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

/* The alternative of that number: each column lists them in the same order. */
static bool nth_answer(const struct row *row, size_t n, struct answer *out)
{
    struct str kind = row->field[KIND], rule = row->field[RULE], first = row->field[FIRST];
    *out = (struct answer){0};
    for (size_t i = 0; i <= n; i++) {
        if (i > 0 && kind.len == 0) {
            return false;
        }
        out->kind = str_cut(&kind, '|');
        out->rule = str_cut(&rule, '|');
        out->first = str_cut(&first, '|');
    }
    struct str rest = out->rule;
    const char *exdate = memmem(rest.ptr, rest.len, " EXDATE=", 8);
    if (exdate != NULL) {
        out->rule.len = (size_t)(exdate - rest.ptr);
        out->exdates = str_from(rest, out->rule.len + 8);
    }
    const char *bracket = memchr(out->first.ptr, '[', out->first.len);
    if (bracket != NULL) {
        size_t at = (size_t)(bracket - out->first.ptr);
        out->zone = (struct str){bracket + 1, out->first.len - at - 2};
        out->first.len = at;
    }
    return true;
}

static size_t expand(const struct row *row, struct recur_order *order, int64_t *out)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    return recur_new(order, &recur, NULL) ? recur_list(recur, row->now_ms, OCCURRENCES, out) : 0;
}

static size_t read_exdates(struct str list, struct when *out)
{
    size_t n = 0;
    while (list.len > 0 && n < EXDATES_MAX) {
        struct str one = str_cut(&list, ',');
        char text[] = "0000-00-00T00:00:00Z";
        static const size_t places[] = {0, 1, 2, 3, 5, 6, 8, 9, 10, 11, 12, 14, 15, 17, 18};
        int64_t ms = 0;
        for (size_t i = 0; i < MIN(one.len, ARRAY_LEN(places)); i++) {
            text[places[i]] = one.ptr[i];
        }
        (void)!time_parse(str_of(text), &ms, NULL);
        out[n++] = (struct when){.s = ms / 1000};
    }
    return n;
}

static const struct zone *zone_of(const struct row *row, struct str name)
{
    const struct zone *zone = NULL;
    if (name.len == 0 || !zones_get(row->zones, name, &zone, NULL)) {
        zone = zone_keep(row->zone);
    }
    return zone;
}

static bool same_occurrences(struct row *row, const struct answer *answer, int64_t first_ms)
{
    SCOPED(zone_release_at) const struct zone *want_zone = zone_of(row, answer->zone);
    SCOPED(zone_release_at) const struct zone *got_zone = zone_of(row, row->read.zone);
    struct rrule expected;
    struct when exdates[EXDATES_MAX];
    int64_t want[OCCURRENCES], got[OCCURRENCES];
    struct err err = ERR_INIT;
    if (!rrule_parse(answer->rule, &expected, &err)) {
        buf_printf(&row->why, "the expected rule: %s", err.text);
        return false;
    }
    bool same_zone = want_zone == got_zone;
    struct when utc = {.is_utc = true, .s = first_ms / 1000};
    struct recur_order wanted_order = {.start = same_zone ? row->read.start : utc,
                                       .rule = &expected,
                                       .zone = want_zone,
                                       .exdates = exdates,
                                       .exdates_count = read_exdates(answer->exdates, exdates)};
    struct recur_order given_order = {.start = row->read.start,
                                      .rule = &row->read.rule,
                                      .zone = got_zone,
                                      .exdates = row->read.exdates,
                                      .exdates_count = row->read.exdates_count};
    size_t wanted = expand(row, &wanted_order, want), given = expand(row, &given_order, got);
    if (wanted != given || memcmp(want, got, given * sizeof got[0]) != 0) {
        buf_printf(&row->why, "other occurrences (%zu, not %zu)", given, wanted);
        return false;
    }
    return true;
}

/* What is said of it in English gives it again. */
static bool comes_back(struct row *row, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    bool once = row->read.kind == ENGLISH_ONCE;
    SCOPED(zone_release_at) const struct zone *zone = zone_of(row, row->read.zone);
    struct english_asked asked = {.now_ms = row->now_ms, .zone = row->zone, .zones = row->zones};
    struct english_read again;
    summary_write(&text, &(struct recur_order){.start = row->read.start,
                                               .rule = once ? NULL : &row->read.rule,
                                               .zone = zone});
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

/* Is the schedule the one of the answer, whatever its title is? */
static bool is_scheduled_right(struct row *row, const struct answer *answer)
{
    struct english_read *read = &row->read;
    int64_t first_ms = 0;
    if (!str_is(answer->kind, kinds[read->kind])) {
        return false;
    }
    if (read->kind == ENGLISH_REFUSED) {
        return read->refusal.reason.len > 0 && read->refusal.fields_count > 0;
    }
    return time_parse(answer->first, &first_ms, NULL) && read->first_ms == first_ms &&
           (read->kind == ENGLISH_ONCE || same_occurrences(row, answer, first_ms));
}

static bool is_right(struct row *row, struct arena *arena, bool *scheduled_wrong)
{
    struct english_read *read = &row->read;
    struct answer answer;
    buf_printf(&row->why,
               "%s " STR_FMT " " STR_FMT " " STR_FMT " title \"" STR_FMT "\" " STR_FMT " ",
               kinds[read->kind], STR_ARG(read->rrule), STR_ARG(read->dtstart), STR_ARG(read->zone),
               STR_ARG(read->title), STR_ARG(read->refusal.reason));
    bool right = false;
    for (size_t n = 0; !right && nth_answer(row, n, &answer); n++) {
        right = is_scheduled_right(row, &answer);
    }
    *scheduled_wrong = !right && read->kind != ENGLISH_REFUSED;
    return right && (read->kind == ENGLISH_REFUSED ||
                     (contains(read->title, row->field[TITLE]) && comes_back(row, arena)));
}

/* ---- Each class ---- */

struct class
{
    struct str name;
    int rows, right, wrong;
};

struct classes {
    struct class at[CLASSES_MAX];
    size_t count;
};

static void count(struct classes *classes, struct str id, bool right, bool wrong)
{
    struct str rest = id;
    (void)str_cut(&rest, '-');
    struct str name = str_cut(&rest, '-');
    size_t i = 0;
    while (i < classes->count && !str_eq(classes->at[i].name, name)) {
        i++;
    }
    if (i < CLASSES_MAX) {
        classes->count = MAX(classes->count, i + 1);
        classes->at[i].name = name;
        classes->at[i].rows++;
        classes->at[i].right += right;
        classes->at[i].wrong += wrong;
    }
}

static bool prepare(struct row *row, struct str line)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        row->field[i] = str_cut(&line, '\t');
    }
    return zones_get(row->zones, row->field[ZONE], &row->zone, NULL) &&
           time_parse(row->field[NOW], &row->now_ms, NULL);
}

static bool run_row(struct zones *zones, struct classes *classes, int number, struct str line)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct row row = {.zones = zones, .why = BUF_INIT(64 * KIB)};
    bool wrong;
    if (!prepare(&row, line)) {
        printf("Bail out! row %d is not one\n", number);
        exit(1);
    }
    struct english_asked asked = {
        .text = row.field[TEXT], .now_ms = row.now_ms, .zone = row.zone, .zones = zones};
    english_read(&asked, &arena, &row.read);
    bool ok = is_right(&row, &arena, &wrong);
    count(classes, row.field[ID], ok, wrong);
    printf("%sok %d - " STR_FMT " " STR_FMT "\n", ok ? "" : "not ", number, STR_ARG(row.field[ID]),
           STR_ARG(row.field[TEXT]));
    if (!ok) {
        printf("# want " STR_FMT " " STR_FMT " " STR_FMT " title \"" STR_FMT "\"\n# got%s %s\n",
               STR_ARG(row.field[KIND]), STR_ARG(row.field[RULE]), STR_ARG(row.field[FIRST]),
               STR_ARG(row.field[TITLE]), wrong ? " (silently wrong)" : "", buf_c_text(&row.why));
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
    struct classes classes = {.count = 0};
    int number = 0, failed = 0;
    fclose(file);
    (void)str_cut(&rest, '\n'); /* the names of the columns */
    while (rest.len > 0) {
        failed += !run_row(zones, &classes, ++number, str_cut(&rest, '\n'));
    }
    printf("1..%d\n", number);
    for (size_t i = 0; classes.count > 1 && i < classes.count; i++) {
        printf("# " STR_FMT ": %d of %d right, %d scheduled wrongly\n", STR_ARG(classes.at[i].name),
               classes.at[i].right, classes.at[i].rows, classes.at[i].wrong);
    }
    zones_free(zones);
    free(bytes);
    return failed > 0;
}
