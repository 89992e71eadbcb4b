/* store/postgres/args.c: values in and out of PostgreSQL's binary format. See args.h.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/args.h"

#include <endian.h>

#define ARG_BYTES_MAX (512 * MIB) /* the server takes at most 1 GiB for one value */
#define ARRAY_HEAD    20          /* dimensions, has-nulls, element type, length, lower bound */
#define ARRAY_EMPTY   12          /* without the last two */
#define ELEMENT_NULL  UINT32_MAX
#define UUID_BYTES    16

void args_init(struct args *args, bool rows)
{
    *args = (struct args){.rows = rows};
}

void args_fini(struct args *args)
{
    for (int i = 0; i < ARGS_MAX; i++) {
        buf_fini(&args->at[i].bytes);
    }
}

void args_clear(struct args *args)
{
    for (int i = 0; i < args->count; i++) {
        buf_clear(&args->at[i].bytes);
        args->at[i].null = args->at[i].list = false;
    }
    args->same = false;
    args->count = args->next = 0;
    args->rows_count = 0;
}

static void put_u32(struct buf *buf, uint32_t value)
{
    uint32_t big = htobe32(value);
    buf_add(buf, &big, sizeof big);
}

/* The next parameter, with the length of its next element written if it is an array. */
static struct buf *put(struct args *args, unsigned type, size_t len)
{
    struct arg *arg = &args->at[args->next++];
    if (args->next > args->count) {
        args->count = args->next;
        arg->bytes.max = ARG_BYTES_MAX;
        arg->type = type;
        arg->rows = args->rows && !args->same;
        if (arg->rows) {
            static const char head[ARRAY_HEAD];
            buf_add(&arg->bytes, head, ARRAY_HEAD);
        }
    }
    if (arg->rows) {
        put_u32(&arg->bytes, (uint32_t)len);
    }
    return &arg->bytes;
}

static void put_null(struct args *args, unsigned type)
{
    put(args, type, ELEMENT_NULL);
    args->at[args->next - 1].null = true;
}

void arg_int(struct args *args, int64_t value)
{
    uint64_t big = htobe64((uint64_t)value);
    buf_add(put(args, PG_INT8, sizeof big), &big, sizeof big);
}

void arg_optional_int(struct args *args, int64_t value, bool given)
{
    if (given) {
        arg_int(args, value);
    } else {
        put_null(args, PG_INT8);
    }
}

void arg_small(struct args *args, int32_t value)
{
    put_u32(put(args, PG_INT4, sizeof value), (uint32_t)value);
}

void arg_xid(struct args *args, uint32_t value)
{
    put_u32(put(args, PG_XID, sizeof value), value);
}

void arg_bool(struct args *args, bool value)
{
    buf_char(put(args, PG_BOOL, 1), value);
}

void arg_real(struct args *args, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = htobe64(bits);
    buf_add(put(args, PG_REAL, sizeof bits), &bits, sizeof bits);
}

void arg_optional(struct args *args, double value)
{
    if (value < 0) {
        put_null(args, PG_REAL);
    } else {
        arg_real(args, value);
    }
}

static void put_str(struct args *args, unsigned type, struct str text)
{
    if (str_absent(text)) {
        put_null(args, type);
    } else {
        buf_str(put(args, type, text.len), text);
    }
}

void arg_bytes(struct args *args, struct str bytes)
{
    put_str(args, PG_BYTEA, bytes);
}

void arg_text(struct args *args, struct str text)
{
    put_str(args, PG_TEXT, text);
}

void arg_id(struct args *args, struct task_id id)
{
    if (id_none(id)) {
        put_null(args, PG_UUID);
        return;
    }
    uint64_t halves[] = {htobe64(id.hi), htobe64(id.lo)};
    buf_add(put(args, PG_UUID, UUID_BYTES), halves, sizeof halves);
}

/* The head of a value that is itself an array of n elements. */
static struct buf *put_list(struct args *args, unsigned type, size_t n)
{
    struct buf *bytes = put(args, type, 0);
    uint32_t head[] = {htobe32(n > 0), 0, htobe32(type), htobe32((uint32_t)n), htobe32(1)};
    args->at[args->next - 1].list = true;
    buf_add(bytes, head, n > 0 ? ARRAY_HEAD : ARRAY_EMPTY);
    return bytes;
}

void arg_ids(struct args *args, const struct task_id *ids, size_t n)
{
    struct buf *bytes = put_list(args, PG_UUID, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t halves[] = {htobe64(ids[i].hi), htobe64(ids[i].lo)};
        put_u32(bytes, UUID_BYTES);
        buf_add(bytes, halves, sizeof halves);
    }
}

