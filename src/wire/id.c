/* wire/id.c: names for tasks: UUIDv7, ordered by creation. See id.h.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/id.h"

#define COUNTER_BITS 12
#define COUNTER_MAX  ((UINT64_C(1) << COUNTER_BITS) - 1)
#define SPREAD_MAX   (COUNTER_MAX / 2) /* the other half is left to count on in */
#define VERSION      (UINT64_C(7) << COUNTER_BITS)
#define VARIANT      (UINT64_C(2) << 62)

uint64_t id_first_hi(int64_t real_wall_ms)
{
    return (uint64_t)real_wall_ms << 16 | VERSION;
}

struct task_id id_make(struct id_maker *maker, int64_t real_wall_ms)
{
    uint64_t last = maker->last_hi, fresh = id_first_hi(real_wall_ms);
    /* Same millisecond, or the clock went back: count on, and carry into the next millisecond. */
    bool full = (last & COUNTER_MAX) == COUNTER_MAX;
    if (fresh > last && maker->spread) {
        fresh += rand_u64(maker->rand) & SPREAD_MAX;
    }
    maker->last_hi = fresh > last ? fresh : full ? ((last >> 16) + 1) << 16 | VERSION : last + 1;
    return (struct task_id){maker->last_hi, VARIANT | rand_u64(maker->rand) >> 2};
}

static bool is_hyphen_place(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

bool id_beginning(struct str text, struct task_id *first, struct task_id *last)
{
    *first = TASK_ID_NONE;
    *last = (struct task_id){UINT64_MAX, UINT64_MAX};
    unsigned digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        int value = str_hex(text.ptr[i]);
        if (i >= TASK_ID_TEXT - 1 || (is_hyphen_place(i) ? text.ptr[i] != '-' : value < 0)) {
            return false;
        }
        if (value >= 0) {
            unsigned shift = 60 - 4 * (digits & 15);
            uint64_t mask = UINT64_C(15) << shift, bits = (uint64_t)value << shift;
            uint64_t *low = digits < 16 ? &first->hi : &first->lo;
            uint64_t *high = digits < 16 ? &last->hi : &last->lo;
            *low |= bits;
            *high = (*high & ~mask) | bits;
            digits++;
        }
    }
    return digits > 0;
}

/* So many hex digits behind what was read so far; `bad` where one of them is none. */
static inline uint64_t take_hex(const char *text, unsigned count, uint64_t value, bool *bad)
{
    for (unsigned i = 0; i < count; i++) {
        int digit = str_hex(text[i]);
        *bad = *bad || digit < 0;
        value = value << 4 | ((uint64_t)digit & 15);
    }
    return value;
}

bool id_parse(struct str text, struct task_id *out)
{
    if (text.len != TASK_ID_TEXT - 1) {
        return false;
    }
    const char *p = text.ptr;
    bool bad = p[8] != '-' || p[13] != '-' || p[18] != '-' || p[23] != '-';
    uint64_t hi = take_hex(p + 14, 4, take_hex(p + 9, 4, take_hex(p, 8, 0, &bad), &bad), &bad);
    uint64_t lo = take_hex(p + 24, 12, take_hex(p + 19, 4, 0, &bad), &bad);
    *out = (struct task_id){hi, lo};
    return !bad && !id_none(*out);
}

struct str id_text(struct task_id id, char out[static TASK_ID_TEXT])
{
    char hi[HEX_U64], lo[HEX_U64];
    str_put_hex(hi, id.hi);
    str_put_hex(lo, id.lo);
    memcpy(out, hi, 8);
    out[8] = '-';
    memcpy(out + 9, hi + 8, 4);
    out[13] = '-';
    memcpy(out + 14, hi + 12, 4);
    out[18] = '-';
    memcpy(out + 19, lo, 4);
    out[23] = '-';
    memcpy(out + 24, lo + 4, 12);
    out[TASK_ID_TEXT - 1] = '\0';
    return (struct str){out, TASK_ID_TEXT - 1};
}
