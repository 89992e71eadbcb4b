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

bool id_parse(struct str text, struct task_id *out)
{
    struct task_id last;
    return text.len == TASK_ID_TEXT - 1 && id_beginning(text, out, &last) && !id_none(*out);
}

struct str id_text(struct task_id id, char out[static TASK_ID_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;
    for (int nibble = 0; nibble < 32; nibble++) {
        uint64_t half = nibble < 16 ? id.hi : id.lo;
        if (is_hyphen_place(at)) {
            out[at++] = '-';
        }
        out[at++] = digits[half >> (60 - 4 * (nibble & 15)) & 15];
    }
    out[at] = '\0';
    return (struct str){out, at};
}
