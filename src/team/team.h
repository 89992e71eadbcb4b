/* team/team.h: a team: a prompt, who works on it, and the tasks it was split into.
 *
 * A team is a record (store/record.h). Its tasks are ordinary tasks with `task.team` set, in a
 * queue that belongs to the team while it runs; what they have come to is read from them, not from
 * here. Clients give tasks names of their own (`ref`), by which they depend on each other.
 *
 * Thread: any. Plain structs; texts are borrowed from the arena they were read into.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TEAM_TEAM_H
#define ERRAND_TEAM_TEAM_H

#include "store/record.h"
#include "task/reserved.h"
#include "wire/form.h"

#define TEAM_TASKS_MAX       50
#define TEAM_MATES_MAX       16
#define TEAM_PROMPT_MAX      (64 * KIB)
#define TEAM_MODEL_MAX       256
#define TEAM_ROLE_MAX        128
#define TEAM_FOCUS_MAX       (4 * KIB)
#define TEAM_REF_MAX         64
#define TEAM_TITLE_MAX       256
#define TEAM_DESCRIPTION_MAX (16 * KIB)
#define TEAM_RESULT_MAX      MIB
#define TEAMS_RUNNING_MAX    1000 /* at once, each with a queue of its own */
#define TEAM_MATES_DEFAULT   3    /* where there is a language model and nobody was named */

#define TEAM_TASK_TYPE      RESERVED_TEAM_TYPE "task"
#define TEAM_SPLIT_TYPE     RESERVED_TEAM_TYPE "split"
#define TEAM_SYNTHESIS_TYPE RESERVED_TEAM_TYPE "synthesis"
#define TEAM_HOLD_TYPE      RESERVED_TEAM_TYPE "document" /* has the team's document while it runs */

enum team_status { TEAM_RUNNING, TEAM_COMPLETED, TEAM_FAILED, TEAM_CANCELLED, TEAM_STATUSES };
extern const char *const team_statuses[];

enum team_policy { TEAM_FAIL, TEAM_CONTINUE }; /* when one of its tasks has failed */
extern const char *const team_policies[];

struct team_mate {
    struct str role, focus; /* focus absent: none */
};

struct team_task {
    struct str ref, title, description, document; /* the last two absent: none */
    struct task_id task;                          /* none: not created yet */
    struct form_texts depends_on;                 /* refs, as given */
    size_t *needs; /* the same as places among the tasks; team_tasks_check() fills it */
};

struct team_tasks {
    struct team_task *at;
    size_t count;
};

struct team_mates {
    struct team_mate *at;
    size_t count;
};

struct team {
    struct task_id id;
    struct str prompt, model, document; /* the last two absent: none */
    struct team_mates mates;
    struct team_tasks tasks;
    int policy;   /* enum team_policy */
    bool decides; /* a language model splits (where tasks were not given) and joins */
    struct task_id split, synthesis; /* the tasks of the lead; none: not needed */
    struct task_id hold; /* has the document for all of them; none: there is no document */
    struct task_id turn; /* stands in the document's line for it; none: it has been its turn */

    int status;                      /* enum team_status */
    struct str result;               /* JSON, or absent */
    struct str error_code, error;    /* why it failed; absent: it has not */
    int64_t created_ms, finished_ms; /* 0: not yet */
    int64_t expires_ms;              /* when it is removed by itself; 0: never */
    struct str queue;                /* of its tasks */
    int64_t version;
};
#define TEAM_INIT ((struct team){.policy = TEAM_FAIL})

/* What comes from clients and models. Refusals name the field: "tasks[2].title". */
MUST_CHECK bool team_tasks_read(struct json *json, struct team_tasks *out, struct err *err);
MUST_CHECK bool team_mates_read(struct json *json, struct team_mates *out, struct err *err);

/* From one to TEAM_TASKS_MAX, refs unique, dependencies known and without a cycle; fills `needs`.
 */
MUST_CHECK bool team_tasks_check(struct team_tasks *tasks, struct arena *arena, struct err *err);

/* The mailbox of a teammate inside the server: its role, with a number when others have it too. */
struct str team_mate_name(const struct team *team, size_t mate, struct arena *arena);

/* The place of a task among the team's; team->tasks.count: it is none of them. */
size_t team_place(const struct team *team, struct task_id task);

/* An agent outside: what a worker may be called, and not like the server's own. */
bool team_agent_ok(struct str name);
#define TEAM_AGENT_RULE                                                                            \
    "must be 1 to 256 bytes without control characters, and not begin with errand:"

/* What clients give for a team, one of its tasks and a teammate. */
extern const struct form team_request, team_task_request, team_mate_request;

/* As a record and back. */
MUST_CHECK bool team_load(const struct record *record, struct arena *arena, struct team *out,
                          struct err *err);
struct record team_record(const struct team *team, struct arena *arena);

void team_tasks_write(struct json_writer *w, const struct team_tasks *tasks); /* an array */
MUST_CHECK bool team_tasks_load(struct str text, struct arena *arena, struct team_tasks *out,
                                struct err *err); /* what that wrote */
void team_mates_write(struct json_writer *w, const struct team_mates *mates);

#endif
