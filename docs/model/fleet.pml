/* docs/model/fleet.pml: the fleet protocol, small enough for every history to be walked.
 *
 * Two nodes, each with a worker and a leader's seat, share a store (the truth, rows changed by
 * compare-and-set) and a broker (hints and a document lock, either of which may vanish). Each d_step is
 * one transaction, one Redis script or one step in a node's memory; nature may strike between any two.
 * FAULTS is how many times it does. Nothing here has a clock: what may happen at some time may happen now.
 *
 * MUTANT names a rule to leave out; README.md lists them, and `check` expects each to be noticed.
 *
 * SPDX-License-Identifier: MIT */

#ifndef TASKS
#define TASKS 2                  /* 0 and 1 share a document; 2, if there is one, has none */
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef MAX_RETRIES
#define MAX_RETRIES 1
#endif

/* What may be left out. */
#define NOTHING             0
#define TOKEN_IN_FINISH     1    /* finish by id: whoever says it is done, is believed */
#define DOC_LEASE           2    /* no guard in the store: the Redis lock alone */
#define JANITOR_CAS         3    /* the janitor's WHERE names the task and nothing else */
#define FINISH_THEN_ACK     4    /* 2xx before the commit */
#define RECONCILIATION      5    /* a lost hint is never offered again */
#define CLAIM_THEN_ACK      6    /* work begins before the claim is committed */
#define LEASE_IN_JANITOR    7    /* its WHERE has the attempt, but not that the lease is still over */
#define SELF_STOP           8    /* work goes on when its lease cannot be renewed */
#define JANITOR             9    /* nobody takes back what its worker left */
#define ORPHANS             10   /* a document stays with a run function that died */
#define OFFER_WHEN_FREE     11   /* tasks are offered again while their document is held */
#define REDIS_LOCK          12   /* harmless: the lock is never taken */
#define FENCE               13   /* harmless: a late leader writes on */
#ifndef MUTANT
#define MUTANT NOTHING
#endif
#define WITHOUT(rule) (MUTANT == rule)

mtype = { SCHEDULED, QUEUED, RUNNING, RETRYING, COMPLETED, FAILED };         /* a task */
mtype = { UP, STALLED, DOWN, GONE };                                         /* a node */
mtype = { IDLE, PROPOSED, WORKING, OVERRUN, SAID, COMMITTED, LETTING_GO };           /* its worker */
mtype = { RESTING, SAW_ENDED, SAW_UNHINTED, UNLOCKING };            /* its leader's seat */
mtype = { SEES, BLIND, BLIND_FOR_GOOD };                                     /* a node, of Redis */

#define NOBODY   0
#define HAS_DOCUMENT(t) (t < 2)
#define TOKEN(t, a)     (4 * (t) + (a))          /* the attempt counts from 1, so no token is NOBODY */

/* The store. */
mtype state[3];
byte attempt[3];
bool ended[3];               /* the lease is over, and nobody has acted on it yet */
byte document;                   /* doc_lease: whose token holds the document */
byte running;                    /* the counter of RUNNING rows, changed with them */
byte chief;                      /* 1 + the node whose epoch is the store's */

/* Redis. */
bool hint[3];
byte lock;                       /* errand:doclock: a token */

/* The nodes: all of it is gone after a crash. */
mtype life[2];
mtype redis[2];
mtype at[2];                     /* the worker: where it is, with which task and attempt */
byte task[2];
byte mine[2];
bool leading[2];                 /* what the node believes; chief is what is so */
mtype seat[2];                   /* the leader: what it has read and not yet acted on */
byte seen[2];
byte seen_attempt[2];

/* What only we know. */
byte faults = FAULTS;
bool acked[3];               /* somebody was told that it is COMPLETED */
byte ends[3];                /* how often it has reached a terminal state */
bool forged;                     /* a finish without the current token changed something */
bool slept[2];                   /* its lease ended while the node was stalled */

/* What is promised. watch() takes one back when it is broken. */
bool G1_an_acknowledged_finish_is_kept = true;
bool G2_only_the_current_token_finishes_and_once = true;
bool G3_one_lease_per_document = true;
bool G3_work_holds_its_document = true;
bool I3_retries_are_limited = true;
bool I5_the_document_is_with_who_runs = true;
bool I7_counters_are_rows = true;
bool every_task_ends = true;

