/* bench/time_rules.c: how long rules and sentences take, one a line on standard input.
 *
 *     time_rules next STEPS < LINES     start, zone, rule, after, separated by tabs
 *     time_rules english STEPS < LINES  now, zone, sentence
 *
 * A line out: nanoseconds to make it ready (a rule: from its text), nanoseconds for each of STEPS
 * answers. A rule's steps go from occurrence to occurrence. Counted is the CPU time of this
 * program, and of three turns the best: what a busy neighbour takes away is not the rule's.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "english/english.h"
#include "wire/time.h"

#define LINE_BYTES 8192
#define TURNS      3

struct took {
    int64_t ready_ns, each_ns;
};

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void refuse(const char *what, const struct err *err)
{
    fprintf(stderr, "time_rules: %s: %s\n", what, err->text);
    exit(1);
}

static const struct zone *find_zone(struct zones *zones, struct str name)
{
    const struct zone *zone = NULL;
    struct err err = ERR_INIT;
    if (!zones_get(zones, name.len == 0 ? STR("UTC") : name, &zone, &err)) {
        refuse("zone", &err);
    }
    return zone;
}

static void walk(const struct recur *recur, int64_t after_ms, long steps)
{
    int64_t at_ms = after_ms;
    for (long i = 0; i < steps; i++) {
        if (!recur_next(recur, at_ms, &at_ms)) {
            at_ms = after_ms;
        }
    }
}

static struct took time_rule(struct zones *zones, struct str line, long steps)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    struct err err = ERR_INIT;
    struct when start, after;
    struct str start_text = str_cut(&line, '\t');
    SCOPED(zone_release_at) const struct zone *zone = find_zone(zones, str_cut(&line, '\t'));
    struct str rule_text = str_cut(&line, '\t');
    if (!when_parse(start_text, &start, &err) || !when_parse(line, &after, &err)) {
        refuse("time", &err);
    }
    int64_t begun = cpu_ns();
    struct rrule rule;
    const struct recur_order order = {.start = start, .rule = &rule, .zone = zone};
    if (!rrule_parse(rule_text, &rule, &err) || !recur_new(&order, &recur, &err)) {
        refuse("rule", &err);
    }
    int64_t ready = cpu_ns();
    walk(recur, after.s * 1000, steps);
    return (struct took){ready - begun, (cpu_ns() - ready) / steps};
}

static struct took time_sentence(struct zones *zones, struct str line, long steps)
{
    struct err err = ERR_INIT;
    struct english_asked asked = {0};
    if (!time_parse(str_cut(&line, '\t'), &asked.now_ms, &err)) {
        refuse("now", &err);
    }
    SCOPED(zone_release_at) const struct zone *zone = find_zone(zones, str_cut(&line, '\t'));
    asked.zone = zone;
    asked.text = line;
    int64_t begun = cpu_ns();
    for (long i = 0; i < steps; i++) {
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        struct english_read read;
        english_read(&asked, &arena, &read);
    }
    return (struct took){0, (cpu_ns() - begun) / steps};
}

typedef struct took time_fn(struct zones *zones, struct str line, long steps);

static void answer(time_fn *time_it, struct zones *zones, struct str line, long steps)
{
    struct took best = {INT64_MAX, INT64_MAX};
    for (int i = 0; i < TURNS; i++) {
        struct took took = time_it(zones, line, steps);
        best.ready_ns = MIN(best.ready_ns, took.ready_ns);
        best.each_ns = MIN(best.each_ns, took.each_ns);
    }
    printf("%lld %lld\n", (long long)best.ready_ns, (long long)best.each_ns);
}

int main(int argc, char **argv)
{
    char line[LINE_BYTES];
    bool english = argc == 3 && strcmp(argv[1], "english") == 0;
    long steps = argc == 3 ? atol(argv[2]) : 0;
    if (steps < 1 || (!english && strcmp(argv[1], "next") != 0)) {
        fprintf(stderr, "Usage: time_rules next|english STEPS < LINES\n");
        return 2;
    }
    struct zones *zones = zones_new(NULL);
    while (fgets(line, sizeof line, stdin) != NULL) {
        answer(english ? time_sentence : time_rule, zones, (struct str){line, strcspn(line, "\n")},
               steps);
    }
    zones_free(zones);
    return 0;
}
