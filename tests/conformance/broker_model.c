/* tests/conformance/broker_model.c: a broker against a model too simple to be wrong.
 *
 * The model is an array of ready tasks and a holder for each document; every question is answered
 * by looking at all of it. Thousands of random steps, each from a printed seed, must give the same
 * tasks in the same order, the same answers, and a wake-up for every claim that waits for them.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "base/rand.h"
#include "broker_suite.h"
#include "test.h"

#ifndef STEPS /* fewer for a broker that is asked over a socket */
#define STEPS 6000
#endif
#ifndef WAKES_EXACTLY /* told of each first or better task, and of nothing else; else in vain too, \
                       */
#define WAKES_EXACTLY true /* and not of what nobody waits for */
#endif
#define READY_MAX 250
#define OUT_MAX   400
#define QUEUES    4
#define TYPES     3
#define DOCUMENTS 5
#define FOREIGN   1000000 /* ids of holders that were never offered */
#define CLAIMS    8       /* that wait at once; the oldest gives up */

static const struct str queues[QUEUES] = {STR("q0"), STR("q1"), STR("q2"), STR("q3")};
static const struct str types[TYPES] = {STR("t0"), STR("t1"), STR("t2")};
static const struct str documents[DOCUMENTS] = {STR("d0"), STR("d1"), STR("d2"), STR("d3"),
                                                STR("d4")};

/* A claim that got nothing and waits to be told. */
struct waiting {
    bool waits;
    struct want want;
    struct want_queue queues[QUEUES];
    struct str types[TYPES];
};

struct model {
    struct stand s;
    struct rand rand;
    struct hint ready[READY_MAX];
    size_t ready_count;
    struct hint out[OUT_MAX]; /* taken and not yet over */
    size_t out_count;
    struct task_id holder[DOCUMENTS]; /* TASK_ID_NONE: free */
    uint64_t next;
    int64_t now_ms;
    struct hint best[QUEUES][TYPES]; /* before the step; priority 0: none */
    struct waiting claims[CLAIMS];
    size_t next_claim;
};

static size_t below(struct model *m, size_t limit)
{
    return (size_t)rand_below(&m->rand, limit);
}

static size_t index_of(struct str text)
{
    return (size_t)(text.ptr[1] - '0');
}

static bool starts_before(const struct hint *a, const struct hint *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    return a->queued_ms != b->queued_ms ? a->queued_ms < b->queued_ms : a->id.hi < b->id.hi;
}

static bool document_free(const struct model *m, const struct hint *hint)
{
    return str_absent(hint->document) || id_none(m->holder[index_of(hint->document)]);
}

static void forget(struct model *m, size_t i)
{
    m->ready[i] = m->ready[--m->ready_count];
}

static void remember(struct model *m, const struct hint *hint)
{
    for (size_t i = 0; i < m->ready_count; i++) {
        if (id_eq(m->ready[i].id, hint->id)) {
            m->ready[i] = *hint;
            return;
        }
    }
    m->ready[m->ready_count++] = *hint;
}

/* ---- What a claim may take ---- */

struct rooms {
    size_t left[QUEUES];
};

static struct rooms rooms_of(const struct want *want)
{
    struct rooms rooms;
    for (size_t q = 0; q < QUEUES; q++) {
        rooms.left[q] = want->any_queue ? SIZE_MAX : 0;
    }
    for (size_t i = 0; i < want->queues_count; i++) {
        rooms.left[index_of(want->queues[i].name)] = want->queues[i].room;
    }
    return rooms;
}

static bool wants_type(const struct want *want, struct str type)
{
    bool found = want->types_count == 0;
    for (size_t i = 0; i < want->types_count; i++) {
        found = found || str_eq(want->types[i], type);
    }
    return found;
}

/* The place of the best task that may be taken; ready_count when there is none. */
static size_t best_for(const struct model *m, const struct want *want, const struct rooms *rooms)
{
    size_t best = m->ready_count;
    for (size_t i = 0; i < m->ready_count; i++) {
        const struct hint *hint = &m->ready[i];
        if (rooms->left[index_of(hint->queue)] > 0 && wants_type(want, hint->type) &&
            document_free(m, hint) &&
            (best == m->ready_count || starts_before(hint, &m->ready[best]))) {
            best = i;
        }
    }
    return best;
}

/* ---- Wake-ups ---- */

static struct hint best_of_pair(const struct model *m, size_t queue, size_t type)
{
    struct want_queue only = {queues[queue], SIZE_MAX};
    struct want want = {
        .types = &types[type], .types_count = 1, .queues = &only, .queues_count = 1};
    struct rooms rooms = rooms_of(&want);
    size_t best = best_for(m, &want, &rooms);
    return best == m->ready_count ? (struct hint){0} : m->ready[best];
}

static void before_step(struct model *m)
{
    m->s.calls_count = 0;
    for (size_t q = 0; q < QUEUES; q++) {
        for (size_t t = 0; t < TYPES; t++) {
            m->best[q][t] = best_of_pair(m, q, t);
        }
    }
}

