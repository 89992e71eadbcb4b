/* work/minder.h: the process beside a command that sees to its end. See starter.h.
 *
 * The two sides speak over a SOCK_SEQPACKET socket. The server sends a signal's number, one byte,
 * for the command's group; the minder sends `struct minder_word`s: STARTED, REFUSED or SHORT first,
 * ENDED or LEFT last.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_MINDER_H
#define ERRAND_WORK_MINDER_H

#include "work/spawn.h"

#define MINDER_SETTLE_MS 1000 /* for what a command left behind to be gone, once it was killed */
#define MINDER_SWEEP_MS  20   /* between two looks for more of it */

enum minder_said {
    MINDER_STARTED,
    MINDER_REFUSED, /* value: errno */
    MINDER_SHORT,   /* likewise */
    MINDER_ENDED,   /* value: of waitpid(); nothing that the command started is left */
    MINDER_LEFT,    /* likewise, but something is: the kernel does not let it go */
};

struct minder_word {
    int32_t said;
    int32_t value;
};

/* ---- The server's side; `control` is what starter_spawn() gave ---- */

void minder_signal(int control, int number); /* to the command's group, if it is still there */
/* The next word, if there is one: false otherwise. A minder that is gone without its last word is
 * an ENDED command that was killed; or, if it was not `started`, one that there was no room for. */
bool minder_hear(int control, bool started, struct minder_word *out);

/* ---- The minder's side ---- */

/* `server` is a pidfd that becomes readable when the server has died; -1: there is none. */
_Noreturn void minder_run(struct spawn *options, int control, int server);

#endif
