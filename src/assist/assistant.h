/* assist/assistant.h: what a text means for a user's schedules: a new one, changes, or a refusal.
 *
 * The built-in grammar answers at once. The language model, where there is one, is asked with the
 * user's schedules and the conversation; the same checks that every client meets judge its answer,
 * and what they refuse is asked again once, with the reason. Nothing is changed here: what was
 * decided is done by the planner.
 *
 * Thread: any. Keeps nothing and asks no clock.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ASSIST_ASSISTANT_H
#define ERRAND_ASSIST_ASSISTANT_H

#include "client/llm.h"
#include "english/edit.h"
#include "schedule/schedule_plan.h"

#define ASSISTANT_SCHEDULES_MAX  1000             /* of one user that are looked at */
#define ASSISTANT_SHOWN_MAX      100              /* of them that the model is shown */
#define ASSISTANT_CANDIDATES_MAX 10               /* named in a refusal */
#define ASSISTANT_QUESTION_MS    (20 * SECOND_MS) /* then the model is taken to be away */
#define ASSISTANT_TRIES          2                /* of one question, when the model is away */

struct assistant_asked {
    struct str text;
    int64_t now_ms;
    struct str timezone;              /* of the user; absent: that of all their schedules, or UTC */
    struct str chat;                  /* "it" is the only schedule of this chat; absent: none */
    struct str messages;              /* the conversation, an array; absent: none */
    bool only_new;                    /* it must be a new schedule */
    const struct schedule *schedules; /* the user's, those that have not ended */
    size_t count;
    struct zones *zones;
    struct plan_limits limits;
};

enum assistant_mode { ASSISTANT_REFUSAL, ASSISTANT_CREATION, ASSISTANT_UPDATE };

/* What becomes of one of them. */
struct assistant_edit {
    size_t which;    /* of the schedules asked */
    enum edit_op op; /* RESCHEDULE, RENAME, SKIP_NEXT and SKIP are changes */
    struct schedule_change change;
    int64_t until_ms; /* PAUSE_UNTIL */
};

/* All texts live in the arena or borrow from what was asked. */
struct assistant_said {
    enum assistant_mode mode;
    struct schedule schedule;     /* CREATION: what it says, settled; who it is for is not in it */
    struct assistant_edit *edits; /* UPDATE */
    size_t edits_count;
    struct english_refusal refusal;
    size_t *candidates; /* REFUSAL: of the schedules that may have been meant */
    size_t candidates_count;
    const struct english_word *words; /* of a new one: what each was taken for by the grammar */
    size_t words_count;
};

const char *assistant_mode_name(enum assistant_mode mode); /* "TASK_CREATION" … */

/* By the built-in grammar. Never fails: what it does not understand it refuses. */
void assistant_read(const struct assistant_asked *asked, struct arena *arena,
                    struct assistant_said *out);

/* By the model. False: it is away, or makes no sense at all; then the grammar must do. `step` is
 * told what is going on and may be NULL. */
struct assistant_model {
    const struct llm_options *llm;
    const int *stop; /* a descriptor: given up once it can be read; NULL: none */
    void (*step)(void *arg, const char *text);
    void *arg;
};
MUST_CHECK bool assistant_ask(const struct assistant_model *model,
                              const struct assistant_asked *asked, struct arena *arena,
                              struct assistant_said *out, struct err *err);

#endif
