/* wire/id.c: names for tasks: UUIDv7, ordered by creation. See id.h.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/id.h"

#define COUNTER_BITS 12
#define VERSION      (UINT64_C(7) << COUNTER_BITS)
#define VARIANT      (UINT64_C(2) << 62)

static uint64_t next_hi(uint64_t last, uint64_t fresh)
{
    if (fresh > last) {
        return fresh;
    }
    /* Same millisecond, or the clock went back: count on, and carry into the next millisecond. */
    uint64_t counter = (last & 0xFFF) + 1, ms = last >> 16;
    return counter <= 0xFFF ? last + 1 : (ms + 1) << 16 | VERSION;
}

uint64_t id_first_hi(int64_t real_wall_ms)
{
    return (uint64_t)real_wall_ms << 16 | VERSION;
}

struct task_id id_make(struct id_maker *maker, int64_t real_wall_ms)
{
    maker->last_hi = next_hi(maker->last_hi, id_first_hi(real_wall_ms));
    return (struct task_id){maker->last_hi, VARIANT | rand_u64(maker->rand) >> 2};
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool is_hyphen_place(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

bool id_parse(struct str text, struct task_id *out)
{
    uint64_t halves[2] = {0, 0};
    if (text.len != TASK_ID_TEXT - 1) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        int value = hex_value(text.ptr[i]);
        if (is_hyphen_place(i) ? text.ptr[i] != '-' : value < 0) {
            return false;
        }
        if (value >= 0) {
            uint64_t *half = &halves[i < 18 ? 0 : 1];
            *half = *half << 4 | (uint64_t)value;
        }
    }
    *out = (struct task_id){halves[0], halves[1]};
    return !id_none(*out);
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
