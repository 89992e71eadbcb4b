/* queue/claim.c: hands queued tasks to workers, each under a lease.
 *
 * The broker proposes before the batch is loaded, the store decides when it is saved. A claim that
 * finds nothing may wait: it stands in the line of each queue it asked for, at no cost, until the
 * broker says that one of them has become ready. When a lease ends, janitor.c takes the task back.
 *
 * Thread: engine. Keeps: G2 (one live token per task), G3 through the broker's line and the store's
 * document lease, G4 (strict priority), and the queues' hard limits.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/claim.h"

#include "queue/decide.h"
#include "queue/engine.h"
#include "queue/kin.h"
#include "queue/publish.h"
#include "store/fleet.h"

/* A worker inside the server: it waits by right, and is not counted among the claims that do. */
static bool is_ours(const struct command_claim *claim)
{
    return task_worker_reserved(claim->worker);
}

/* In a fleet the workers inside a server bear its name, so that it knows its own. */
struct str claim_worker_name(const struct engine *engine, struct str worker, struct arena *arena)
{
    return engine->shared && task_worker_reserved(worker) && str_absent(task_worker_node(worker))
               ? arena_printf(arena, STR_FMT "@" STR_FMT, STR_ARG(worker),
                              STR_ARG(engine->with.node))
               : worker;
}

static int64_t real_ms(void)
{
    return clock_real_mono_us() / 1000;
}

void prepare_claim(struct batch *batch, struct command *command)
{
    struct engine *engine = batch->engine;
    struct command_claim *claim = &command->claim;
    claim->count = claim->proposal = 0;
    claim->tasks = NULL;
    if (command_ends(command) != NULL) {
        claim->ending = ENDING_OPEN;
        prepare_finish(batch, command);
    }
    if (claim->wait_ms > 0 && claim->deadline_real_ms == 0) { /* a second batch gives no new time */
        claim->deadline_real_ms = real_ms() + claim->wait_ms;
    }
    claim->worker = claim_worker_name(engine, claim->worker, command->arena);
    struct worker *worker = worker_seen(&engine->workers, claim->worker, batch->now);
    worker_asked(worker, claim->types, claim->types_count, claim->queues, claim->queues_count,
                 claim->any_queue);
    claim->signal = worker->signal;
    if (!engine->draining && worker->signal == SIGNAL_NONE) {
        size_t n = claim_propose(batch, command);
        batch->may_return = batch->may_return || (n > 0 && command_ends(command) != NULL);
    }
}

/* ---- Deciding ---- */

bool claim_start(struct batch *batch, struct item *item, struct command *command)
{
    const struct command_claim *claim = &command->claim;
    struct err refused;
    struct str worker = claim->worker;
    for (size_t i = 0; claim->workers != NULL && i < claim->types_count; i++) {
        if (str_eq(claim->types[i], item->now.type)) {
            worker = claim->workers[i];
            break;
        }
    }
    int64_t lease_ms = task_worker_reserved(worker) ? OWN_LEASE_MS
                       : claim->lease_of != NULL    ? claim->lease_of(&item->now)
                                                    : claim->lease_ms;
    struct task_claim lease = {.worker = claim_worker_name(batch->engine, worker, &batch->arena),
                               .lease_ms = lease_ms,
                               .token = rand_u64(batch->engine->with.rand) | 1};
    item->taken = true;
    if (!item->found || item->owner != NULL || item->now.container ||
        !task_start(&item->now, &lease, batch->now.wall_ms, &refused)) {
        return false; /* the hint was stale; publish.c lets its document go */
    }
    item->renewed = true;
    item->claim = command;
    batch_change(batch, item, claim);
    return true;
}

static void unstart(struct item *item)
{
    item->now = item->was;
    item->owner = NULL;
    item->claim = NULL;
    item->renewed = false;
}

/* The locks that other nodes see. A document that somebody else has locked is not touched, whatever
 * the rows say: its hint has been put in line. */
static void lock_documents(struct batch *batch, struct proposal *proposal)
{
    struct broker_lock *locks = arena_array(&batch->arena, struct broker_lock, proposal->count);
    size_t n = 0;
    for (size_t i = 0; i < proposal->count; i++) {
        struct item *item = batch_item(batch, proposal->hints[i].id);
        if (item == NULL || item->claim != proposal->claim ||
            str_absent(proposal->hints[i].document)) {
            continue;
        }
        char *text = arena_alloc(&batch->arena, LOCK_TEXT);
        locks[n++] = (struct broker_lock){.hint = &proposal->hints[i],
                                          .lock = publish_lock(&item->now, text)};
    }
    broker_lock(batch->engine->broker, locks, n);
    for (size_t i = 0; i < n; i++) {
        if (!locks[i].granted) {
            struct item *item = batch_item(batch, locks[i].hint->id);
            unstart(item);
            item->parked = true;
        }
    }
    proposal->locks = locks;
    proposal->locks_count = n;
}