void arg_texts(struct args *args, const struct str *texts, size_t n)
{
    struct buf *bytes = put_list(args, PG_TEXT, n);
    args->at[args->next - 1].null = texts == NULL;
    for (size_t i = 0; i < n; i++) {
        put_u32(bytes, (uint32_t)texts[i].len);
        buf_str(bytes, texts[i]);
    }
}

bool args_same(struct args *args)
{
    args->same = true;
    return args->rows_count == 0;
}

void args_row_end(struct args *args)
{
    args->next = 0;
    args->same = false;
    args->rows_count++;
}

static unsigned array_of(unsigned type)
{
    switch (type) {
    case PG_BOOL:
        return 1000;
    case PG_BYTEA:
        return 1001;
    case PG_INT8:
        return 1016;
    case PG_INT4:
        return 1007;
    case PG_TEXT:
        return 1009;
    case PG_XID:
        return 1011;
    case PG_REAL:
        return 1022;
    default:
        return 2951;
    }
}

static void write_head(struct arg *arg, size_t rows)
{
    uint32_t head[] = {htobe32(1), htobe32(arg->null), htobe32(arg->type), htobe32((uint32_t)rows),
                       htobe32(1)};
    memcpy(arg->bytes.ptr, head, ARRAY_HEAD);
}

bool args_view(struct args *args, struct args_view *out)
{
    for (int i = 0; i < args->count; i++) {
        struct arg *arg = &args->at[i];
        if (arg->bytes.full) {
            return false;
        }
        if (arg->rows) {
            write_head(arg, args->rows_count);
        }
        bool none = !arg->rows && arg->null;
        out->types[i] = arg->rows || arg->list ? array_of(arg->type) : arg->type;
        out->values[i] = none ? NULL : buf_view(&arg->bytes).ptr;
        out->lengths[i] = (int)arg->bytes.len;
        out->formats[i] = 1;
    }
    return true;
}

bool get_null(const PGresult *rows, size_t row, int column)
{
    return PQgetisnull(rows, (int)row, column) != 0;
}

int64_t get_int(const PGresult *rows, size_t row, int column)
{
    const char *value = PQgetvalue(rows, (int)row, column);
    if (PQgetlength(rows, (int)row, column) == 4) {
        uint32_t big;
        memcpy(&big, value, sizeof big);
        return (int32_t)be32toh(big);
    }
    if (PQgetlength(rows, (int)row, column) == 8) {
        uint64_t big;
        memcpy(&big, value, sizeof big);
        return (int64_t)be64toh(big);
    }
    return 0;
}

bool get_bool(const PGresult *rows, size_t row, int column)
{
    return !get_null(rows, row, column) && PQgetvalue(rows, (int)row, column)[0] != 0;
}

double get_real(const PGresult *rows, size_t row, int column)
{
    int64_t bits = get_int(rows, row, column);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double get_optional(const PGresult *rows, size_t row, int column)
{
    return get_null(rows, row, column) ? -1 : get_real(rows, row, column);
}

struct str get_str(const PGresult *rows, size_t row, int column)
{
    if (get_null(rows, row, column)) {
        return STR_NONE;
    }
    return (struct str){PQgetvalue(rows, (int)row, column),
                        (size_t)PQgetlength(rows, (int)row, column)};
}

struct task_id get_id(const PGresult *rows, size_t row, int column)
{
    uint64_t halves[2] = {0, 0};
    if (PQgetlength(rows, (int)row, column) == UUID_BYTES) {
        memcpy(halves, PQgetvalue(rows, (int)row, column), sizeof halves);
    }
    return (struct task_id){be64toh(halves[0]), be64toh(halves[1])};
}

size_t get_count(const PGresult *rows)
{
    return (size_t)PQntuples(rows);
}

void get_ids(const PGresult *rows, struct arena *arena, struct task_id **ids, size_t *count)
{
    *count = get_count(rows);
    *ids = arena_array(arena, struct task_id, *count);
    for (size_t i = 0; i < *count; i++) {
        (*ids)[i] = get_id(rows, i, 0);
    }
}

size_t get_numbers(const PGresult *rows, size_t row, int column, int32_t *out, size_t room)
{
    struct str bytes = get_str(rows, row, column);
    size_t n = bytes.len < ARRAY_HEAD ? 0 : (bytes.len - ARRAY_HEAD) / (2 * sizeof(uint32_t));
    for (size_t i = 0; i < MIN(n, room); i++) {
        uint32_t big; /* behind its length */
        memcpy(&big, bytes.ptr + ARRAY_HEAD + i * 2 * sizeof big + sizeof big, sizeof big);
        out[i] = (int32_t)be32toh(big);
    }
    return MIN(n, room);
}