static bool was_called(const struct model *m, size_t queue, size_t type)
{
    for (size_t i = 0; i < m->s.calls_count; i++) {
        struct str rest = m->s.calls[i], name = str_cut(&rest, '/');
        if (str_eq(name, queues[queue]) && str_eq(rest, types[type])) {
            return true;
        }
    }
    return false;
}

/* Was the claim told of a queue and type that it asked for? */
static bool was_told(const struct model *m, const struct want *want)
{
    struct rooms rooms = rooms_of(want);
    for (size_t q = 0; q < QUEUES; q++) {
        for (size_t t = 0; t < TYPES; t++) {
            if (rooms.left[q] > 0 && wants_type(want, types[t]) && was_called(m, q, t)) {
                return true;
            }
        }
    }
    return false;
}

static void check_waiting(struct model *m)
{
    for (size_t i = 0; i < CLAIMS; i++) {
        struct waiting *claim = &m->claims[i];
        struct rooms rooms = rooms_of(&claim->want);
        if (claim->waits && was_told(m, &claim->want)) {
            claim->waits = false; /* it asks again */
        }
        CHECK(!claim->waits || best_for(m, &claim->want, &rooms) == m->ready_count);
    }
}

static void wait_for(struct model *m, const struct want *want)
{
    struct waiting *claim = &m->claims[m->next_claim++ % CLAIMS];
    claim->waits = true;
    claim->want = *want;
    for (size_t i = 0; i < want->queues_count; i++) {
        claim->queues[i] = want->queues[i];
    }
    for (size_t i = 0; i < want->types_count; i++) {
        claim->types[i] = want->types[i];
    }
    claim->want.queues = claim->queues;
    claim->want.types = claim->types;
}

static void check_calls(struct model *m)
{
    broker_flush(m->s.broker);
    check_waiting(m);
    for (size_t q = 0; q < QUEUES; q++) {
        for (size_t t = 0; t < TYPES; t++) {
            struct hint now = best_of_pair(m, q, t);
            bool better = now.priority != 0 && starts_before(&now, &m->best[q][t]);
            CHECK(was_called(m, q, t) == better || !WAKES_EXACTLY);
        }
    }
}

/* ---- Steps ---- */

static void step_offer(struct model *m)
{
    size_t document = below(m, DOCUMENTS * 2);
    struct hint hint = {
        .id = stand_id(++m->next),
        .queue = queues[below(m, QUEUES)],
        .type = types[below(m, TYPES)],
        .document = document < DOCUMENTS ? documents[document] : STR_NONE,
        .priority = (enum task_priority)(TASK_LOW + below(m, 4)),
        .queued_ms = below(m, 4) == 0 ? m->now_ms - (int64_t)below(m, 50) : ++m->now_ms,
    };
    if (m->ready_count < READY_MAX) {
        broker_offer(m->s.broker, &hint);
        remember(m, &hint);
    }
}

static void step_offer_again(struct model *m)
{
    if (m->ready_count == 0) {
        return;
    }
    struct hint *hint = &m->ready[below(m, m->ready_count)];
    enum task_priority was = hint->priority;
    hint->priority = (enum task_priority)(TASK_LOW + below(m, 4));
    hint->queued_ms -= (int64_t)below(m, 3) * 10;
    if (hint->priority != was && !WAKES_EXACTLY) { /* which tells more than is so in a moment */
        struct hint old = *hint;
        old.priority = was;
        broker_withdraw(m->s.broker, &old);
    }
    broker_offer(m->s.broker, hint);
}

static void step_withdraw(struct model *m)
{
    if (m->ready_count > 0) {
        size_t i = below(m, m->ready_count);
        broker_withdraw(m->s.broker, &m->ready[i]);
        forget(m, i);
    }
}

static void random_want(struct model *m, struct want *want, struct want_queue *named,
                        struct str *named_types)
{
    *want = (struct want){.types = named_types, .queues = named, .any_queue = below(m, 2) == 0};
    for (size_t q = 0; q < QUEUES; q++) {
        if (below(m, 2) == 0) {
            size_t room = below(m, 3) == 0 ? SIZE_MAX : below(m, 3);
            named[want->queues_count++] = (struct want_queue){queues[q], room};
        }
    }
    for (size_t t = 0; t < TYPES && below(m, 3) > 0; t++) {
        named_types[want->types_count++] = types[below(m, TYPES)];
    }
}