/* What the store did not let start after all, found when it was saved: the claim goes without it.
 * False: others have drawn consequences from its start, all must be decided anew. */
bool claim_unstart(struct batch *batch, struct item *item)
{
    struct command *command = item->claim;
    if (command == NULL) {
        return false;
    }
    struct command_claim *claim = &command->claim;
    size_t at = 0;
    while (at < claim->count && !id_eq(claim->tasks[at].id, item->id)) {
        at++;
    }
    bool alone = id_none(item->now.parent) && id_none(item->now.team);
    item->refused = true;
    unstart(item);
    if (at < claim->count) {
        claim->count--;
        memmove(&claim->tasks[at], &claim->tasks[at + 1],
                (claim->count - at) * sizeof *claim->tasks);
        memmove(&claim->facts[at], &claim->facts[at + 1],
                (claim->count - at) * sizeof *claim->facts);
    }
    if (claim->count == 0 && alone) {
        batch_defer(batch, command); /* it may find another */
    }
    return alone;
}

/* False when some of it came to nothing: then there may be more to propose. */
static bool decide_proposal(struct batch *batch, struct proposal *proposal)
{
    struct command *command = proposal->claim;
    struct command_claim *claim = &command->claim;
    claim->proposal = 0;
    claim->tasks = arena_alloc(command->arena, proposal->count * sizeof *claim->tasks);
    claim->facts = arena_alloc(command->arena, proposal->count * sizeof *claim->facts);
    claim->count = 0;
    for (size_t i = 0; i < proposal->count; i++) {
        struct item *item = batch_item(batch, proposal->hints[i].id);
        if (item == NULL || !claim_start(batch, item, command)) {
            continue; /* the hint was stale */
        }
    }
    if (batch->engine->shared) {
        lock_documents(batch, proposal);
    }
    for (size_t i = 0; batch_ok(batch) && i < proposal->count; i++) {
        struct item *item = batch_item(batch, proposal->hints[i].id);
        if (item != NULL && item->claim == command && item->owner == claim) {
            struct claim_facts *facts = &claim->facts[claim->count];
            claim->tasks[claim->count++] = task_copy(command->arena, &item->now);
            *facts = (struct claim_facts){0};
            /* Results of what the task depended on go along with it. */
            (void)!kin_results(batch, item->now.id, command->arena, &facts->dependencies,
                               &facts->dependencies_count);
        }
    }
    return claim->count == proposal->count;
}

bool claim_decide(struct batch *batch, struct command *command)
{
    return decide_proposal(batch, &batch->proposals[command->claim.proposal - 1]);
}

static void wake_lines(struct engine *engine, const struct command_claim *claim)
{
    size_t count;
    const struct str *names = claim_queues(claim, &count);
    if (claim->any_queue) {
        lanes_wake_all(&engine->lanes);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        lane_wake(&engine->lanes, lane_get(&engine->lanes, names[i]));
    }
}

/* Memory is bounded: so many claims, so many queues. */
static bool may_wait(struct batch *batch, struct command *command)
{
    struct engine *engine = batch->engine;
    size_t count;
    const struct str *names = claim_queues(&command->claim, &count);
    if (!is_ours(&command->claim) && engine->claims.count >= engine->with.waiting_max) {
        return err_set(&command->err, ERR_BUSY, "%zu claims wait already: ask again later",
                       engine->claims.count);
    }
    return command->claim.any_queue || lanes_admit(&engine->lanes, names, count, &command->err);
}

/* A claim that got nothing because another command of this batch was faster, or has what it may
 * give back, asks again at once: a waiting one from its place in the line, where a stop can find
 * it, others in the next batch. */
static void on_nothing(struct batch *batch, struct command *command, bool again)
{
    if (command_ends(command) != NULL) { /* it waits once they are on disk; see claim_ends.c */
        batch_defer(batch, command);
    } else if (command->claim.wait && may_wait(batch, command)) {
        list_remove(&command->link);
        claim_park(batch->engine, command);
        if (again) {
            wake_lines(batch->engine, &command->claim);
        }
    } else if (again && !command->claim.wait) {
        batch_defer(batch, command);
    } else {
        batch_answer(batch, command);
    }
}

