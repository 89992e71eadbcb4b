/* client/llm.h: questions to a language model, by the OpenAI chat-completions protocol.
 *
 * One call is one question: tried again when the server is busy, broken or out of reach, within
 * one time limit for everything. The server is the one that the configuration names, so the guard
 * for strangers' URLs does not apply to it. Errors never show the key, nor what was asked.
 *
 * Thread: whoever opened it, one question at a time; a call blocks its thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_LLM_H
#define ERRAND_CLIENT_LLM_H

#include "base/arena.h"
#include "base/err.h"
#include "base/rand.h"

#define LLM_CONNECT_MS      (10 * SECOND_MS)
#define LLM_TOTAL_MS        (5 * MINUTE_MS)  /* one question with all its tries and waits */
#define LLM_IDLE_MS         (60 * SECOND_MS) /* a stream that is silent this long has stalled */
#define LLM_WAIT_MS         500 /* before the second try; doubles with each further one */
#define LLM_WAIT_MAX_MS     (20 * SECOND_MS) /* … up to this, unless the server names a time */
#define LLM_TRIES           4
#define LLM_ANSWER_MAX      (4 * MIB)
#define LLM_REQUEST_MAX     (16 * MIB)
#define LLM_SCHEMA_NAME_MAX 64

struct llm_limits { /* 0: the usual one above */
    int64_t connect_ms, total_ms, idle_ms;
    int64_t wait_ms, wait_max_ms;
    unsigned tries;
    size_t answer_max;
};

struct llm_options {
    struct str base_url; /* https://api.example.com/v1; "/chat/completions" is put behind it */
    struct str model;
    struct str api_key; /* sent as a bearer token; absent: none. See client/secret.h */
    const char *cacert; /* PEM file of authorities to trust; NULL: the system's */
    struct llm_limits limits;
};

struct llm;

/* Nothing is sent yet: a server that is away shows with the first question. */
MUST_CHECK bool llm_open(const struct llm_options *options, struct llm **out, struct err *err);
void llm_close(struct llm *llm); /* NULL is welcome */

enum llm_role { LLM_SYSTEM, LLM_USER, LLM_ASSISTANT };

MUST_CHECK bool llm_role_read(struct str name, enum llm_role *out); /* "system", "user", … */

struct llm_message {
    enum llm_role role;
    struct str content;
};

struct llm_question {
    const struct llm_message *messages;
    size_t count;
    struct str model;        /* absent: that of the options */
    struct str schema;       /* JSON Schema of the answer; absent: it is plain text */
    const char *schema_name; /* letters, digits, '_' and '-' */
    int64_t max_tokens;      /* 0: as many as the server likes */
    int64_t limit_ms;        /* 0: total_ms of the limits */
    const int *stop;         /* a descriptor: given up once it can be read; NULL: none */
    struct rand *rand;       /* spreads the waits; NULL: they are not spread */

    /* Not NULL: the answer is streamed, each piece given as it comes. Once a piece was given,
     * the question is not tried again. */
    void (*on_text)(void *arg, struct str piece);
    void *arg;
};

struct llm_answer {
    struct str content; /* in the arena; with a schema: one JSON object */
    bool cut_off;       /* the limit of tokens ended it */
};

/* What a question has cost. Calls add to it, also those that fail. */
struct llm_cost {
    int64_t queries;  /* questions that the model worked on: answered with 200 */
    int64_t requests; /* all that were sent, refused ones too */
    int64_t prompt_tokens, completion_tokens, total_tokens;
    int64_t retry_after_ms; /* not a sum: what the server last asked to wait; 0: nothing */
};

/* Asks. When it fails, the kind says what a caller can do about it:
 *   ERR_UNAVAILABLE  out of reach, broken (5xx), too slow, cut short, or given up: later
 *   ERR_BUSY         429, or told to wait longer than there is time: later, retry_after_ms says
 *   ERR_INVALID      what came is no answer: not JSON, of another shape, empty, against the
 *                    schema's being an object. The model may do better when asked again
 *   ERR_TOO_LARGE    the answer, or the question
 *   ERR_REFUSED      the server does not take the question (4xx), or the model declines */
MUST_CHECK bool llm_ask(struct llm *llm, const struct llm_question *question, struct arena *arena,
                        struct llm_answer *out, struct llm_cost *cost, struct err *err);

#endif
