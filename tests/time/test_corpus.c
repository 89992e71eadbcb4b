/* tests/time/test_corpus.c: every row of corpora/rrule_cases.tsv is a test. Speaks TAP.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "expand.h"

#define FILE_MAX MIB
#define COLUMNS  11

enum column { ID, SOURCE, START, ZONE, RULE, EXPECTED, N, AFTER, EXDATE, RDATE, NOTE };

static void run_row(struct zones *zones, int number, struct str line)
{
    SCOPED(buf_fini) struct buf got = BUF_INIT(MIB);
    struct str field[COLUMNS] = {0};
    uint64_t n = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        field[i] = str_cut(&line, '\t');
    }
    if (!str_u64(field[N], &n)) {
        printf("Bail out! row " STR_FMT " has no number\n", STR_ARG(field[ID]));
        exit(1);
    }
    struct expand of = {.start = field[START],
                        .zone = field[ZONE],
                        .rule = field[RULE],
                        .after = field[AFTER],
                        .exdates = field[EXDATE],
                        .rdates = field[RDATE],
                        .n = n};
    expand_list(zones, &of, &got);
    struct str want = str_is(field[EXPECTED], "NONE") ? STR("") : field[EXPECTED];
    bool ok = str_eq(want, buf_view(&got));
    printf("%sok %d - " STR_FMT " " STR_FMT " " STR_FMT "\n", ok ? "" : "not ", number,
           STR_ARG(field[ID]), STR_ARG(field[SOURCE]), STR_ARG(field[RULE]));
    if (!ok) {
        printf("# want " STR_FMT "\n# got  " STR_FMT "\n", STR_ARG(want), STR_ARG(buf_view(&got)));
    }
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    char *bytes = malloc(FILE_MAX);
    if (file == NULL || bytes == NULL) {
        printf("Bail out! usage: test_corpus FILE\n");
        return 1;
    }
    struct str rest = {bytes, fread(bytes, 1, FILE_MAX, file)};
    struct zones *zones = zones_new(ZONES);
    int number = 0;
    fclose(file);
    (void)str_cut(&rest, '\n'); /* the names of the columns */
    while (rest.len > 0) {
        run_row(zones, ++number, str_cut(&rest, '\n'));
    }
    printf("1..%d\n", number);
    zones_free(zones);
    free(bytes);
    return 0;
}
