/* store/postgres/args.h: what goes into a statement, and what comes out of it, in the binary
 * format.
 *
 * A statement takes plain values, or rows of values: then each parameter is an array, one element a
 * row, for unnest() to take apart again. The same arg_…() calls fill both; a row ends with
 * args_row_end(). What is the same for all rows is a plain value behind the arrays, given with the
 * first row (args_same). Nothing is quoted and nothing is parsed.
 *
 * Thread: whoever owns the struct.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_ARGS_H
#define ERRAND_STORE_POSTGRES_ARGS_H

#include <libpq-fe.h>

#include "base/arena.h"
#include "base/buf.h"
#include "task/task.h"

#define ARGS_MAX 72

/* The numbers that PostgreSQL itself has for its types; they never change. */
enum pg_type {
    PG_BOOL = 16,
    PG_BYTEA = 17,
    PG_INT8 = 20,
    PG_INT4 = 23,
    PG_TEXT = 25,
    PG_XID = 28,
    PG_REAL = 701
};
#define PG_UUID 2950

struct arg {
    unsigned type;    /* of a value, or of an array's elements */
    struct buf bytes; /* in an array: behind room for its head */
    bool null;        /* a plain value: there is none; an array: it has such elements */
    bool list;        /* a plain value that is itself an array, complete */
    bool rows;        /* an array, one element a row */
};

struct args {
    bool rows; /* a parameter is an array, unless it is the same for all */
    bool same; /* what comes now is */
    int count, next;
    size_t rows_count;
    struct arg at[ARGS_MAX];
};

void args_init(struct args *args, bool rows);
void args_fini(struct args *args);
void args_clear(struct args *args); /* as new, memory kept */

void arg_int(struct args *args, int64_t value);
void arg_optional_int(struct args *args, int64_t value, bool given); /* else NULL */
void arg_small(struct args *args, int32_t value);
void arg_xid(struct args *args, uint32_t value);
void arg_bool(struct args *args, bool value);
void arg_real(struct args *args, double value);
void arg_optional(struct args *args, double value);  /* negative: NULL */
void arg_bytes(struct args *args, struct str bytes); /* absent: NULL */
void arg_text(struct args *args, struct str text);   /* well-formed UTF-8 without NUL */
void arg_id(struct args *args, struct task_id id);   /* TASK_ID_NONE: NULL */
/* One value that is itself a list; not in rows. */
void arg_ids(struct args *args, const struct task_id *ids, size_t n);
void arg_texts(struct args *args, const struct str *texts, size_t n); /* NULL: NULL */
/* Whether the rest of the row is still to be given: it is the same for all rows, so the first has
 * brought it. */
bool args_same(struct args *args);
void args_row_end(struct args *args);

/* As libpq wants them. Borrowed until the args change. False: too big. */
struct args_view {
    Oid types[ARGS_MAX];
    const char *values[ARGS_MAX];
    int lengths[ARGS_MAX], formats[ARGS_MAX];
};
bool args_view(struct args *args, struct args_view *out);

/* Columns of a result. NULL is 0, false, TASK_ID_NONE, an absent text or a negative number. */
int64_t get_int(const PGresult *rows, size_t row, int column);
bool get_bool(const PGresult *rows, size_t row, int column);
double get_real(const PGresult *rows, size_t row, int column);
double get_optional(const PGresult *rows, size_t row, int column);
struct str get_str(const PGresult *rows, size_t row, int column); /* borrowed from the result */
struct task_id get_id(const PGresult *rows, size_t row, int column);
bool get_null(const PGresult *rows, size_t row, int column);
size_t get_count(const PGresult *rows);
/* The elements of an array of small numbers, into `out`, which has room for `room`; how many. */
size_t get_numbers(const PGresult *rows, size_t row, int column, int32_t *out, size_t room);
/* The first column of each row. */
void get_ids(const PGresult *rows, struct arena *arena, struct task_id **ids, size_t *count);

#endif
