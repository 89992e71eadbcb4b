/* tests/time/occurrences.c: the occurrences of each recurrence on stdin, for differential.py.
 *
 * A line in: start, zone, rule, after, n, separated by tabs; see expand.h. A line out: the
 * occurrences. What was listed is also counted and searched from behind, and a line that does not
 * agree with itself says so.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "expand.h"

#define LINE_MAX_LEN 8192
#define CHECK_MAX    64

/* recur_count() and recur_last() against the list they should agree with. */
static bool agrees(struct zones *zones, const struct expand *of)
{
    SCOPED(recur_free_at) struct recur *r = NULL;
    int64_t ms[CHECK_MAX], last;
    if (!expand_new(zones, of, &r, NULL)) {
        return true;
    }
    size_t count = recur_list(r, INT64_MIN, MIN(of->n, (size_t)CHECK_MAX), ms);
    for (size_t i = 0; i < count; i++) {
        if (recur_count(r, INT64_MIN, ms[i]) != i + 1 ||
            recur_count(r, ms[0], ms[i] - 1) != (i > 0 ? i - 1 : 0) ||
            !recur_last(r, INT64_MIN, ms[i] + 999, &last) || last != ms[i]) {
            return false;
        }
    }
    return true;
}

static void answer(struct zones *zones, struct str line)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    struct expand of = {0};
    of.start = str_cut(&line, '\t');
    of.zone = str_cut(&line, '\t');
    of.rule = str_cut(&line, '\t');
    of.after = str_cut(&line, '\t');
    of.n = 0;
    if (!str_u64(str_cut(&line, '\t'), &of.n)) {
        buf_c(&out, "MALFORMED");
    } else if (!agrees(zones, &of)) {
        buf_c(&out, "MISCOUNTED");
    } else {
        expand_list(zones, &of, &out);
    }
    puts(buf_c_text(&out));
}

int main(void)
{
    char line[LINE_MAX_LEN];
    struct zones *zones = zones_new(NULL);
    while (fgets(line, sizeof line, stdin) != NULL) {
        answer(zones, (struct str){line, strcspn(line, "\n")});
    }
    zones_free(zones);
    return 0;
}