static void step_take(struct model *m)
{
    struct want want;
    struct want_queue named[QUEUES];
    struct str named_types[TYPES];
    struct hint *got = arena_array(&m->s.arena, struct hint, 8);
    random_want(m, &want, named, named_types);
    struct rooms rooms = rooms_of(&want);
    bool some = best_for(m, &want, &rooms) < m->ready_count;
    CHECK_EQ(broker_has(m->s.broker, &want), some);
    size_t max = MIN(below(m, 8), OUT_MAX - m->out_count);
    size_t count = broker_take(m->s.broker, &want, max, got, &m->s.arena), best = 0;
    for (size_t i = 0; i < count; i++) {
        best = best_for(m, &want, &rooms);
        CHECK(best < m->ready_count && id_eq(m->ready[best].id, got[i].id));
        CHECK_EQ(got[i].priority, m->ready[best].priority);
        rooms.left[index_of(got[i].queue)]--;
        m->out[m->out_count++] = m->ready[best];
        if (!str_absent(got[i].document)) {
            m->holder[index_of(got[i].document)] = got[i].id;
        }
        forget(m, best);
    }
    CHECK(count == max || best_for(m, &want, &rooms) == m->ready_count);
    if (max > 0 && count == 0) {
        wait_for(m, &want);
    }
}

static void let_go_in_model(struct model *m, struct str document, struct task_id id)
{
    if (!str_absent(document) && id_eq(m->holder[index_of(document)], id)) {
        m->holder[index_of(document)] = TASK_ID_NONE;
    }
}

static void step_end(struct model *m)
{
    if (m->out_count == 0) {
        return;
    }
    size_t i = below(m, m->out_count);
    struct hint hint = m->out[i];
    m->out[i] = m->out[--m->out_count];
    if (below(m, 4) == 0 && m->ready_count < READY_MAX) {
        broker_give_back(m->s.broker, &hint);
        remember(m, &hint);
    } else if (!str_absent(hint.document)) {
        broker_let_go(m->s.broker, hint.document, hint.id, STR("lock"));
    }
    let_go_in_model(m, hint.document, hint.id);
}

static void step_hold(struct model *m)
{
    size_t document = below(m, DOCUMENTS);
    struct task_id stranger = stand_id(FOREIGN + below(m, 3));
    if (id_none(m->holder[document])) {
        broker_hold(m->s.broker, documents[document], stranger, STR("lock"));
        m->holder[document] = stranger;
    } else { /* whoever it is: only the holder may */
        broker_let_go(m->s.broker, documents[document], stranger, STR("lock"));
        let_go_in_model(m, documents[document], stranger);
    }
}

/* ---- Looking ---- */

static size_t ahead_of(const struct model *m, const struct hint *hint)
{
    size_t n = 0;
    for (size_t i = 0; i < m->ready_count; i++) {
        n += !str_absent(hint->document) && str_eq(m->ready[i].document, hint->document) &&
             starts_before(&m->ready[i], hint);
    }
    return n;
}

static void check_document(struct model *m, size_t document)
{
    struct broker_document got;
    size_t waiting = 0;
    broker_document(m->s.broker, documents[document], READY_MAX, &m->s.arena, &got);
    CHECK_EQ(got.held, !id_none(m->holder[document]));
    CHECK(id_eq(got.holder, m->holder[document]));
    for (size_t i = 0; i < m->ready_count; i++) {
        if (str_eq(m->ready[i].document, documents[document])) {
            size_t ahead = ahead_of(m, &m->ready[i]);
            CHECK(!TELLS_LINES ||
                  (ahead < got.waiting_count && id_eq(got.waiting[ahead], m->ready[i].id)));
            CHECK_EQ(broker_ahead(m->s.broker, m->ready[i].id), TELLS_LINES ? ahead : 0);
            waiting += TELLS_LINES;
        }
    }
    CHECK_EQ(got.waiting_count, waiting);
}

static void step_look(struct model *m)
{
    size_t queue = below(m, QUEUES);
    int64_t oldest_ms = INT64_MAX;
    for (size_t i = 0; i < m->ready_count; i++) {
        CHECK(broker_knows(m->s.broker, &m->ready[i]));
        if (str_eq(m->ready[i].queue, queues[queue])) {
            oldest_ms = MIN(oldest_ms, m->ready[i].queued_ms);
        }
    }
    CHECK_EQ(broker_oldest_ms(m->s.broker, queues[queue]), TELLS_LINES ? oldest_ms : INT64_MAX);
    check_document(m, below(m, DOCUMENTS));
}

static void run(uint64_t seed, size_t offers)
{
    static void (*const steps[])(struct model *) = {step_offer_again, step_withdraw, step_take,
                                                    step_end,         step_hold,     step_look};
    SCOPED(mem_free_at) struct model *m = mem_new(struct model);
    stand_init(&m->s);
    rand_init_seed(&m->rand, seed);
    m->now_ms = 1000;
    print_message("# seed %llu\n", (unsigned long long)seed);
    for (size_t i = 0; i < STEPS; i++) {
        size_t step = below(m, ARRAY_LEN(steps) + offers);
        before_step(m);
        (step < ARRAY_LEN(steps) ? steps[step] : step_offer)(m);
        check_calls(m);
        CHECK_EQ(broker_ready_count(m->s.broker), m->ready_count);
    }
    stand_fini(&m->s);
}

TEST(random_steps_on_a_short_line_agree_with_the_model)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        run(seed, 2);
    }
}

TEST(random_steps_on_a_long_line_agree_with_the_model)
{
    run(11, 8);
    run(12, 12);
}
