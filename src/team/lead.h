/* team/lead.h: the lead of every team: splits, hands out, hears of ends, puts results together.
 *
 * A guest of the engine (queue/guest.h): a team and its tasks are written in one transaction, and
 * so is what the end of a task means for its team. Nothing of a team lives in memory. In-server
 * teammates are the crew's (work/); agents outside claim tasks of the team's queue.
 *
 * Clients' wishes come as commands (COMMAND_GUEST): lead_ask() makes one of a `struct lead_order`.
 * Lists and details are read by the reader threads (store/record.h).
 *
 * Thread: engine, but for lead_new(), lead_free() and lead_ask().
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TEAM_LEAD_H
#define ERRAND_TEAM_LEAD_H

#include "queue/guest.h"
#include "team/message.h"
#include "team/team.h"

#define TEAM_TASK_TIMEOUT_MS                                                                       \
    HOUR_MS /* agents think for long; their leases say whether they live                           \
             */

struct lead;

/* What whoever works on the tasks of teams inside this server is told, once it is committed. The
 * taker frees it with mem_free(). */
enum team_news_kind {
    TEAM_BEGAN, /* or is found running when this node begins to lead; may be said again */
    TEAM_ENDED,
    TEAM_LEADS, /* this node: only one node's teammates work, and only on teams named from now on */
    TEAM_FOLLOWS
};

#define TEAM_QUEUE_MAX 32 /* bytes of "team/1000" and more */

struct team_news {
    struct link link;
    enum team_news_kind kind;
    struct task_id team; /* BEGAN, ENDED */
    char queue[TEAM_QUEUE_MAX];
    size_t mates;
};

struct lead_options {
    bool decides;         /* there is a language model, and somebody who asks it */
    int64_t retention_ms; /* how long an ended team is kept; 0: for ever */
    bool shared;          /* other nodes write to the same store */
    bool is_told;         /* ... and the engine says when to look at it: no polling */
    struct channel *news; /* takes team_news; NULL: nobody works on teams in here */
};

struct lead *lead_new(const struct lead_options *options);
void lead_free(struct lead *lead); /* NULL is welcome */
struct guest *lead_guest(struct lead *lead);
bool lead_decides(const struct lead *lead); /* any thread */

/* What was done for teams on this node since its start; for /metrics. */
struct lead_figures {
    uint64_t ended[TEAM_STATUSES]; /* by how they ended */
    uint64_t turns;                /* attempts that ended, of teammates in here and outside */
    double tokens;                 /* that these said they used */
};
/* Answered like any command, with *out filled. */
void lead_ask_figures(struct lead *lead, struct command *command, struct lead_figures *out);

/* ---- Wishes ---- */

enum lead_verb {
    LEAD_CREATE, /* `team`, checked; out: as it was saved */
    LEAD_END,    /* cancels a team that runs; removes one that has ended: `removed` */
    LEAD_SAY,    /* `message`; out: with its id */
    LEAD_LOOK,   /* out: the team, and with an `agent` what is in its mailbox */
    LEAD_VERBS
};

struct lead_order {
    enum lead_verb verb;
    struct task_id id; /* of the team; not of CREATE */
    struct team team;  /* CREATE: in. CREATE, END, LOOK: out */
    struct team_message message;
    bool removed; /* out of END */
    struct str agent;
    struct team_message *mail; /* out of LOOK, in order */
    size_t mail_count;
};

/* Turns a command of the caller's into that wish. A team that is not there is ERR_NOT_FOUND, one
 * that has ended and cannot be spoken to ERR_CONFLICT, too many of anything ERR_BUSY. */
void lead_ask(struct lead *lead, struct command *command, struct lead_order *order);

/* The topic of a team's events, and whether the event of that name is its last. */
struct str lead_topic(struct task_id team, struct arena *arena);
bool lead_is_last(struct str event_name);

/* Events as the stream tells them, also to those who come later. */
struct str lead_task_event(const struct team *team, size_t place, struct str agent,
                           const struct task *task, struct arena *arena);
struct str lead_tasks_event(const struct team *team, struct arena *arena);
struct str lead_mates_event(const struct team *team, struct arena *arena);
struct str lead_end_event(const struct team *team, struct arena *arena);

/* Who works on a task: an agent's name, or that of a teammate inside; absent: nobody. */
struct str lead_worker(const struct team *team, const struct task *task, struct arena *arena);
/* The place of the teammate inside that has or had the task; SIZE_MAX: none of them. */
size_t lead_mate(const struct team *team, const struct task *task);

#endif
