/* queue/decide.c: the table of commands: what each needs loaded, and who decides it.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/engine.h"

static const struct {
    void (*prepare)(struct batch *, struct command *); /* NULL: needs nothing known in advance */
    void (*decide)(struct batch *, struct command *);
} table[COMMAND_KINDS] = {
    [COMMAND_CREATE] = {NULL, on_create},
    [COMMAND_CLAIM] = {prepare_claim, on_claim},
    [COMMAND_CLAIM_STOP] = {NULL, on_claim_stop},
    [COMMAND_HEARTBEAT] = {prepare_heartbeat, on_heartbeat},
    [COMMAND_FINISH] = {prepare_finish, on_finish},
    [COMMAND_CANCEL] = {prepare_one, on_cancel},
    [COMMAND_REVIVE] = {prepare_one, on_revive},
    [COMMAND_CHANGE] = {prepare_one, on_change},
    [COMMAND_REMOVE] = {prepare_one, on_remove},
    [COMMAND_BULK] = {NULL, on_bulk},
    [COMMAND_RETURNED] = {NULL, on_returned},
    [COMMAND_GUEST] = {NULL, on_guest},
    [COMMAND_REVIEW] = {prepare_review, on_review},
    [COMMAND_HEARD] = {NULL, on_heard},
    [COMMAND_LEAD] = {NULL, on_lead},
    [COMMAND_DOUBT] = {NULL, on_doubt},
    [COMMAND_ELSEWHERE] = {NULL, on_elsewhere},
    [COMMAND_RESUME] = {NULL, on_resume},
    [COMMAND_QUEUE] = {NULL, on_queue},
    [COMMAND_QUEUES] = {NULL, on_queues},
    [COMMAND_WHY] = {NULL, on_why},
    [COMMAND_DOCUMENT] = {NULL, on_document},
    [COMMAND_DOCUMENTS] = {NULL, on_documents},
    [COMMAND_WORKERS] = {NULL, on_workers},
    [COMMAND_WORKER] = {NULL, on_worker},
    [COMMAND_STATS] = {NULL, on_stats},
    [COMMAND_CLOCK] = {NULL, on_clock},
    [COMMAND_WAKE] = {NULL, on_wake},
    [COMMAND_WAKE_STOP] = {NULL, on_wake_stop},
    [COMMAND_DRAIN] = {NULL, on_drain},
};

void decide_prepare(struct batch *batch, struct command *command)
{
    command->err = ERR_INIT;
    if (table[command->kind].prepare != NULL) {
        table[command->kind].prepare(batch, command);
    }
}

void decide(struct batch *batch, struct command *command)
{
    table[command->kind].decide(batch, command);
}
