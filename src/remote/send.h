/* remote/send.h: what the keeper says to the server: heartbeats, finishes, spooled creates.
 *
 * Each call is made once. Without an answer the keeper's away_until_ms says when to try again, and
 * what was to be said is kept.
 *
 * Thread: the keeper's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_REMOTE_SEND_H
#define ERRAND_REMOTE_SEND_H

#include "remote/remote.h"

void send_beat(errand_job *job, int64_t now_ms);
void send_finishes(errand_client *client); /* a batch of them */
void send_spooled(errand_client *client);  /* likewise */

/* Tells the worker why to stop, once for each reason. */
void send_stop(errand_job *job, enum errand_stop why);

#endif
