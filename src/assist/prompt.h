/* assist/prompt.h: what runs of schedules do unless they are told otherwise: `prompt` asks the
 * language model, `remind` says the title and the purpose again.
 *
 * Both are services (queue/service.h) and take what the planner gives a run: {"purpose","title",
 * "messages","timezone","scheduledFor"}; a task of a client may say "prompt" instead of "purpose",
 * and name a "model". The result is a JSON string.
 *
 * Thread: a worker's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ASSIST_PROMPT_H
#define ERRAND_ASSIST_PROMPT_H

#include "client/llm.h"
#include "queue/service.h"

#define PROMPT_ANSWER_MAX (480 * KIB) /* its JSON string fits into a result even if it doubles */

/* `arg` is the const struct llm_options to ask with. */
void prompt_run(void *arg, const struct service_call *call, struct service_end *end);
void remind_run(void *arg, const struct service_call *call, struct service_end *end);

#endif
