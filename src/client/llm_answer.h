/* client/llm_answer.h: what a language model's server sent, read into an answer.
 *
 * Bytes in, values out: no socket, no clock. An answer comes whole, as one JSON object, or as a
 * stream of server-sent events with a piece of it in each; both are read into a struct llm_reply.
 *
 * Thread: any; each struct belongs to one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_LLM_ANSWER_H
#define ERRAND_CLIENT_LLM_ANSWER_H

#include "base/buf.h"
#include "client/llm.h"

#define LLM_TOKENS_MAX  ((int64_t)1 << 40) /* a count beyond this is none */
#define LLM_REASON_MAX  200                /* bytes of a server's own words in an error */
#define LLM_REFUSAL_MAX (4 * KIB)

struct llm_reply {
    struct buf content;
    struct buf refusal; /* why the model declines, in its own words */
    int64_t prompt_tokens, completion_tokens, total_tokens;
    bool ended;    /* the model said that it has finished */
    bool cut_off;  /* … because of the limit of tokens */
    bool filtered; /* … because of somebody's rules */
};

void llm_reply_init(struct llm_reply *reply, size_t content_max);
void llm_reply_fini(struct llm_reply *reply);

/* Reads a whole answer. */
MUST_CHECK bool llm_reply_read(struct llm_reply *reply, struct str body, struct err *err);

/* Is there an answer in it? With `as_object` the content must be one JSON object; a Markdown fence
 * around it, which smaller models like to add, is left out. *out points into the reply. */
MUST_CHECK bool llm_reply_judge(const struct llm_reply *reply, bool as_object, struct str *out,
                                struct err *err);

struct llm_stream {
    struct llm_reply reply;
    struct buf line;                              /* the line so far */
    struct buf data;                              /* the event so far */
    bool done;                                    /* [DONE] was seen: what follows is not read */
    void (*on_text)(void *arg, struct str piece); /* NULL: nobody listens */
    void *arg;
};

void llm_stream_init(struct llm_stream *stream, size_t content_max);
void llm_stream_fini(struct llm_stream *stream);

/* Reads on, however the bytes were cut on their way. A stream that failed is not read further. */
MUST_CHECK bool llm_stream_take(struct llm_stream *stream, struct str bytes, struct err *err);

/* No more bytes will come. ERR_UNAVAILABLE: the answer was cut short. */
MUST_CHECK bool llm_stream_end(struct llm_stream *stream, struct err *err);

/* What a server says of a request that it did not answer: its own words, cleaned and short, "" if
 * there are none. */
void llm_reason(struct str body, char out[LLM_REASON_MAX + 1]);

#endif