void claim_settle(struct batch *batch, struct command *command)
{
    bool again = false;
    if (batch->engine->draining) { /* what was proposed goes back, see publish.c */
        command->claim.proposal = 0;
        command->claim.signal = SIGNAL_QUIET;
        if (command->claim.finish.count == 0) {
            err_set(&command->err, ERR_UNAVAILABLE,
                    "the server is stopping and hands out no more tasks");
        }
        batch_answer(batch, command);
        return;
    }
    if (claim_overtaken(batch, command)) {
        claim_look_again(batch, command);
        return;
    }
    if (command->claim.proposal != 0) {
        again = !claim_decide(batch, command);
    }
    /* A broker wakes only those who asked it: whoever asked the rows asks again when it is back. */
    again =
        again || batch->returns_count > 0 || (batch->asked_rows && relies_on_broker(batch->engine));
    if (command->claim.count == 0) { /* what an operator said in this very batch counts too */
        command->claim.signal = worker_get(&batch->engine->workers, command->claim.worker)->signal;
    }
    if (command->claim.count == 0 && command->claim.signal == SIGNAL_NONE) {
        on_nothing(batch, command, again);
    } else {
        batch_answer(batch, command);
    }
}

/* What stays among the commands is left to claims_after_ends(). */
void on_claim(struct batch *batch, struct command *command)
{
    if (command_ends(command) == NULL) {
        if (!batch->may_return) {
            claim_settle(batch, command);
        }
    } else if (finish_all(batch, command)) {
        command->claim.ending = ENDING_DECIDED;
    } else {
        claim_look_again(batch, command);
    }
}

/* ---- Waiting ---- */

static bool sooner(const struct heap_node *a, const struct heap_node *b)
{
    return HOLDER(a, struct command_claim, deadline)->deadline_real_ms <
           HOLDER(b, struct command_claim, deadline)->deadline_real_ms;
}

void claims_init(struct claims *claims)
{
    list_init(&claims->waiting);
    claims->count = 0;
    claims->deadlines = HEAP_INIT(sooner);
}

void claims_fini(struct claims *claims)
{
    heap_fini(&claims->deadlines);
}

int64_t claims_in_ms(const struct claims *claims)
{
    const struct heap_node *top = heap_top(&claims->deadlines);
    return top == NULL
               ? NEVER_MS
               : MAX(HOLDER(top, struct command_claim, deadline)->deadline_real_ms - real_ms(), 0);
}

static size_t places_count(const struct command_claim *claim)
{
    return claim->any_queue || claim->queues_count == 0 ? 1 : claim->queues_count;
}

void claim_park(struct engine *engine, struct command *command)
{
    struct command_claim *claim = &command->claim;
    size_t count = places_count(claim), names_count;
    const struct str *names = claim_queues(claim, &names_count);
    claim->places = arena_array(command->arena, struct claim_place, count);
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = claim->any_queue ? NULL : lane_get(&engine->lanes, names[i]);
        claim->places[i].claim = command;
        claim->places[i].lane = lane;
        list_append(lane == NULL ? &engine->lanes.any : &lane->waiting, &claim->places[i].link);
        if (lane != NULL) {
            lane_settle(&engine->lanes, lane);
        }
    }
    list_append(&engine->claims.waiting, &claim->waiting);
    if (claim->wait_ms > 0) {
        heap_add(&engine->claims.deadlines, &claim->deadline);
    }
    engine->claims.count += !is_ours(claim);
    worker_get(&engine->workers, claim->worker)->waiting++;
}

void claim_unpark(struct engine *engine, struct command *command)
{
    struct command_claim *claim = &command->claim;
    for (size_t i = 0; i < places_count(claim); i++) {
        struct claim_place *place = &claim->places[i];
        list_remove(&place->link);
        if (place->lane != NULL) {
            lane_settle(&engine->lanes, place->lane);
        }
    }
    list_remove(&claim->waiting);
    if (heap_has(&claim->deadline)) {
        heap_remove(&engine->claims.deadlines, &claim->deadline);
    }
    engine->claims.count -= !is_ours(claim);
    worker_get(&engine->workers, claim->worker)->waiting--;
}

static bool is_waiting(const struct command *command)
{
    return link_in_list(&command->claim.waiting);
}

void claims_decide(struct batch *batch)
{
    for (size_t i = 0; i < batch->proposals_count; i++) {
        struct command *command = batch->proposals[i].claim;
        if (!is_waiting(command)) {
            continue; /* a new one: on_claim() decides it in its turn */
        }
        bool again = false;
        if (claim_overtaken(batch, command)) {
            command->claim.proposal = 0; /* it goes back, see publish.c, and the line is woken */
        } else {
            again = !decide_proposal(batch, &batch->proposals[i]);
        }
        /* Whose time has just ended must not stay in line: nothing would end it any more. */
        if (command->claim.count > 0 || !command->claim.wait) {
            claim_unpark(batch->engine, command);
            list_append(&batch->answered, &command->link);
        } else if (again) {
            wake_lines(batch->engine, &command->claim);
        }
    }
}

