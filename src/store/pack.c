/* store/pack.c: fields of a task as one short run of bytes. See pack.h.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "store/pack.h"

#include "store/columns.h"

#define FIELD_MAX 20 /* bytes of a number's field, or of a text's number and length; an id's 17 */

#define VARINT_MAX 10

/* A row that keeps its length is changed where it lies; one that grows moves its neighbours, and a
 * start would split every page. So there is room from the beginning for what a start adds: times,
 * lease, token and the name of a worker. */
#define STANDING_LEAST 72

/* ---- In ---- */

/* How long a field can get beyond FIELD_MAX. */
#define LONG_NAME(member)     task->member.len
#define LONG_TEXT(member)     task->member.len
#define LONG_JSON(member)     task->member.len
#define LONG_BYTES(member)    task->member.len
#define LONG_TAGS(member)     tags_long(task)
#define LONG_ID(member)       0
#define LONG_TIME(member)     0
#define LONG_I64(member)      0
#define LONG_U64(member)      0
#define LONG_I32(member)      0
#define LONG_STATE(member)    0
#define LONG_PRIORITY(member) 0
#define LONG_OUTCOME(member)  0
#define LONG_F64(member)      0
#define LONG_AMOUNT(member)   0
#define LONG_BOOL(member)     0

static size_t tags_long(const struct task *task)
{
    size_t bytes = 0;
    for (size_t i = 0; i < task->tags_count; i++) {
        bytes += FIELD_MAX + task->tags[i].len;
    }
    return bytes;
}

