/* store/columns.h: the parts of a task's table, to choose columns by.
 *
 * Whoever binds, reads or looks at columns includes task/task.def with FIELD() defined as one
 * statement a field, `if ((PART_##part & parts) != 0) { … }`, in an ALWAYS_INLINE function: its
 * callers name the parts as constants, and the compiler leaves straight lines. So a new row of
 * the table is bound, read and looked at without another line here. The order of the rows is that
 * of the column lists in statements (tools/embed_sql.py).
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_COLUMNS_H
#define ERRAND_STORE_COLUMNS_H

#include "task/task.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum task_part {
    PART_ORDER = 1,
    PART_RARE_ORDER = 2,
    PART_BODY = 4,
    PART_FRESH = 8,
    PART_STANDING = 16,
    PART_RARE_STANDING = 32,
    PART_END = 64,
};
#define PARTS_ORDER    (PART_ORDER | PART_RARE_ORDER)                    /* @order */
#define PARTS_STANDING (PART_FRESH | PART_STANDING | PART_RARE_STANDING) /* @standing */

#define BLANK_ID(task, member)       id_none((task)->member)
#define BLANK_NAME(task, member)     str_absent((task)->member)
#define BLANK_TEXT(task, member)     str_absent((task)->member)
#define BLANK_JSON(task, member)     str_absent((task)->member)
#define BLANK_BYTES(task, member)    str_absent((task)->member)
#define BLANK_TAGS(task, member)     ((task)->member##_count == 0)
#define BLANK_TIME(task, member)     ((task)->member == 0)
#define BLANK_I64(task, member)      ((task)->member == 0)
#define BLANK_U64(task, member)      ((task)->member == 0)
#define BLANK_I32(task, member)      ((task)->member == 0)
#define BLANK_STATE(task, member)    ((task)->member == 0)
#define BLANK_PRIORITY(task, member) ((task)->member == 0)
#define BLANK_OUTCOME(task, member)  ((task)->member == 0)
#define BLANK_F64(task, member)      ((task)->member == 0)
#define BLANK_AMOUNT(task, member)   ((task)->member < 0)
#define BLANK_BOOL(task, member)     (!(task)->member)

/* Is there nothing to say in any field of these parts? */
ALWAYS_INLINE bool task_is_blank(const struct task *task, unsigned parts)
{
#define FIELD(part, kind, column, member, ...)                                                     \
    if ((PART_##part & parts) != 0 && !BLANK_##kind(task, member)) {                               \
        return false;                                                                              \
    }
#include "task/task.def"
    return true;
}

#endif
