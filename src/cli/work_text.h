/* cli/work_text.h: what commands say, put into the words of a task. Pure.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_WORK_TEXT_H
#define ERRAND_CLI_WORK_TEXT_H

#include "base/buf.h"

#define WORK_LINE_MAX   (4 * KIB) /* of a line on descriptor 3 */
#define WORK_STDERR_MAX (4 * KIB) /* kept of standard error: the last lines */

enum work_word { WORK_NOTHING, WORK_PROGRESS, WORK_LOG };

/* One line of descriptor 3: "progress PERCENT [MESSAGE]" or "log TEXT". Others are WORK_NOTHING.
 * *text is what is behind, cut to what may be said; it may be empty. */
enum work_word work_line_read(struct str line, double *percent, struct str *text);

/* Standard output as a result: JSON as it is, anything else as a JSON string. False: there is
 * nothing but blanks. */
bool work_result_write(struct buf *out, struct str text);

/* Adds to what is kept of standard error, half of the ceiling of `kept`; the oldest lines go. */
void work_stderr_add(struct buf *kept, struct str more);

/* "exit status 3: last line of standard error", and {"exitStatus":3,"stderr":"…"}. With `signal`
 * it was killed by that. */
struct work_end {
    int status, signal; /* signal 0: it ended by itself */
    struct str said;    /* the end of standard error */
};
void work_message_write(struct buf *out, const struct work_end *end);
void work_detail_write(struct buf *out, const struct work_end *end);

#endif
