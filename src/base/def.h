/* base/def.h: the few words of C that every other file uses.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_DEF_H
#define ERRAND_BASE_DEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller must look at the answer. */
#define MUST_CHECK __attribute__((warn_unused_result))

/* SCOPED(buf_fini) struct buf b = …; calls buf_fini(&b) when the scope is left, by whatever path.
 */
#define SCOPED(fini) __attribute__((cleanup(fini)))

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* The struct that holds `member` at `ptr`: how intrusive lists, maps and heaps find their owner. */
#define HOLDER(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#ifndef MIN /* <sys/param.h>, which uv.h brings along, has the same two */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

#define SECOND_MS ((int64_t)1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS   (60 * MINUTE_MS)
#define DAY_MS    (24 * HOUR_MS)

#endif
