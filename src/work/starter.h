/* work/starter.h: processes that start commands for this one, and that end them should it die.
 *
 * A command must not outlive its server: the next attempt would meet it. No signal of the kernel
 * reaches more than the first process of a command, so two kinds of small processes stand between:
 *
 *     server ── starter ─┬─ minder ── command ── whatever it starts
 *                        └─ minder ── command ── …
 *
 * The starter is forked once, while the server is still small, and forks a minder for each command.
 * A minder (minder.h) is the subreaper of its command: nothing that the command starts can leave
 * it, whatever group, session or environment it takes. When the command ends, or the server, the
 * minder ends all that is left, and tells the server when nothing is.
 *
 * Both hold a lock in the data folder for as long as they live, so that the next server on it knows
 * when the commands of the last are gone. `errand work` uses the same processes, without the lock.
 *
 * Thread: one at a time.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_STARTER_H
#define ERRAND_WORK_STARTER_H

#include "base/err.h"
#include "work/spawn.h"

#define STARTER_LOCK         "errand.commands"
#define STARTER_WAIT_MS      (30 * SECOND_MS) /* for what the last server left, once it was killed */
#define STARTER_WAIT_STEP_MS 5

struct starter; /* opaque */

/* Call it before there are threads and before memory has grown: it forks. */
MUST_CHECK bool starter_open(struct starter **out, struct err *err);
void starter_close(struct starter *starter); /* NULL is welcome; commands still running end */

/* Waits until no command of an earlier server on this data folder is left, and takes the lock. A
 * process that the kernel does not let go is waited for STARTER_WAIT_MS: it was killed and
 * executes nothing more. Answers with the lock's descriptor, or -1: it cannot be had. */
int starter_lock(const char *folder);
void starter_keep(struct starter *starter, int lock); /* takes the descriptor */

/* Has a command started. *control speaks with its minder (minder.h), whose first word says what
 * came of it, and is the caller's; closing it ends the command and all that it started. False: it
 * was not even asked for, because something lacks here (errno), or it is too long (E2BIG). */
MUST_CHECK bool starter_spawn(struct starter *starter, const struct spawn *options, int *control);

#endif
