/* wire/faktory.h: the work protocol of Faktory, version 2: lines in, answers out.
 *
 * A command is one line, `VERB argument…`, ended by CRLF or a bare LF; most arguments are one JSON
 * object. Answers are simple strings, errors, bulks and the null bulk of RESP2, nothing else:
 * clients cut two bytes off blindly, read with fgets or stop at an array. What clients depend on is
 * told in docs/clients.md.
 *
 * Null stands for an absent field everywhere, unknown fields are passed over, wrong types are
 * errors. No sockets, no clock, no task: all of it is fuzzed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_FAKTORY_H
#define ERRAND_WIRE_FAKTORY_H

#include "wire/json.h"

#define FAKTORY_PORT          7419
#define FAKTORY_JID_MIN       8    /* characters; bytes, as everybody counts them */
#define FAKTORY_JID_MAX       1024 /* bytes: what a task's externalId holds */
#define FAKTORY_RETRIES       25
#define FAKTORY_RESERVE_S     1800
#define FAKTORY_RESERVE_MIN_S 60
#define FAKTORY_RESERVE_MAX_S 86400
#define FAKTORY_MESSAGE_MAX   1000 /* bytes, cut between characters */
#define FAKTORY_ERRTYPE_MAX   100
#define FAKTORY_BACKTRACE_MAX 50  /* lines */
#define FAKTORY_ECHO_MAX      120 /* bytes of what a client said, in an error */
#define FAKTORY_QUEUES_MAX    256 /* named by one FETCH or QUEUE */
#define FAKTORY_QUEUE_DEFAULT "default"
#define FAKTORY_UNIQUE_MAX_S  (10 * 366 * 86400LL)

/* ---- Lines ---- */

enum faktory_verb {
    FAKTORY_UNKNOWN,
    FAKTORY_HELLO,
    FAKTORY_PUSH,
    FAKTORY_PUSHB,
    FAKTORY_FETCH,
    FAKTORY_ACK,
    FAKTORY_FAIL,
    FAKTORY_BEAT,
    FAKTORY_INFO,
    FAKTORY_FLUSH,
    FAKTORY_MUTATE,
    FAKTORY_QUEUE,
    FAKTORY_TRACK,
    FAKTORY_BATCH,
    FAKTORY_END,
    FAKTORY_VERBS
};

struct faktory_line {
    enum faktory_verb verb;
    struct str word; /* the verb as it was said */
    struct str rest; /* behind the first space; "" when there is none */
};

/* The first line of the input without its end; *used: bytes with it. False: it is not whole yet.
 * The first `looked` bytes are known to hold no line end. */
MUST_CHECK bool faktory_cut(struct str input, size_t looked, struct str *line, size_t *used);
struct faktory_line faktory_line(struct str line);

/* The words of a text between single or several spaces; the number of them, at most `most`. */
size_t faktory_words(struct str text, struct str *out, size_t most);

/* ---- What clients say. Texts live in the line or the arena. ---- */

struct faktory_hello {
    struct str wid, hostname, pwdhash;
    int64_t v; /* 0: not said */
};
MUST_CHECK bool faktory_read_hello(struct str text, struct arena *arena, struct faktory_hello *out,
                                   struct err *err);

/* What Errand reads in a job's `custom`; the rest of it is the users' own. */
struct faktory_custom {
    struct str document_id, idempotency_key;
    struct str priority;   /* JSON: a word or a number; or absent */
    struct str depends_on; /* JSON: an array of strings, or one; or absent */
    struct str expires_at, unique_until;
    int64_t unique_for; /* seconds; 0: not unique */
};

struct faktory_job {
    struct str jid, jobtype, args, queue;  /* args: JSON, byte for byte */
    struct str at, created_at, custom;     /* absent when not given; custom: JSON */
    int64_t retry, reserve_for, backtrace; /* reserve_for 0: not given */
    int64_t at_ms;                         /* 0: not given */
    struct faktory_custom known;
};
MUST_CHECK bool faktory_read_job(struct str text, struct arena *arena, struct faktory_job *out,
                                 struct err *err);