#define AWAKE(n)       (life[n] == UP)
#define TERMINAL(t)    (state[t] == COMPLETED || state[t] == FAILED)
#define LIVE(t, a)     (state[t] == RUNNING && attempt[t] == (a))
#define DOC_FREE(t)    (!HAS_DOCUMENT(t) || document == NOBODY || WITHOUT(DOC_LEASE))
#define WORKS_ON(n, t) (at[n] == WORKING && task[n] == t && mine[n] == attempt[t])
#define ROWS_RUNNING   ((state[0] == RUNNING) + (state[1] == RUNNING) + (state[2] == RUNNING))
#define OVER           (TERMINAL(0) && TERMINAL(1) && TERMINAL(2))

/* One alternative for each task that takes part. */
#if TASKS > 2
#define FOR_TASKS(step, n)  :: step(n, 0) :: step(n, 1) :: step(n, 2)
#define FOR_EACH(step)      :: step(0) :: step(1) :: step(2)
#else
#define FOR_TASKS(step, n)  :: step(n, 0) :: step(n, 1)
#define FOR_EACH(step)      :: step(0) :: step(1)
#endif

/* Pieces of transactions. */

inline free_document(t)
{
    if
    :: HAS_DOCUMENT(t) && document == TOKEN(t, attempt[t]) -> document = NOBODY
    :: else
    fi
}

inline end_running(t)            /* counts what it is told to count, row or no row, as SQL would */
{
    running = (running > 0 -> running - 1 : 0);
    ended[t] = false
}

inline retry_or_give_up(t)
{
    end_running(t);
    if
    :: attempt[t] <= MAX_RETRIES -> state[t] = RETRYING
    :: else -> state[t] = FAILED; ends[t]++
    fi
}

inline unlock(n, token)          /* the Lua script that checks the holder */
{
    if
    :: redis[n] == SEES && lock == token -> lock = NOBODY
    :: else
    fi
}

/* The worker of node n. */

inline be(n, where)
{
    at[n] = where;
    if
    :: where == IDLE -> task[n] = 0; mine[n] = 0; slept[n] = false
    :: where == LETTING_GO -> slept[n] = false
    :: else
    fi
}

inline pop_hint(n, t)            /* broker proposes: one script takes the hint and the lock */
{
    d_step {
        AWAKE(n) && at[n] == IDLE && redis[n] == SEES && hint[t] &&
            (!HAS_DOCUMENT(t) || lock == NOBODY) ->
        printf("node %d: takes the hint to task %d\n", n, t);
        hint[t] = false;
        task[n] = t;
        mine[n] = attempt[t] + 1;
        if
        :: HAS_DOCUMENT(t) && !WITHOUT(REDIS_LOCK) -> lock = TOKEN(t, mine[n])
        :: else
        fi;
        at[n] = (WITHOUT(CLAIM_THEN_ACK) -> WORKING : PROPOSED)
    }
}

inline poll(n, t)                /* no Redis: the store is asked what could be claimed */
{
    d_step {
        AWAKE(n) && at[n] == IDLE && redis[n] != SEES && state[t] == QUEUED && DOC_FREE(t) ->
        printf("node %d: finds task %d in the store\n", n, t);
        task[n] = t;
        mine[n] = attempt[t] + 1;
        at[n] = PROPOSED
    }
}

#define MAY_CLAIM(n, t) (state[t] == QUEUED && attempt[t] + 1 == mine[n] && DOC_FREE(t))

inline claim(n, t)               /* store decides; both paths end here */
{
    d_step {
        AWAKE(n) && task[n] == t &&
            (at[n] == PROPOSED || (WITHOUT(CLAIM_THEN_ACK) && at[n] == WORKING && MAY_CLAIM(n, t))) ->
        if
        :: MAY_CLAIM(n, t) ->
            printf("node %d: claims task %d, attempt %d\n", n, t, mine[n]);
            state[t] = RUNNING;
            attempt[t] = mine[n];
            running++;
            if
            :: HAS_DOCUMENT(t) -> document = TOKEN(t, mine[n])
            :: else
            fi;
            at[n] = WORKING
        :: else ->
            printf("node %d: may not claim task %d\n", n, t);
            be(n, LETTING_GO)
        fi
    }
}

inline renew(n, t)               /* the next call of work that slept: its lease still holds, or it is told */
{
    d_step {
        AWAKE(n) && at[n] == WORKING && task[n] == t && (ended[t] || !LIVE(t, mine[n])) ->
        if
        :: LIVE(t, mine[n]) ->
            printf("node %d: renews its lease of task %d\n", n, t);
            ended[t] = false;
            slept[n] = false
        :: else ->
            printf("node %d: is told that its lease of task %d is lost\n", n, t);
            be(n, LETTING_GO)
        fi
    }
}

