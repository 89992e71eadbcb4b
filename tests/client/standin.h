/* tests/client/standin.h: a program of tests/standin that plays a server of others'.
 *
 * It is told what to do, and asked what came, through its control port; see control.py. Nothing
 * sleeps: it says when it is ready, and ends when we let go of its standard input.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_CLIENT_STANDIN_H
#define ERRAND_TESTS_CLIENT_STANDIN_H

#include <sys/types.h>

#include "base/arena.h"
#include "client/http.h"

#define STANDIN_LINE_MAX 1024
#define STANDIN_ARGS_MAX 12

struct standin {
    pid_t pid;
    int in, out;                 /* its standard input, which keeps it alive; its standard output */
    char line[STANDIN_LINE_MAX]; /* what it said when it was ready */
    struct client *control;
    struct arena arena; /* of what it was asked */
};

/* Starts `script` of tests/standin with the arguments, NULL behind the last, and waits until it is
 * ready. */
void standin_open(struct standin *s, const char *script, const char *const *args);
void standin_close(struct standin *s);

/* The word of the ready line that stands behind `name`: standin_word(s, "on") is its URL. */
struct str standin_word(struct standin *s, const char *name);

void standin_script(struct standin *s, const char *json); /* an array of entries, added */
void standin_release(struct standin *s);                  /* what is held goes on */

/* What came, as a JSON array, once there are at least `count`. */
struct str standin_book(struct standin *s, size_t count);

/* A member of one entry of the book, raw; `path` as "body.messages". STR_NONE: it is not there. */
struct str standin_entry(struct standin *s, size_t number, const char *path);
struct str standin_entry_text(struct standin *s, size_t number, const char *path); /* decoded */

#endif
