/* net/faktory_unique.h: unique jobs, see faktory_unique.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_FAKTORY_UNIQUE_H
#define ERRAND_NET_FAKTORY_UNIQUE_H

#include "net/faktory_parts.h"

/* Creates the order unless another of the same type, queue and arguments holds its lock: then the
 * op's failure is ERR_CONFLICT. The op is called back like after any command. */
void unique_give(struct faktory_op *op, const struct faktory_job *job, struct order *order);

#endif