inline say_first(n, t)           /* only the mutant acknowledges here */
{
    d_step {
        WITHOUT(FINISH_THEN_ACK) && AWAKE(n) && at[n] == WORKING && task[n] == t && LIVE(t, mine[n]) ->
        printf("node %d: says that task %d is done\n", n, t);
        acked[t] = true;
        at[n] = SAID
    }
}

inline finish(n, t)
{
    d_step {
        AWAKE(n) && task[n] == t && at[n] == (WITHOUT(FINISH_THEN_ACK) -> SAID : WORKING) ->
        if
        :: LIVE(t, mine[n]) || WITHOUT(TOKEN_IN_FINISH) ->
            printf("node %d: finishes task %d with attempt %d, the task is at %d\n",
                   n, t, mine[n], attempt[t]);
            forged = forged || !LIVE(t, mine[n]);
            free_document(t);
            end_running(t);
            state[t] = COMPLETED;
            ends[t]++;
            at[n] = COMMITTED;
            slept[n] = false
        :: else ->
            printf("node %d: may not finish task %d\n", n, t);
            be(n, LETTING_GO)                    /* 409 */
        fi
    }
}

inline acknowledge(n, t)
{
    d_step {
        AWAKE(n) && at[n] == COMMITTED && task[n] == t ->
        printf("node %d: says that task %d is done\n", n, t);
        acked[t] = true;
        be(n, LETTING_GO)
    }
}

inline return_late(n, t)         /* the run function of an attempt that was timed out is back at last */
{
    d_step {
        AWAKE(n) && at[n] == OVERRUN && task[n] == t ->
        printf("node %d: the run function of task %d is back\n", n, t);
        if
        :: document == TOKEN(t, mine[n]) -> document = NOBODY
        :: else
        fi;
        be(n, LETTING_GO)
    }
}

inline let_go(n, t)              /* after the commit, or a refusal: the next in line may have the document */
{
    d_step {
        AWAKE(n) && at[n] == LETTING_GO && task[n] == t ->
        printf("node %d: lets go of task %d\n", n, t);
        unlock(n, TOKEN(t, mine[n]));
        be(n, IDLE)
    }
}

/* The leader's seat of node n. It reads in one step and writes in another, so it is often late. */

#define OTHER(n)      (1 - (n))
#define LEADS(n)      (AWAKE(n) && leading[n])
/* The key lapses when its holder sleeps, dies or loses sight of Redis; the row, when it sleeps or dies. */
#define LAPSED(n)     (!LEADS(OTHER(n)) || (redis[n] == SEES && redis[OTHER(n)] != SEES))

inline stand_down(n)
{
    printf("leader %d: another leads by now\n", n);
    leading[n] = false
}

inline rest(n)
{
    seat[n] = RESTING;
    seen[n] = 0;
    seen_attempt[n] = 0
}

inline see_ended(n, t)
{
    d_step {
        LEADS(n) && seat[n] == RESTING && state[t] == RUNNING && ended[t] && !WITHOUT(JANITOR) ->
        printf("leader %d: sees that the lease of task %d is over, attempt %d\n", n, t, attempt[t]);
        seat[n] = SAW_ENDED;
        seen[n] = t;
        seen_attempt[n] = attempt[t]
    }
}

/* Not while the document is held: it would be refused, again and again, until that is over. */
#define WORTH_OFFERING(t) (DOC_FREE(t) || WITHOUT(OFFER_WHEN_FREE))

inline see_unhinted(n, t)
{
    d_step {
        LEADS(n) && seat[n] == RESTING && state[t] == QUEUED && !hint[t] && WORTH_OFFERING(t) &&
            redis[n] == SEES && !WITHOUT(RECONCILIATION) ->
        printf("leader %d: sees that no hint leads to task %d\n", n, t);
        seat[n] = SAW_UNHINTED;
        seen[n] = t
    }
}

#define FENCED(n)         (chief != 1 + n && !WITHOUT(FENCE))
#define JANITOR_MAY(n, t) ((LIVE(t, seen_attempt[n]) && (ended[t] || WITHOUT(LEASE_IN_JANITOR))) \
                           || WITHOUT(JANITOR_CAS))

inline take_back(n, t)           /* the janitor: by state, attempt and a lease that is still over */
{
    d_step {
        AWAKE(n) && seat[n] == SAW_ENDED && seen[n] == t ->
        if
        :: FENCED(n) -> stand_down(n); rest(n)
        :: !FENCED(n) && JANITOR_MAY(n, t) ->
            printf("leader %d: takes back task %d\n", n, t);
            free_document(t);
            retry_or_give_up(t);
            seat[n] = UNLOCKING
        :: else -> rest(n)
        fi
    }
}