/* The batch failed or lost a race: the broker and the waiting lines are as before. */
void claims_give_back(struct batch *batch)
{
    struct broker *broker = batch->engine->broker;
    for (size_t i = 0; i < batch->proposals_count; i++) {
        struct proposal *proposal = &batch->proposals[i];
        struct command *command = proposal->claim;
        command->claim.proposal = 0;
        for (size_t j = 0; j < proposal->locks_count; j++) {
            const struct broker_lock *lock = &proposal->locks[j];
            if (lock->granted) {
                broker_let_go(broker, lock->hint->document, lock->hint->id, lock->lock);
            }
        }
        for (size_t j = 0; j < proposal->count; j++) {
            const struct hint *hint = &proposal->hints[j];
            const struct item *item = batch_peek(batch, hint->id);
            claim_reserve(batch, hint, -1);
            if (item != NULL && item->refused) { /* the store would refuse it again at once */
                shared_offer_later(batch->engine, hint);
            } else if (batch->asked_rows) { /* the broker has it still, or has lost it anyway */
                lanes_wake(&batch->engine->lanes, hint->queue);
            } else if (item == NULL || !item->parked) {
                broker_give_back(broker, hint);
            }
        }
        if (is_waiting(command) && !command->claim.wait) { /* stopped in this very batch */
            claim_unpark(batch->engine, command);
            list_append(&batch->answered, &command->link);
        }
    }
    batch->proposals_count = 0;
    claims_met(batch, false);
}

/* ---- Stopping ---- */

/* One that was just proposed a task is decided after this: with the task, or else with none. */
void claim_stop_waiting(struct batch *batch, struct command *waiting)
{
    waiting->claim.wait = false;
    if (waiting->claim.proposal == 0) {
        claim_unpark(batch->engine, waiting);
        waiting->claim.count = 0;
        list_append(&batch->answered, &waiting->link);
    }
}

void claims_time_out(struct batch *batch)
{
    const struct heap *deadlines = &batch->engine->claims.deadlines;
    int64_t now_ms = deadlines->count == 0 ? 0 : real_ms();
    for (struct heap_node *top; (top = heap_top(deadlines)) != NULL;) {
        struct command_claim *claim = HOLDER(top, struct command_claim, deadline);
        if (claim->deadline_real_ms > now_ms) {
            return;
        }
        heap_remove(&batch->engine->claims.deadlines, top);
        claim_stop_waiting(batch, HOLDER(claim, struct command, claim));
    }
}

static void stop_deferred(const struct list *commands, uint64_t serial)
{
    LIST_EACH(commands, it)
    {
        struct command *other = HOLDER(it, struct command, link);
        if (other->kind == COMMAND_CLAIM && other->claim.serial == serial) {
            other->claim.wait = false;
        }
    }
}

void on_claim_stop(struct batch *batch, struct command *command)
{
    stop_deferred(&batch->deferred, command->claim_stop.serial);
    stop_deferred(&batch->commands, command->claim_stop.serial);
    LIST_EACH(&batch->engine->claims.waiting, it)
    {
        struct command *waiting = HOLDER(it, struct command, claim.waiting);
        if (waiting->claim.serial == command->claim_stop.serial) {
            claim_stop_waiting(batch, waiting);
            break;
        }
    }
    batch_answer(batch, command);
}

void claims_signal(struct batch *batch, const struct worker *worker)
{
    LIST_EACH(&batch->engine->claims.waiting, it)
    {
        struct command *waiting = HOLDER(it, struct command, claim.waiting);
        if (worker->signal != SIGNAL_NONE && str_eq(waiting->claim.worker, worker->id)) {
            waiting->claim.signal = worker->signal;
            claim_stop_waiting(batch, waiting);
        }
    }
}

void on_drain(struct batch *batch, struct command *command)
{
    batch->engine->draining = true;
    LIST_EACH(&batch->engine->claims.waiting, it)
    {
        struct command *waiting = HOLDER(it, struct command, claim.waiting);
        waiting->claim.signal = SIGNAL_QUIET;
        claim_stop_waiting(batch, waiting);
    }
    batch_answer(batch, command);
}

void claims_unpark_all(struct engine *engine, struct list *out)
{
    LIST_EACH(&engine->claims.waiting, it)
    {
        struct command *command = HOLDER(it, struct command, claim.waiting);
        claim_unpark(engine, command);
        list_append(out, &command->link);
    }
}