static unsigned char *put_varint(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

static inline uint64_t fold(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline unsigned char *put_u64(unsigned char *at, uint64_t value)
{
    uint64_t turned = __builtin_bswap64(value); /* the most significant byte first */
    memcpy(at, &turned, sizeof turned);
    return at + sizeof turned;
}

static unsigned char *put_text(unsigned char *at, struct str text)
{
    at = put_varint(at, text.len);
    memcpy(at, text.ptr, text.len);
    return at + text.len;
}

static unsigned char *put_double(unsigned char *at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_varint(at, __builtin_bswap64(bits)); /* round numbers end in zeros */
}

static unsigned char *put_tags(unsigned char *at, const struct task *task)
{
    at = put_varint(at, task->tags_count);
    for (size_t i = 0; i < task->tags_count; i++) {
        at = put_text(at, task->tags[i]);
    }
    return at;
}

#define PUT_ID(member)       at = put_u64(put_u64(at, task->member.hi), task->member.lo)
#define PUT_NAME(member)     at = put_text(at, task->member)
#define PUT_TEXT(member)     at = put_text(at, task->member)
#define PUT_JSON(member)     at = put_text(at, task->member)
#define PUT_BYTES(member)    at = put_text(at, task->member)
#define PUT_TAGS(member)     at = put_tags(at, task)
#define PUT_TIME(member)     at = put_varint(at, fold(task->member))
#define PUT_I64(member)      at = put_varint(at, fold(task->member))
#define PUT_I32(member)      at = put_varint(at, fold(task->member))
#define PUT_STATE(member)    at = put_varint(at, fold((int64_t)task->member))
#define PUT_PRIORITY(member) at = put_varint(at, fold((int64_t)task->member))
#define PUT_OUTCOME(member)  at = put_varint(at, fold((int64_t)task->member))
#define PUT_U64(member)      at = put_u64(at, task->member)
#define PUT_F64(member)      at = put_double(at, task->member)
#define PUT_AMOUNT(member)   at = put_double(at, task->member)
#define PUT_BOOL(member)     (void)0

/* The callers' parts, fields and last number are constants: straight lines are left. */
ALWAYS_INLINE bool pack(struct buf *out, const struct task *task, unsigned parts, uint64_t fields,
                        enum packed last)
{
    size_t room = TASK_FIELDS * FIELD_MAX;
#define FIELD(part, kind, column, member, ...)                                                     \
    if ((PART_##part & parts) != 0 || (TASK_BIT(column) & fields) != 0) {                          \
        room += LONG_##kind(member);                                                               \
    }
#include "task/task.def"
    unsigned char *from = (unsigned char *)buf_room(out, room), *at = from;
    if (from == NULL) {
        return false;
    }
#define FIELD(part, kind, column, member, ...)                                                     \
    if (PACKED_##column <= last &&                                                                 \
        ((PART_##part & parts) != 0 || (TASK_BIT(column) & fields) != 0) &&                        \
        !BLANK_##kind(task, member)) {                                                             \
        *at++ = PACKED_##column;                                                                   \
        PUT_##kind(member);                                                                        \
    }
#include "task/task.def"
    buf_used(out, (size_t)(at - from));
    return true;
}

bool pack_order(struct buf *out, const struct task *task)
{
    return pack(out, task, PARTS_ORDER, 0, PACK_APART);
}

/* Says the same field again and again, in more bytes than it needs, up to `len`. */
static bool fill(struct buf *out, size_t len, const struct task *now)
{
    while (now->log_bytes == 0 && out->len + 2 <= len) {
        size_t n = MIN(len - out->len, 1 + VARINT_MAX);
        unsigned char *at = (unsigned char *)buf_room(out, n);
        if (at == NULL) {
            return false;
        }
        at[0] = PACKED_log_bytes;
        memset(at + 1, 0x80, n - 2);
        at[n - 1] = 0;
        buf_used(out, n);
    }
    return true;
}

bool pack_standing(struct buf *out, const struct task *order, const struct task *now)
{
    uint64_t repeated = TASK_BIT(expires_ms) | TASK_BIT(container) | TASK_BIT(continues) |
                        TASK_BIT(runs_anyway) | TASK_BIT(document) | TASK_BIT(parent) |
                        TASK_BIT(batch);
    if (!pack(out, order, 0, repeated, PACK_APART)) {
        return false;
    }
    size_t len = out->len + STANDING_LEAST;
    return pack(out, now, PARTS_STANDING, 0, PACK_APART) && fill(out, len, now);
}

bool pack_end(struct buf *out, const struct task *task)
{
    return pack(out, task, PARTS_STANDING, TASK_BIT(cancelled_ms), PACK_APART);
}

bool pack_rest(struct buf *out, const struct task *task)
{
    return pack(out, task, ~0u, 0, PACK_APART);
}

bool pack_live(struct buf *out, const struct task *task)
{
    return pack(out, task, ~(unsigned)PART_END, 0, PACKED_result);
}

bool pack_whole(struct buf *out, const struct task *task)
{
    return pack(out, task, ~0u, 0, PACKED_result);
}

/* ---- Out ---- */

struct run {
    const unsigned char *at, *end;
    bool bad;
};

static uint64_t get_varint(struct run *run)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && run->at < run->end; shift += 7) {
        unsigned char byte = *run->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    run->bad = true;
    return 0;
}

static inline int64_t get_i64(struct run *run)
{
    uint64_t value = get_varint(run);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static uint64_t get_u64(struct run *run)
{
    uint64_t turned = 0;
    if (run->end - run->at < (ptrdiff_t)sizeof turned) {
        run->bad = true;
        return 0;
    }
    memcpy(&turned, run->at, sizeof turned);
    run->at += sizeof turned;
    return __builtin_bswap64(turned);
}

static struct str get_text(struct run *run)
{
    uint64_t len = get_varint(run);
    if (run->bad || len > (uint64_t)(run->end - run->at)) {
        run->bad = true;
        return STR_NONE;
    }
    struct str text = {(const char *)run->at, (size_t)len};
    run->at += len;
    return text;
}

static double get_double(struct run *run)
{
    uint64_t bits = __builtin_bswap64(get_varint(run));
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void get_tags(struct run *run, struct task *task)
{
    uint64_t count = get_varint(run);
    run->bad = run->bad || count > TASK_TAGS_MAX;
    task->tags_count = 0;
    while (!run->bad && task->tags_count < count) {
        task->tags[task->tags_count++] = get_text(run);
    }
}

#define GET_ID(member)       task->member.hi = get_u64(&run), task->member.lo = get_u64(&run)
#define GET_NAME(member)     task->member = get_text(&run)
#define GET_TEXT(member)     task->member = get_text(&run)
#define GET_JSON(member)     task->member = get_text(&run)
#define GET_BYTES(member)    task->member = get_text(&run)
#define GET_TAGS(member)     get_tags(&run, task)
#define GET_TIME(member)     task->member = get_i64(&run)
#define GET_I64(member)      task->member = get_i64(&run)
#define GET_I32(member)      task->member = (int32_t)get_i64(&run)
#define GET_STATE(member)    task->member = (enum task_state)get_i64(&run)
#define GET_PRIORITY(member) task->member = (enum task_priority)get_i64(&run)
#define GET_OUTCOME(member)  task->member = (enum task_outcome)get_i64(&run)
#define GET_U64(member)      task->member = get_u64(&run)
#define GET_F64(member)      task->member = get_double(&run)
#define GET_AMOUNT(member)   task->member = get_double(&run)
#define GET_BOOL(member)     task->member = true

bool unpack(struct str bytes, struct task *task)
{
    struct run run = {.at = (const unsigned char *)bytes.ptr};
    run.end = run.at + bytes.len;
    while (run.at < run.end && !run.bad) {
        switch (*run.at++) {
#define FIELD(part, kind, column, member, ...)                                                     \
    case PACKED_##column:                                                                          \
        GET_##kind(member);                                                                        \
        break;
#include "task/task.def"
        default:
            return false;
        }
    }
    return !run.bad;
}

void unpack_begin(struct task *task)
{
    *task = (struct task){.progress = -1, .cost = TASK_COST_NONE};
}