inline make_due(n, t)            /* one statement finds and changes */
{
    d_step {
        LEADS(n) && seat[n] == RESTING && (state[t] == SCHEDULED || state[t] == RETRYING) ->
        if
        :: FENCED(n) -> stand_down(n)
        :: else ->
            printf("leader %d: task %d is due\n", n, t);
            state[t] = QUEUED;
            seat[n] = SAW_UNHINTED;
            seen[n] = t
        fi
    }
}

inline offer(n, t)               /* a hint needs no fence: a false one is refused by the store */
{
    d_step {
        AWAKE(n) && seat[n] == SAW_UNHINTED && seen[n] == t ->
        printf("leader %d: offers task %d\n", n, t);
        hint[t] = hint[t] || redis[n] == SEES;
        rest(n)
    }
}

inline unlock_lost(n, t)
{
    d_step {
        AWAKE(n) && seat[n] == UNLOCKING && seen[n] == t ->
        printf("leader %d: releases the lock of task %d\n", n, t);
        unlock(n, TOKEN(t, seen_attempt[n]));
        rest(n)
    }
}

inline lead(n)
{
    d_step {
        AWAKE(n) && !leading[n] && LAPSED(n) ->
        printf("leader %d: leads from now on\n", n);
        leading[n] = true;
        chief = 1 + n
    }
}

/* Whose document is it, if not that of a running attempt or of a run function on a node that is awake? */
#define LATE(n)  (at[n] == OVERRUN && document == TOKEN(task[n], mine[n]))
#define ORPHANED (document != NOBODY && !LIVE(document / 4, document % 4) && \
                  !(LATE(0) && AWAKE(0)) && !(LATE(1) && AWAKE(1)) && !WITHOUT(ORPHANS))

inline free_orphan(n)
{
    d_step {
        LEADS(n) && seat[n] == RESTING && ORPHANED ->
        if
        :: FENCED(n) -> stand_down(n)
        :: else ->
            printf("leader %d: frees an orphaned document\n", n);
            slept[0] = slept[0] || LATE(0);
            slept[1] = slept[1] || LATE(1);
            document = NOBODY
        fi
    }
}

proctype node(byte n)
{
end:
    do
    FOR_TASKS(pop_hint, n)
    FOR_TASKS(poll, n)
    FOR_TASKS(claim, n)
    FOR_TASKS(renew, n)
    FOR_TASKS(say_first, n)
    FOR_TASKS(finish, n)
    FOR_TASKS(acknowledge, n)
    FOR_TASKS(return_late, n)
    FOR_TASKS(let_go, n)
    :: lead(n)
    :: d_step { LEADS(n) && seat[n] == RESTING && chief != 1 + n -> stand_down(n) }
    FOR_TASKS(see_ended, n)
    FOR_TASKS(see_unhinted, n)
    FOR_TASKS(take_back, n)
    FOR_TASKS(make_due, n)
    FOR_TASKS(offer, n)
    FOR_TASKS(unlock_lost, n)
    :: free_orphan(n)
    od
}

/* Nature: what goes wrong (each costs a fault), what then follows, and what heals. */

#define FAULT (faults > 0 && !OVER)
#define fault faults--; printf

#define HELD(n, t) (WORKS_ON(n, t) && AWAKE(n) && !WITHOUT(SELF_STOP))

inline lease_ends(t)             /* never under work that is awake: it renews, or stops itself first */
{
    d_step {
        state[t] == RUNNING && !ended[t] && !HELD(0, t) && !HELD(1, t) ->
        printf("the lease of task %d ends\n", t);
        ended[t] = true;
        slept[0] = slept[0] || (WORKS_ON(0, t) && !AWAKE(0));
        slept[1] = slept[1] || (WORKS_ON(1, t) && !AWAKE(1))
    }
}

inline repeat_hint(t)            /* a duplicate, or one that is long out of date */
{
    d_step { FAULT && !hint[t] -> fault("a second or late hint to task %d\n", t); hint[t] = true }
}

inline kill(n, how)
{
    life[n] = how;
    be(n, IDLE);
    leading[n] = false;
    rest(n)
}

#define ALIVE(n) (life[n] == UP || life[n] == STALLED)

