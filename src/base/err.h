/* base/err.h: one way to fail.
 *
 * A function that can fail returns bool and takes `struct err *err` last. err_set() and err_wrap()
 * return false, so failing is one line, and texts grow outward into a sentence:
 * "fail task 0192f3: its lease was lost". No heap; `err` may be NULL when nobody asks.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_ERR_H
#define ERRAND_BASE_ERR_H

#include "base/def.h"

/* What code decides by; the HTTP status and the "code" of an error follow from it (net/). */
enum err_kind {
    ERR_NONE,
    ERR_INVALID,   /* the caller's value is wrong; `field` names it */
    ERR_DENIED,    /* who are you? */
    ERR_FORBIDDEN, /* known, but not allowed */
    ERR_NOT_FOUND,
    ERR_METHOD,      /* known path, wrong verb */
    ERR_CONFLICT,    /* not in this state */
    ERR_LEASE_LOST,  /* the token is no longer the current one */
    ERR_TOO_LARGE,   /* too many bytes */
    ERR_MEDIA,       /* wrong Content-Type */
    ERR_REFUSED,     /* understood, but cannot be done as asked (422) */
    ERR_BUSY,        /* a limit is reached; try again later (429) */
    ERR_UNAVAILABLE, /* the store is away or full; try again later (503) */
    ERR_FATAL,       /* the store can no longer be trusted: the process must end */
    ERR_INTERNAL,    /* our own mistake */
};

struct err {
    enum err_kind kind;
    char field[64]; /* the request field at fault, or "" */
    char text[320];
    int64_t retry_after_ms; /* of BUSY and UNAVAILABLE: when it may go well; 0: soon */
};

#define ERR_INIT ((struct err){.kind = ERR_NONE})

/* All three return false. err_field() is ERR_INVALID with the field named. */
bool err_set(struct err *err, enum err_kind kind, const char *format, ...) PRINTF_LIKE(3, 4);
bool err_field(struct err *err, const char *field, const char *format, ...) PRINTF_LIKE(3, 4);
bool err_wrap(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3); /* "format…: old text" */

#endif
