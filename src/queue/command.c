/* queue/command.c: the table of commands: who sends each, what it needs, who decides it, how it is
 * answered.
 *
 * Thread: the table is for any; deciding is the engine's.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/command.h"

#include <assert.h>

#include "queue/engine.h"

#define BY_API (BY_CLIENT | BY_OPERATOR)

/* clang-format off: one row for each command, read by columns */
static const struct command_row rows[COMMAND_KINDS] = {
    /*                       name          senders                  writes  answer            held
       until ...           prepare            decide */
    [COMMAND_CREATE] = {"create", BY_CLIENT | BY_GUEST, true, ANSWER_COMMITTED, NULL, NULL,
                        on_create},
    [COMMAND_CLAIM] = {"claim", BY_CLIENT | BY_WORKER, false, ANSWER_COMMITTED,
                       "a task, or its stop", prepare_claim, on_claim},
    [COMMAND_CLAIM_STOP] = {"claim_stop", BY_SERVER | BY_WORKER, false, ANSWER_COMMITTED, NULL,
                            NULL, on_claim_stop},
    [COMMAND_HEARTBEAT] = {"heartbeat", BY_CLIENT | BY_WORKER, true, ANSWER_COMMITTED, NULL,
                           prepare_heartbeat, on_heartbeat},
    [COMMAND_FINISH] = {"finish", BY_CLIENT | BY_WORKER, true, ANSWER_COMMITTED, NULL,
                        prepare_finish, on_finish},
    [COMMAND_CANCEL] = {"cancel", BY_CLIENT, true, ANSWER_COMMITTED, NULL, prepare_one, on_cancel},
    [COMMAND_REVIVE] = {"retry", BY_CLIENT, true, ANSWER_COMMITTED, NULL, prepare_one, on_revive},
    [COMMAND_CHANGE] = {"change", BY_CLIENT, true, ANSWER_COMMITTED, NULL, prepare_one, on_change},
    [COMMAND_REMOVE] = {"remove", BY_CLIENT, true, ANSWER_COMMITTED, NULL, prepare_one, on_remove},
    [COMMAND_BULK] = {"bulk", BY_API, true, ANSWER_COMMITTED, "its last chunk", NULL, on_bulk},
    [COMMAND_QUEUE] = {"queue", BY_OPERATOR, true, ANSWER_COMMITTED, NULL, NULL, on_queue},
    [COMMAND_GUEST] = {"guest", BY_SERVER | BY_WORKER, true, ANSWER_COMMITTED, NULL, NULL,
                       on_guest},
    [COMMAND_RETURNED] = {"returned", BY_WORKER, true, ANSWER_COMMITTED, NULL, NULL, on_returned},
    [COMMAND_REVIEW] = {"review", BY_FLEET, false, ANSWER_COMMITTED, NULL, prepare_review,
                        on_review},
    [COMMAND_HEARD] = {"heard", BY_FLEET, false, ANSWER_COMMITTED, NULL, NULL, on_heard},
    [COMMAND_LEAD] = {"lead", BY_FLEET, false, ANSWER_COMMITTED, NULL, NULL, on_lead},
    [COMMAND_DOUBT] = {"doubt", BY_FLEET, false, ANSWER_COMMITTED, NULL, NULL, on_doubt},
    [COMMAND_ELSEWHERE] = {"elsewhere", BY_FLEET, false, ANSWER_COMMITTED, NULL, NULL,
                           on_elsewhere},
    [COMMAND_RESUME] = {"resume", BY_FLEET, false, ANSWER_COMMITTED, NULL, NULL, on_resume},
    [COMMAND_QUEUES] = {"queues", BY_CLIENT, false, ANSWER_DECIDED, NULL, NULL, on_queues},
    [COMMAND_WHY] = {"why", BY_CLIENT, false, ANSWER_DECIDED, NULL, NULL, on_why},
    [COMMAND_DOCUMENT] = {"document", BY_CLIENT, false, ANSWER_DECIDED, NULL, NULL, on_document},
    [COMMAND_DOCUMENTS] = {"documents", BY_CLIENT, false, ANSWER_DECIDED, NULL, NULL, on_documents},
    [COMMAND_WORKERS] = {"workers", BY_CLIENT | BY_FLEET, false, ANSWER_DECIDED, NULL, NULL,
                         on_workers},
    [COMMAND_WORKER] = {"worker", BY_OPERATOR, false, ANSWER_DECIDED, NULL, NULL, on_worker},
    [COMMAND_STATS] = {"stats", BY_CLIENT, false, ANSWER_DECIDED, NULL, NULL, on_stats},
    [COMMAND_CLOCK] = {"clock", BY_OPERATOR, false, ANSWER_DECIDED, "the clock is there", NULL,
                       on_clock},
    [COMMAND_WAKE] = {"wake", BY_WORKER, false, ANSWER_DECIDED, "its time, or its stop", NULL,
                      on_wake},
    [COMMAND_WAKE_STOP] = {"wake_stop", BY_WORKER, false, ANSWER_DECIDED, NULL, NULL, on_wake_stop},
    [COMMAND_DRAIN] = {"drain", BY_SERVER, false, ANSWER_DECIDED, NULL, NULL, on_drain},
};
/* clang-format on */

const struct command_row *command_row(enum command_kind kind)
{
    assert(kind < COMMAND_KINDS);
    return &rows[kind];
}

bool command_is_from(const struct command *command, unsigned senders)
{
    return (command_row(command->kind)->senders & senders) != 0;
}

void decide_prepare(struct batch *batch, struct command *command)
{
    const struct command_row *row = command_row(command->kind);
    command->err = ERR_INIT;
    if (row->prepare != NULL) {
        row->prepare(batch, command);
    }
}

/* A command is answered, waits for the next batch, or is held by somebody who will answer it. */
void decide(struct batch *batch, struct command *command)
{
    const struct command_row *row = command_row(command->kind);
    row->decide(batch, command);
    assert(row->held != NULL || link_in_list(&command->link) || !batch_ok(batch));
}