inline strike(n)
{
    if
    :: d_step { FAULT && ALIVE(n) -> fault("node %d dies\n", n); kill(n, DOWN) }
    :: d_step { FAULT && ALIVE(n) && life[OTHER(n)] != GONE -> fault("node %d dies for good\n", n);
                kill(n, GONE) }
    :: d_step { FAULT && AWAKE(n) -> fault("node %d stalls\n", n); life[n] = STALLED }
    :: d_step { FAULT && redis[n] == SEES -> fault("node %d loses sight of Redis\n", n);
                redis[n] = BLIND }
    :: d_step { FAULT && redis[n] == SEES -> fault("node %d loses sight of Redis for good\n", n);
                redis[n] = BLIND_FOR_GOOD }
    :: d_step { FAULT && AWAKE(n) && at[n] == WORKING ->
                fault("node %d cannot renew, its work stops itself\n", n); be(n, IDLE) }
    /* The attempt is over, and the document is not free. */
    :: d_step { FAULT && AWAKE(n) && at[n] == WORKING && HAS_DOCUMENT(task[n]) && LIVE(task[n], mine[n]) ->
                fault("node %d times out a run function that does not return\n", n);
                retry_or_give_up(task[n]); at[n] = OVERRUN }
    fi
}

inline heal(n)
{
    if
    :: d_step { life[n] == DOWN || life[n] == STALLED -> printf("node %d is back\n", n); life[n] = UP }
    :: d_step { redis[n] == BLIND -> printf("node %d sees Redis\n", n); redis[n] = SEES }
    fi
}

/* Somebody alive still knows of the lock: it is renewed, and will be released. */
#define USES_LOCK(n) (at[n] != IDLE && HAS_DOCUMENT(task[n]) && lock == TOKEN(task[n], mine[n]))
#define LOCK_LIVES   (USES_LOCK(0) || USES_LOCK(1))

proctype nature()
{
end:
    do
    FOR_EACH(lease_ends)
    FOR_EACH(repeat_hint)
    :: strike(0) :: strike(1)
    :: heal(0) :: heal(1)
    /* Its time to live: a fault while the holder renews it, a matter of course when nobody does. */
    :: d_step { lock != NOBODY && !LOCK_LIVES -> printf("the lock runs out\n"); lock = NOBODY }
    :: d_step { FAULT && lock != NOBODY && LOCK_LIVES -> fault("the lock runs out early\n"); lock = NOBODY }
    :: d_step { FAULT -> fault("Redis is flushed\n"); lock = NOBODY;
                hint[0] = false; hint[1] = false; hint[2] = false }
    :: timeout ->                /* nothing can happen any more */
        if
        :: OVER -> break
        :: else -> every_task_ends = false; assert(every_task_ends)
        fi
    od
}

/* The properties. A step here is possible only when one is broken. */

#define KEPT(t)        (!acked[t] || state[t] == COMPLETED)
#define ENDED_TWICE(t) (ends[t] > 1)
#define TOO_OFTEN(t)   (attempt[t] > 1 + MAX_RETRIES)
#define HAS_IT(t)      (state[t] != RUNNING || document == TOKEN(t, attempt[t]))
#define HOLDS(n)       (slept[n] || ((at[n] != WORKING || LIVE(task[n], mine[n])) && \
                                     (at[n] != OVERRUN || document == TOKEN(task[n], mine[n]))))

#define WATCH(is_broken, promise) :: d_step { (is_broken) -> promise = false; assert(promise) }

proctype watch()
{
end:
    if
    WATCH(!KEPT(0) || !KEPT(1) || !KEPT(2), G1_an_acknowledged_finish_is_kept)
    WATCH(forged || ENDED_TWICE(0) || ENDED_TWICE(1) || ENDED_TWICE(2),
          G2_only_the_current_token_finishes_and_once)
    WATCH(state[0] == RUNNING && state[1] == RUNNING, G3_one_lease_per_document)
    WATCH(!HOLDS(0) || !HOLDS(1), G3_work_holds_its_document)
    WATCH(TOO_OFTEN(0) || TOO_OFTEN(1) || TOO_OFTEN(2), I3_retries_are_limited)
    WATCH(!HAS_IT(0) || !HAS_IT(1), I5_the_document_is_with_who_runs)
    WATCH(running != ROWS_RUNNING, I7_counters_are_rows)
    fi
}

init
{
    atomic {
        state[0] = QUEUED;
        hint[0] = true;
        state[1] = SCHEDULED;
        state[2] = (TASKS > 2 -> QUEUED : COMPLETED);
        life[0] = UP; life[1] = UP;
        redis[0] = SEES; redis[1] = SEES;
        at[0] = IDLE; at[1] = IDLE;
        seat[0] = RESTING; seat[1] = RESTING;
        leading[0] = true;
        chief = 1;
        run watch();             /* first: `check` searches in this order, so it sees at once */
        run node(0); run node(1);
        run nature()
    }
}