/* A job of which only some fields are there, and none is checked. */
MUST_CHECK bool faktory_read_origin(struct str text, struct arena *arena, struct faktory_job *out);

/* Each member of `[{job},…]` as it stands. */
struct faktory_jobs {
    struct str *at;
    size_t count;
};
MUST_CHECK bool faktory_read_jobs(struct str text, struct arena *arena, struct faktory_jobs *out,
                                  struct err *err);

struct faktory_fail {
    struct str jid, message, errtype; /* trimmed and cut, never empty; jid: absent when not given */
    struct str backtrace;             /* JSON array of at most so many lines, or absent */
};
/* `text_max`: bytes of the backtrace. */
MUST_CHECK bool faktory_read_fail(struct str text, size_t text_max, struct arena *arena,
                                  struct faktory_fail *out, struct err *err);

MUST_CHECK bool faktory_read_ack(struct str text, struct arena *arena, struct str *jid,
                                 struct err *err);

struct faktory_beat {
    struct str wid, current_state;
    int64_t rss_kb;
};
MUST_CHECK bool faktory_read_beat(struct str text, struct arena *arena, struct faktory_beat *out,
                                  struct err *err);

struct faktory_track {
    struct str jid, desc, reserve_until;
    int64_t percent; /* negative: not given */
};
MUST_CHECK bool faktory_read_track(struct str text, struct arena *arena, struct faktory_track *out,
                                   struct err *err);

enum faktory_mutate { FAKTORY_CLEAR, FAKTORY_KILL, FAKTORY_DISCARD, FAKTORY_REQUEUE };
enum faktory_set { FAKTORY_SCHEDULED, FAKTORY_RETRIES_SET, FAKTORY_DEAD };
struct faktory_change {
    enum faktory_mutate cmd;
    enum faktory_set target;
    bool filtered;    /* else everything */
    struct str *jids; /* these alone */
    size_t jids_count;
    struct str regexp, jobtype; /* a glob over the job's text; both must fit; or absent */
};
MUST_CHECK bool faktory_read_mutate(struct str text, struct arena *arena,
                                    struct faktory_change *out, struct err *err);

bool faktory_queue_ok(struct str name); /* [a-zA-Z0-9._-]+ */

/* ---- Answers (faktory_out.c) ---- */

void faktory_ok(struct buf *out);
void faktory_null(struct buf *out);
void faktory_bulk(struct buf *out, struct str bytes);
/* "-CODE text": one line, whatever the text holds, and not too long. */
void faktory_error(struct buf *out, const char *code, struct str text);

/* The greeting: with a salt only where a password is asked for. */
void faktory_hi(struct buf *out, int64_t rounds, struct str salt);

/* A job as FETCH gives it out: one line, compact where it is ours, `args` as they came. */
struct faktory_failure {
    int64_t failed_at_ms, next_at_ms; /* 0: not known */
    int64_t retry_count, remaining;
    struct str message, errtype, backtrace; /* backtrace: JSON or absent */
};
struct faktory_told {
    struct str jid, queue, jobtype;
    struct str args; /* JSON array, or any JSON value, which becomes the only one; or absent */
    struct str created_at, at, custom; /* texts as the client said them, absent: `_ms` or none */
    int64_t created_ms, enqueued_ms;   /* enqueued_ms 0: not yet */
    int64_t retry, reserve_for, backtrace;
    const struct faktory_failure *failure; /* NULL: it has not failed */
};
void faktory_write_job(struct buf *out, const struct faktory_told *job);

/* JSON without blanks between its parts: what globs are held against. */
void faktory_compact(struct buf *out, struct str json);
/* The glob of Redis: * ? [a-c] [^x] \x, over the whole text. */
bool faktory_glob(struct str pattern, struct str text);

#endif
