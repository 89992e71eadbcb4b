/* cli/human.h: numbers and times as people read them, and tables on a terminal.
 *
 * What comes from a server is not ours: control characters in it never reach the terminal.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_HUMAN_H
#define ERRAND_CLI_HUMAN_H

#include "base/arena.h"
#include "base/buf.h"

/* How to write on standard output. */
struct paper {
    bool terminal;     /* relative times, redrawing */
    bool colour;       /* a terminal, and NO_COLOR is not set */
    int width, height; /* columns, rows */
    int64_t now_ms;
};
struct paper paper_stdout(void);

void human_span(struct buf *buf, int64_t ms); /* "12ms", "3.4s", "5m 12s", "3d 4h" */
void human_when(struct buf *buf, const struct paper *paper, struct str time);  /* "3m ago" */
void human_exact(struct buf *buf, const struct paper *paper, struct str time); /* and "(3m ago)" */
/* A number by what its name ends with: Ms is a span, PerSecond a rate, At and now a time. */
void human_value(struct buf *buf, const struct paper *paper, struct str name, struct str value);
void human_bytes(struct buf *buf, int64_t bytes);   /* "12 MiB" */
void human_clean(struct buf *buf, struct str text); /* control characters become '?' */
size_t human_width(struct str text);                /* characters, not bytes */

/* The machine's time zone by its name: TZ, /etc/timezone, where /etc/localtime leads; else UTC. */
#define HUMAN_ZONE_MAX 64
struct str human_zone(char out[static HUMAN_ZONE_MAX]);

/* Colours that a word stands for: states, outcomes, ok, warn, FAIL. "" when there is none. */
const char *human_colour(const struct paper *paper, struct str word);
const char *human_plain(const struct paper *paper); /* ends a colour */

/* ---- Tables ---- */

#define TABLE_COLUMNS_MAX 16

struct table {
    size_t columns;
    struct arena *arena;
    struct str *cells; /* row by row */
    size_t count, room;
    bool spare[TABLE_COLUMNS_MAX]; /* columns that a narrow terminal can do without */
};

/* The heads end with NULL. */
void table_init(struct table *table, const char *const *heads, struct arena *arena);
void table_fini(struct table *table);
void table_add(struct table *table, struct str cell); /* the next cell; absent shows as "-" */
/* No line is wider than a terminal, as far as that can be: ids are shortened, columns that say
 * nothing are left out, then those to spare, then the widest are cut. The first names its row and
 * stays. */
void table_print(const struct table *table, const struct paper *paper);

#endif
