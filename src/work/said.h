/* work/said.h: what commands say and how they end, put into the words of a task. Pure.
 *
 * The same for commands inside the server and for those of `errand work`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_SAID_H
#define ERRAND_WORK_SAID_H

#include "base/arena.h"
#include "base/buf.h"

#define SAID_LINE_MAX   (4 * KIB) /* of one line on descriptor 3 */
#define SAID_STDERR_MAX (4 * KIB) /* kept of standard error: the last lines */
#define SAID_FOR_GOOD   100       /* the exit status that means: do not try again */

/* ---- While it runs ---- */

enum said_word { SAID_NOTHING, SAID_PROGRESS, SAID_LOG };

/* One line of descriptor 3: "progress PERCENT [MESSAGE]" or "log TEXT"; others are SAID_NOTHING.
 * *text is what stands behind; it may be empty. */
enum said_word said_line(struct str line, double *percent, struct str *text);

/* Gives each line that `more` completes; `begun` holds the last one until it is. A line over the
 * ceiling of `begun` is cut; what follows of it is passed over. */
void said_lines(struct buf *begun, struct str more, void (*each)(void *arg, struct str line),
                void *arg);

/* Adds to what is kept of standard error; the oldest lines go. */
void said_keep(struct buf *kept, struct str more);

/* ---- When it has ended ---- */

struct said_end {
    int status, signal;   /* signal 0: it ended by itself */
    struct str last_said; /* the end of standard error */
};

/* "exit status 3: last line of standard error", and {"exitStatus":3,"stderr":"…"}; likewise for a
 * signal. A NUL stands behind both. */
struct str said_message(struct arena *arena, const struct said_end *end);
struct str said_detail(struct arena *arena, const struct said_end *end);

#endif
