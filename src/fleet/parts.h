/* fleet/parts.h: what the files of fleet/ share and nobody else sees.
 *
 * Thread: the fleet's, where nothing else is said.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_FLEET_PARTS_H
#define ERRAND_FLEET_PARTS_H

#include <pthread.h>

#include "base/buf.h"
#include "base/channel.h"
#include "client/redis.h"
#include "fleet/fleet.h"
#include "fleet/note.h"
#include "store/fleet.h"

/* A command on its way to the engine and back; freed when it returns. */
struct sent {
    struct command command;
    struct arena arena;
};

/* A note on its way to the others. */
struct outgoing {
    struct link link;
    struct buf text;
};

/* Names by their hashes: two that collide only make an orphan live longer. */
struct names {
    uint64_t *at;
    size_t count, room;
};

struct walk { /* over QUEUED rows and held documents, a page at a time */
    bool under_way;
    bool refill;          /* the broker had lost everything: it is told when this is done */
    struct task_id after; /* of the QUEUED rows */
    char document[TASK_DOCUMENT_MAX + 1];
    bool documents_done; /* they come first: no hint may come forward whose document is held */
    int64_t next_ms;
};

/* What each other node has done since its start, as it was told last. */
struct tally {
    struct tally_node {
        uint64_t id; /* a hash */
        struct series_sums told;
        bool is_here;
    } * nodes;
    size_t count, room;
    bool begun; /* who was there before us is counted from then on */
};

struct fleet {
    struct fleet_options with;
    struct arena arena; /* of the options' texts and channel names */
    struct str events_channel, wake_channel, leader_key, probe_key;

    struct steward *steward; /* NULL while the store cannot be reached */
    struct redis *redis;     /* NULL: none configured */
    struct redis_subscriber *subscriber;
    struct broker *broker; /* our own look at what the engine's broker shares */

    pthread_t thread;
    bool started;
    _Atomic bool quiet; /* it drains: it leads no more */
    _Atomic bool stop;
    _Atomic bool greets;             /* the others are to be told that we listen */
    _Atomic int64_t others_heard_ms; /* when another node last said something; 0: never */
    int wake_fd, joined_fd;
    struct channel returned; /* commands from the engine: struct sent */
    struct channel outbox;   /* struct outgoing */
    struct sent *waking;     /* queues in which we offered something; NULL: none */
    struct str *waking_queues;
    _Atomic size_t outbox_count;

    uint64_t epoch;       /* of our leadership; 0: we do not lead */
    bool key_ours;        /* the key in Redis was, when we last looked */
    int64_t look_next_ms; /* monotonic, like those that follow */
    int64_t lead_next_ms, beat_next_ms, hear_next_ms, due_next_ms;
    int64_t empty_since_ms; /* 0: the broker is filled */
    struct walk walk;
    struct names held, suspects; /* documents: by the store in this walk; orphans of the last one */
    size_t held_last;            /* as many were held then */
    int64_t orphans_next_ms;     /* monotonic */
    uint64_t heard_number;       /* of the last message read from the store */
    bool joined;                 /* the first tick is over */
    bool heard_begun;            /* older ones are not for us */
    bool census_out;             /* a question to the engine is under way */
    enum broker_health engine_sees; /* its broker, as it last said, or was told since */
    bool layouts_differ;      /* another node keeps its hints elsewhere: an upgrade is under way */
    bool tidy;                /* nothing of an older layout is left in Redis */
    bool engine_holds;        /* its answer: it starts nothing since the store failed over */
    int64_t line;             /* its answer: as queue_load.line */
    uint64_t history;         /* of the store, as the last heartbeat met it */
    uint64_t elsewhere_hash;  /* of what the engine was told last */
    struct fleet_clock clock; /* as it was compared last */
    bool store_away;          /* the last heartbeat did not reach it */
    struct buf census;        /* the last answer: lines of JSON */
    struct steward_stamp tokens; /* as they were told last */
    struct tally tally;
    struct series_sums own_done;  /* by this node since its start, as the engine last said */
    struct series_sums done_told; /* as that was when the engine was told of the others */

    pthread_mutex_t lock; /* guards what follows, for askers on other threads */
    struct fleet_status status;
    struct buf nodes, workers; /* JSON of the others */
    bool other_blind;          /* another node does not reach the broker */
    struct note_memory heard_notes;
};

static inline int64_t fleet_now_ms(void)
{
    return clock_real_mono_us() / 1000;
}

/* fleet.c */
MUST_CHECK bool fleet_open(const struct fleet_options *options, struct fleet **out,
                           struct err *err); /* without its threads; ended by fleet_free() */
/* All that is to be done now. What others are to be told goes out at once, however often it is
 * called; everything else waits for its time, a quarter of a second at most. */
void fleet_tick(struct fleet *fleet, int64_t now_ms);
bool fleet_is_alone(struct fleet *fleet); /* no other node listens; any thread */
void fleet_poke(void *fleet);             /* it looks what there is to do; any thread */
struct sent *fleet_order(struct fleet *fleet, enum command_kind kind); /* any thread */
void fleet_send(struct fleet *fleet, struct sent *sent);               /* any thread */
bool fleet_redis_up(const struct fleet *fleet);
enum broker_health fleet_broker_health(const struct fleet *fleet); /* for this node as a whole */

/* lead.c */
void lead_tick(struct fleet *fleet, int64_t now_ms);
void lead_resign(struct fleet *fleet);

/* roster.c */
void roster_tick(struct fleet *fleet, int64_t now_ms);
void roster_ask_engine(struct fleet *fleet);
void roster_answered(struct fleet *fleet, struct sent *sent);

/* tally.c: what the others did since the last heartbeat */
void tally_note(struct tally *tally, struct str node, const struct series_sums *told,
                struct series_sums *fresh);
void tally_end(struct tally *tally); /* all have been noted: the others are gone */

/* walk.c: what others left behind */
void walk_tick(struct fleet *fleet, int64_t now_ms);

/* bus.c */
MUST_CHECK bool bus_start(struct fleet *fleet, struct err *err);
void bus_stop(struct fleet *fleet);
void bus_send(struct fleet *fleet); /* what was told since */
void bus_tick(struct fleet *fleet, int64_t now_ms);
void bus_wake_later(struct fleet *fleet, struct str queue); /* our own claims, by bus_wake() */
void bus_wake(struct fleet *fleet);

#endif
