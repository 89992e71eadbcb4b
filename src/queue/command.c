/* queue/command.c: the table of commands: who sends each, what it needs, who decides it, how it is
 * answered.
 *
 * Thread: the table is for any; deciding is the engine's.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/command.h"

#include <assert.h>

#include "queue/batch.h"
#include "queue/decide.h"

#define WRITES    true
#define ASKS      false
#define COMMITTED ANSWER_COMMITTED
#define DECIDED   ANSWER_DECIDED

/* One row for each kind, read by columns. */
/* clang-format off */
static const struct command_row rows[COMMAND_KINDS] = {
    [COMMAND_CREATE]     = {"create",     BY_CLIENT | BY_GUEST,  WRITES, COMMITTED, .decide = on_create},
    [COMMAND_CLAIM]      = {"claim",      BY_CLIENT | BY_WORKER, ASKS,   COMMITTED, .decide = on_claim, .prepare = prepare_claim,
                            .held = "there is a task, its time is over, or it is stopped"},
    [COMMAND_CLAIM_STOP] = {"claim_stop", BY_SERVER | BY_WORKER, ASKS,   COMMITTED, .decide = on_claim_stop},
    [COMMAND_HEARTBEAT]  = {"heartbeat",  BY_CLIENT | BY_WORKER, WRITES, COMMITTED, .decide = on_heartbeat, .prepare = prepare_heartbeat},
    [COMMAND_FINISH]     = {"finish",     BY_CLIENT | BY_SERVER | BY_WORKER, WRITES, COMMITTED, .decide = on_finish, .prepare = prepare_finish},
    [COMMAND_CANCEL]     = {"cancel",     BY_CLIENT,             WRITES, COMMITTED, .decide = on_cancel, .prepare = prepare_one},
    [COMMAND_REVIVE]     = {"retry",      BY_CLIENT,             WRITES, COMMITTED, .decide = on_revive, .prepare = prepare_one},
    [COMMAND_CHANGE]     = {"change",     BY_CLIENT,             WRITES, COMMITTED, .decide = on_change, .prepare = prepare_one},
    [COMMAND_KILL]       = {"kill",       BY_CLIENT,             WRITES, COMMITTED, .decide = on_kill, .prepare = prepare_one},
    [COMMAND_REMOVE]     = {"remove",     BY_CLIENT,             WRITES, COMMITTED, .decide = on_remove, .prepare = prepare_one},
    [COMMAND_BULK]       = {"bulk",       BY_CLIENT,             WRITES, COMMITTED, .decide = on_bulk, .held = "its last chunk is done"},
    [COMMAND_QUEUE]      = {"queue",      BY_OPERATOR,           WRITES, COMMITTED, .decide = on_queue},
    [COMMAND_GUEST]      = {"guest",      BY_SERVER | BY_WORKER, WRITES, COMMITTED, .decide = on_guest},
    [COMMAND_RETURNED]   = {"returned",   BY_WORKER,             WRITES, COMMITTED, .decide = on_returned},
    [COMMAND_REVIEW]     = {"review",     BY_FLEET,              ASKS,   COMMITTED, .decide = on_review, .prepare = prepare_review},
    [COMMAND_HEARD]      = {"heard",      BY_FLEET,              ASKS,   COMMITTED, .decide = on_heard},
    [COMMAND_LEAD]       = {"lead",       BY_FLEET,              ASKS,   COMMITTED, .decide = on_lead},
    [COMMAND_DOUBT]      = {"doubt",      BY_FLEET,              ASKS,   COMMITTED, .decide = on_doubt},
    [COMMAND_ELSEWHERE]  = {"elsewhere",  BY_FLEET,              ASKS,   COMMITTED, .decide = on_elsewhere},
    [COMMAND_RESUME]     = {"resume",     BY_FLEET,              ASKS,   COMMITTED, .decide = on_resume},
    [COMMAND_QUEUES]     = {"queues",     BY_CLIENT,             ASKS,   DECIDED,   .decide = on_queues},
    [COMMAND_WHY]        = {"why",        BY_CLIENT,             ASKS,   DECIDED,   .decide = on_why},
    [COMMAND_DOCUMENT]   = {"document",   BY_CLIENT,             ASKS,   DECIDED,   .decide = on_document},
    [COMMAND_DOCUMENTS]  = {"documents",  BY_CLIENT,             ASKS,   DECIDED,   .decide = on_documents},
    [COMMAND_RELEASE]    = {"release",    BY_OPERATOR | BY_FLEET, WRITES, COMMITTED, .decide = on_release},
    [COMMAND_WORKERS]    = {"workers",    BY_CLIENT | BY_FLEET,  ASKS,   DECIDED,   .decide = on_workers},
    [COMMAND_WORKER]     = {"worker",     BY_OPERATOR | BY_FLEET, ASKS,  DECIDED,   .decide = on_worker},
    [COMMAND_BEAT]       = {"beat",       BY_CLIENT | BY_SERVER, ASKS,   DECIDED,   .decide = on_beat},
    [COMMAND_STATS]      = {"stats",      BY_CLIENT,             ASKS,   DECIDED,   .decide = on_stats},
    [COMMAND_SERIES]     = {"series",     BY_CLIENT | BY_FLEET,  ASKS,   DECIDED,   .decide = on_series},
    [COMMAND_CLOCK]      = {"clock",      BY_OPERATOR,           ASKS,   DECIDED,   .decide = on_clock, .held = "the clock is there"},
    [COMMAND_WAKE]       = {"wake",       BY_WORKER,             ASKS,   DECIDED,   .decide = on_wake, .held = "its time has come, or it is stopped"},
    [COMMAND_WAKE_STOP]  = {"wake_stop",  BY_WORKER,             ASKS,   DECIDED,   .decide = on_wake_stop},
    [COMMAND_DRAIN]      = {"drain",      BY_SERVER,             ASKS,   DECIDED,   .decide = on_drain},
};
/* clang-format on */

const struct command_row *command_row(enum command_kind kind)
{
    assert(kind < COMMAND_KINDS);
    return &rows[kind];
}

const struct command_finish *command_ends(const struct command *command)
{
    bool claims = command->kind == COMMAND_CLAIM && command->claim.ending != ENDING_SAVED &&
                  command->claim.finish.count > 0;
    return command->kind == COMMAND_FINISH ? &command->finish
           : claims                        ? &command->claim.finish
                                           : NULL;
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
