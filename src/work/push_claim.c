/* work/push_claim.c: asks the engine for as many tasks as there is room for.
 *
 * One claim is with the engine at a time. It asks for the types of the hosts that have room, and
 * for no more tasks than the fullest of them has room for, so that no answer can overfill a host.
 * A host that takes its last places thus makes one small claim; from then on it is left out, and
 * the others' claims are large again.
 *
 * Thread: the pushes'. Keeps: G4 (one line for all types that can be pushed now), G8.
 *
 * SPDX-License-Identifier: MIT */
#include "work/push_parts.h"

#define CLAIM_PAUSE_MS 200 /* before a claim that was refused is tried again */

/* Tasks run under the first name. A claim that leaves out full hosts is made under the second:
 * what the first one asked for last is what this server pushes, and a task of a full host waits
 * for a busy worker, not for one that nobody has seen. */
static const struct str runner = {"errand:push:1", 13}, chooser = {"errand:push:2", 13};

static size_t room(const struct push *push, const struct push_host *host)
{
    return push->per_host - host->under_way;
}

/* How many tasks may be asked for, of all hosts that have room. */
static size_t most(const struct push *push)
{
    size_t free_places = push->concurrency - push->under_way;
    size_t max = MIN(free_places, CLAIM_MAX);
    bool any = false;
    for (size_t i = 0; i < push->hosts_count; i++) {
        if (room(push, &push->hosts[i]) > 0) {
            max = MIN(max, room(push, &push->hosts[i]));
            any = true;
        }
    }
    return any ? max : 0;
}

static size_t list_types(struct push *push, struct str *types)
{
    size_t count = 0;
    for (size_t i = 0; i < push->hosts_count; i++) {
        push->hosts[i].asked_for = room(push, &push->hosts[i]) > 0;
    }
    for (size_t i = 0; i < push->targets_count; i++) {
        if (push->targets[i].host->asked_for) {
            types[count++] = push->targets[i].type;
        }
    }
    return count;
}

static struct str *runners(struct push *push)
{
    struct str *names = arena_array(&push->claim_arena, struct str, push->targets_count);
    for (size_t i = 0; i < push->targets_count; i++) {
        names[i] = runner;
    }
    return names;
}

static void ask(struct push *push, size_t max)
{
    arena_clear(&push->claim_arena);
    struct str *types = arena_array(&push->claim_arena, struct str, push->targets_count);
    size_t count = list_types(push, types);
    push->claiming = CLAIM_ASKED;
    push->claim = (struct command){
        .kind = COMMAND_CLAIM,
        .arena = &push->claim_arena,
        .sender = push,
        .claim = {.worker = count == push->targets_count ? runner : chooser,
                  .workers = runners(push),
                  .types = types,
                  .types_count = count,
                  .queues = push->queues,
                  .queues_count = push->queues_count,
                  .any_queue = push->queues_count == 0,
                  .max = max,
                  .wait = true,
                  .serial = push->serial++},
    };
    desk_put(&push->desk, &push->claim);
}

/* A host has room again that the waiting claim does not ask for. */
static bool asks_for_too_few(const struct push *push)
{
    for (size_t i = 0; i < push->hosts_count; i++) {
        if (!push->hosts[i].asked_for && room(push, &push->hosts[i]) > 0) {
            return true;
        }
    }
    return false;
}

void push_claim_stop(struct push *push)
{
    if (push->claiming == CLAIM_PAUSED) {
        push->claiming = CLAIM_NONE;
    }
    if (push->claiming != CLAIM_ASKED || push->stop.sender != NULL) {
        return;
    }
    push->stop = (struct command){.kind = COMMAND_CLAIM_STOP,
                                  .arena = &push->arena,
                                  .sender = push,
                                  .claim_stop = {.serial = push->claim.claim.serial}};
    desk_put(&push->desk, &push->stop);
}

/* A claim that is with the engine already is withdrawn. */
void push_claim_pause(struct push *push, int64_t pause_ms)
{
    push->claim_again_ms = push->now_ms + pause_ms;
    if (push->claiming == CLAIM_NONE) {
        push->claiming = CLAIM_PAUSED;
    } else if (push->claiming == CLAIM_ASKED) {
        push_claim_stop(push);
    }
}

void push_claim_update(struct push *push)
{
    if (push->claiming == CLAIM_PAUSED && push->now_ms >= push->claim_again_ms) {
        push->claiming = CLAIM_NONE;
    }
    if (push->quiet || (push->claiming == CLAIM_ASKED && asks_for_too_few(push))) {
        push_claim_stop(push);
        return;
    }
    size_t max = push->claiming == CLAIM_NONE ? most(push) : 0;
    if (max > 0) {
        ask(push, max);
    }
}

void push_claim_answered(struct push *push, struct command *claim)
{
    push->claiming = push->now_ms < push->claim_again_ms ? CLAIM_PAUSED : CLAIM_NONE;
    if (claim->err.kind != ERR_NONE) {
        push->claiming = CLAIM_PAUSED;
        push->claim_again_ms = push->now_ms + CLAIM_PAUSE_MS;
        return;
    }
    for (size_t i = 0; i < claim->claim.count; i++) {
        push_request_start(push, &claim->claim.tasks[i]);
    }
}

int64_t push_claim_tick(struct push *push)
{
    return push->claiming == CLAIM_PAUSED ? MAX(push->claim_again_ms - push->now_ms, 0) : -1;
}
