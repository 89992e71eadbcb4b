/* net/faktory_session.c: one connection of a Faktory client: lines become ops, ops become answers.
 *
 * Thread: net loop. Keeps: answers go out in the order of their lines; what a client that does not
 * read can make us hold is bounded (OPS_MAX, OPS_BYTES, and what net/output.c keeps).
 *
 * SPDX-License-Identifier: MIT */
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>

#include "base/mem.h"
#include "net/faktory_parts.h"

#define ROUNDS_MIN  4000
#define ROUNDS_MORE 4096 /* as many more, at random */

/* ---- Ops ---- */

static void sent_back(struct api_sender *sender, struct command *command);

static bool is_end(const struct faktory_line *line)
{
    return line->verb == FAKTORY_ACK || line->verb == FAKTORY_FAIL;
}

static struct faktory_op *op_new(struct faktory_session *session, struct faktory_line line,
                                 size_t bytes)
{
    struct faktory *faktory = session->faktory;
    struct link *spare = list_first(&faktory->spare);
    struct faktory_op *op;
    if (spare != NULL) {
        op = HOLDER(spare, struct faktory_op, link);
        list_remove(spare);
        faktory->spare_count--;
    } else {
        op = mem_new(struct faktory_op);
    }
    op->sender.answered = sent_back;
    op->faktory = faktory;
    op->session = session;
    op->line = line;
    op->bytes = bytes;
    op->answer = STR_NONE;
    list_append(&session->ops, &op->link);
    session->ops_count++;
    session->ends_count += is_end(&line);
    session->ops_bytes += bytes;
    return op;
}

static void op_end(struct faktory_op *op)
{
    struct faktory *faktory = op->faktory;
    if (faktory->spare_count < OPS_SPARE && !faktory->stopped) {
        arena_clear(&op->arena);
        op->session = NULL;
        op->own = NULL;
        op->back = NULL;
        op->failure.kind = ERR_NONE;
        op->hangs_up = false;
        list_append(&faktory->spare, &op->link);
        faktory->spare_count++;
    } else {
        arena_fini(&op->arena);
        mem_free(op);
    }
}

/* ---- Answers ---- */

static void leave_session(struct faktory_op *op)
{
    struct faktory_session *session = op->session;
    list_remove(&op->link);
    session->ops_count--;
    session->ends_count -= is_end(&op->line);
    session->ops_bytes -= op->bytes;
}

/* Sends what is answered from the front on, in one piece. */
static void flush(struct faktory_session *session)
{
    struct faktory *faktory = session->faktory;
    struct connection *connection = session->connection;
    bool ends = false;
    buf_clear(&faktory->out);
    for (struct link *first; !ends && (first = list_first(&session->ops)) != NULL;) {
        struct faktory_op *op = HOLDER(first, struct faktory_op, link);
        if (str_absent(op->answer)) {
            break;
        }
        ends = op->hangs_up;
        leave_session(op);
        if (list_empty(&session->ops) && faktory->out.len == 0) {
            connection_say(connection, op->answer); /* the usual one, as it is */
        } else {
            buf_str(&faktory->out, op->answer);
        }
        op_end(op);
    }
    if (faktory->out.len > 0) {
        connection_say(connection, buf_view(&faktory->out));
    }
    if (faktory->out.cap > ANSWER_KEPT_MAX) {
        buf_fini(&faktory->out);
    }
    if (ends) {
        session->hanging_up = true;
        connection_hang_up(connection);
    } else if (list_empty(&session->ops)) {
        session->alone = session->blocked = false;
        connection_owes(connection, false);
    }
}

static void answer(struct faktory_op *op, struct str bytes)
{
    struct faktory_session *session = op->session;
    op->answer = bytes;
    if (session == NULL) {
        op_end(op);
    } else if (list_first(&session->ops) == &op->link) {
        flush(session);
    }
}

void op_ok(struct faktory_op *op)
{
    answer(op, STR("+OK\r\n"));
}

void op_null(struct faktory_op *op)
{
    answer(op, STR("$-1\r\n"));
}

void op_bulk(struct faktory_op *op, struct str bytes)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(SIZE_MAX / 2);
    faktory_bulk(&out, bytes);
    answer(op, arena_str(&op->arena, buf_view(&out)));
}

void op_error(struct faktory_op *op, const char *code, struct str text)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(4 * KIB);
    faktory_error(&out, code, text);
    answer(op, arena_str(&op->arena, buf_view(&out)));
}

void op_fail(struct faktory_op *op, const struct err *err)
{
    op_error(op, "ERR", str_of(err->text));
}

void op_ok_or_fail(struct faktory_op *op)
{
    if (op->failure.kind == ERR_NONE) {
        op_ok(op);
    } else {
        op_fail(op, &op->failure);
    }
}

/* ---- Questions ---- */

static void back(struct faktory_op *op, const struct err *err)
{
    if (err->kind != ERR_NONE && op->failure.kind == ERR_NONE) {
        op->failure = *err;
    }
    if (--op->pending == 0) {
        op->back(op);
    }
}

static void sent_back(struct api_sender *sender, struct command *command)
{
    back(HOLDER(sender, struct faktory_op, sender), &command->err);
}

struct command *op_command(struct faktory_op *op, enum command_kind kind)
{
    struct command *command = arena_new(&op->arena, struct command);
    command->kind = kind;
    op_give(op, command);
    return command;
}

void op_give(struct faktory_op *op, struct command *command)
{
    command->arena = &op->arena;
    command->sender = &op->sender;
    op->pending++;
    api_give(op->faktory->options.api, command);
}

static void asked_back(struct query *query)
{
    back(query->sender, &query->err);
}

struct query *op_query(struct faktory_op *op, enum query_kind kind)
{
    struct query *query = arena_new(&op->arena, struct query);
    query->kind = kind;
    query->arena = &op->arena;
    query->sender = op;
    query->answered = asked_back;
    return query;
}

void op_ask(struct faktory_op *op, struct query *query)
{
    op->pending++;
    query->err = ERR_INIT;
    if (!api_ask(op->faktory->options.api, query)) {
        err_set(&query->err, ERR_UNAVAILABLE, "shutdown in progress");
        asked_back(query);
    }
}

struct query *op_list(struct faktory_op *op, unsigned states, size_t limit)
{
    struct query *query = op_query(op, QUERY_LIST);
    query->filter = (struct task_filter){.states = states, .limit = limit};
    return query;
}

/* Many clients' jids look like ids: those are looked for first. */
static void found_back(struct query *query)
{
    struct faktory_op *op = query->sender;
    bool none = query->err.kind == ERR_NONE && query->rows.count == 0;
    if (query->kind == QUERY_LIST && none && id_parse(query->filter.external_id, &query->id)) {
        query->kind = QUERY_DETAIL;
        if (api_ask(op->faktory->options.api, query)) {
            return;
        }
        query->kind = QUERY_LIST;
    }
    back(op, &query->err);
}

struct query *op_find(struct faktory_op *op, struct str jid, unsigned states, size_t limit)
{
    struct query *query = op_list(op, states, limit);
    query->filter.external_id = jid;
    query->answered = found_back;
    op_ask(op, query);
    return query;
}

size_t op_found(const struct query *query, const struct task **out, size_t most)
{
    size_t n = 0;
    if (query->err.kind != ERR_NONE) {
        return 0;
    }
    if (query->kind == QUERY_DETAIL) {
        unsigned states = query->filter.states;
        const struct task *task = &query->detail.task;
        if (query->found && (states == 0 || states & 1u << task->state) && most > 0) {
            out[n++] = task;
        }
        return n;
    }
    for (size_t i = 0; i < query->rows.count && n < most; i++) {
        out[n++] = &query->rows.at[i].task;
    }
    return n;
}

/* ---- HELLO ---- */

void faktory_hash(struct str password, struct str salt, int64_t rounds,
                  char out[static FAKTORY_HASH_TEXT])
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    SCOPED(buf_fini) struct buf first = BUF_INIT(SIZE_MAX / 2);
    buf_str(&first, password);
    buf_str(&first, salt);
    SHA256((const unsigned char *)buf_view(&first).ptr, first.len, hash);
    for (int64_t i = 1; i < rounds; i++) {
        SHA256(hash, sizeof hash, hash);
    }
    for (size_t i = 0; i < sizeof hash; i++) {
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
    }
    OPENSSL_cleanse(first.ptr, first.len);
}

/* A client that names no version, or an old one, hashes once. */
static bool knows_password(const struct faktory_session *session, const struct faktory_hello *hello)
{
    char wanted[FAKTORY_HASH_TEXT];
    if (session->rounds == 0) {
        return true;
    }
    faktory_hash(session->faktory->options.password, str_of(session->salt),
                 hello->v < 2 ? 1 : session->rounds, wanted);
    return hello->pwdhash.len == FAKTORY_HASH_TEXT - 1 &&
           CRYPTO_memcmp(hello->pwdhash.ptr, wanted, FAKTORY_HASH_TEXT - 1) == 0;
}

static bool check_hello(struct faktory_session *session, const struct faktory_line *line,
                        struct arena *arena, struct faktory_hello *hello, struct err *err)
{
    const struct faktory_options *options = &session->faktory->options;
    size_t siblings = connection_siblings(session->connection);
    if (line->verb != FAKTORY_HELLO || line->rest.len == 0 || line->rest.ptr[0] != '{') {
        return err_set(err, ERR_INVALID, "a connection begins with HELLO {…}");
    }
    if (!faktory_read_hello(line->rest, arena, hello, err)) {
        return false;
    }
    if (!knows_password(session, hello)) {
        return err_set(err, ERR_DENIED, "Invalid password");
    }
    if (connection_ending(session->connection)) {
        return err_set(err, ERR_UNAVAILABLE, "shutdown in progress");
    }
    if (siblings > options->connections_max) {
        return err_set(err, ERR_BUSY, "too many connections: %zu", siblings);
    }
    return (hello->wid.len <= TASK_WORKER_MAX && !task_worker_reserved(hello->wid) &&
            !str_has_control(hello->wid)) ||
           err_field(err, "wid",
                     "wid must have at most %d bytes, no control characters, and must not begin "
                     "with errand:",
                     TASK_WORKER_MAX);
}

static void greet(struct faktory_op *op)
{
    struct faktory_session *session = op->session;
    struct faktory_hello hello = {0};
    struct err err = ERR_INIT;
    if (!check_hello(session, &op->line, &op->arena, &hello, &err)) {
        op->hangs_up = true;
        op_fail(op, &err);
        return;
    }
    session->worker = worker_join(session->faktory, hello.wid, session);
    op_ok(op);
}

/* ---- Verbs ---- */

static void op_end_session(struct faktory_op *op)
{
    op->hangs_up = true;
    answer(op, STR(""));
}

static void op_unknown(struct faktory_op *op)
{
    struct str word = op->line.word;
    word.len = MIN(word.len, (size_t)FAKTORY_ECHO_MAX);
    op_error(op, "ERR", arena_printf(&op->arena, "unknown command " STR_FMT, STR_ARG(word)));
}

static void op_batch(struct faktory_op *op)
{
    op_error(op, "ERR", STR("BATCH is only available in Faktory Enterprise"));
}

static const struct verb {
    void (*run)(struct faktory_op *op);
    bool beside; /* may run beside others of its session */
    bool needs;  /* an argument */
    bool drains; /* also while the server ends: it says what became of a job */
} verbs[FAKTORY_VERBS] = {
    [FAKTORY_UNKNOWN] = {.run = op_unknown, .beside = true},
    [FAKTORY_HELLO] = {.run = op_unknown, .beside = true},
    [FAKTORY_PUSH] = {.run = op_push, .beside = true, .needs = true},
    [FAKTORY_PUSHB] = {.run = op_pushb, .beside = true, .needs = true},
    [FAKTORY_FETCH] = {.run = op_fetch},
    [FAKTORY_ACK] = {.run = op_ack, .beside = true, .needs = true, .drains = true},
    [FAKTORY_FAIL] = {.run = op_fail_job, .beside = true, .needs = true, .drains = true},
    [FAKTORY_BEAT] = {.run = op_beat, .needs = true},
    [FAKTORY_INFO] = {.run = op_info},
    [FAKTORY_FLUSH] = {.run = op_flush},
    [FAKTORY_MUTATE] = {.run = op_mutate, .needs = true},
    [FAKTORY_QUEUE] = {.run = op_queue, .needs = true},
    [FAKTORY_TRACK] = {.run = op_track, .needs = true},
    [FAKTORY_BATCH] = {.run = op_batch, .beside = true},
    [FAKTORY_END] = {.run = op_end_session},
};

static void run(struct faktory_op *op)
{
    const struct verb *verb = &verbs[op->line.verb];
    if (connection_ending(op->session->connection) && !verb->drains) {
        op->hangs_up = true;
        op_error(op, "ERR", STR("shutdown in progress"));
    } else if (verb->needs && op->line.rest.len == 0) {
        op_error(op, "ERR",
                 arena_printf(&op->arena, STR_FMT " needs an argument", STR_ARG(op->line.word)));
    } else {
        verb->run(op);
    }
}

/* ---- The protocol ---- */

static void *begin(void *arg, struct connection *connection)
{
    struct faktory *faktory = arg;
    struct faktory_session *session = mem_new(struct faktory_session);
    *session = (struct faktory_session){.faktory = faktory, .connection = connection};
    list_init(&session->ops);
    if (!str_absent(faktory->options.password)) {
        session->rounds = ROUNDS_MIN + (int64_t)rand_below(&faktory->rand, ROUNDS_MORE);
        snprintf(session->salt, sizeof session->salt, "%016llx",
                 (unsigned long long)(rand_u64(&faktory->rand) >> 1));
    }
    SCOPED(buf_fini) struct buf hi = BUF_INIT(256);
    faktory_hi(&hi, session->rounds, session->rounds == 0 ? STR_NONE : str_of(session->salt));
    connection_say(connection, buf_view(&hi));
    return session;
}

static void refuse_line(struct faktory_session *session)
{
    struct faktory_op *op = op_new(session, (struct faktory_line){0}, 0);
    session->alone = true;
    op->hangs_up = true;
    op_error(op, "ERR", STR("line too long"));
}

static size_t take(void *arg, struct str input)
{
    struct faktory_session *session = arg;
    struct faktory *faktory = session->faktory;
    struct str text;
    size_t used;
    bool whole = faktory_cut(input, session->looked, &text, &used);
    if ((whole ? text.len : input.len) > faktory->options.line_max) {
        refuse_line(session);
        return 0;
    }
    if (!whole) {
        session->looked = input.len;
        return 0;
    }
    struct faktory_line line = faktory_line(text);
    /* What depends on other jobs must see those that were pushed before it on this connection. */
    bool depends = memmem(line.rest.ptr, line.rest.len, "depends_on", 10) != NULL;
    bool beside = session->worker != NULL && verbs[line.verb].beside && !depends;
    /* A worker that ends one job and fetches the next in one breath needs one commit for both. */
    bool follows = line.verb == FAKTORY_FETCH && session->ends_count == session->ops_count;
    if (!beside && !follows && !list_empty(&session->ops)) {
        session->blocked = true;
        return 0;
    }
    session->looked = 0;
    faktory->commands++;
    struct faktory_op *op = op_new(session, line, used);
    op->line = faktory_line(arena_str(&op->arena, text));
    session->alone = !beside;
    connection_owes(session->connection, true);
    if (session->worker == NULL) {
        greet(op);
    } else {
        run(op);
    }
    return used;
}

static bool full(const void *arg)
{
    const struct faktory_session *session = arg;
    return session->alone || session->blocked || session->hanging_up ||
           session->ops_count >= OPS_MAX || session->ops_bytes >= OPS_BYTES;
}

static bool known(const void *arg)
{
    return ((const struct faktory_session *)arg)->worker != NULL;
}

/* Whether somebody still listens cannot be known: a FETCH that waits gets nothing any more. */
static void half(void *arg)
{
    struct faktory_session *session = arg;
    session->half = true;
    LIST_EACH(&session->ops, it)
    {
        fetch_stop(HOLDER(it, struct faktory_op, link));
    }
}

static void gone(void *arg)
{
    struct faktory_session *session = arg;
    LIST_EACH(&session->ops, it)
    {
        struct faktory_op *op = HOLDER(it, struct faktory_op, link);
        leave_session(op);
        op->session = NULL;
        if (str_absent(op->answer)) {
            fetch_stop(op);
        } else {
            op_end(op);
        }
    }
    if (session->worker != NULL) {
        worker_leave(session->faktory, session);
    }
    mem_free(session);
}

const struct protocol faktory_protocol = {
    .begin = begin, .take = take, .full = full, .known = known, .half = half, .gone = gone};

/* ---- Life ---- */

struct faktory *faktory_start(const struct faktory_options *options, uv_loop_t *loop)
{
    struct faktory *faktory = mem_new(struct faktory);
    faktory->options = *options;
    faktory->loop = loop;
    faktory->workers = faktory->leases = MAP_INIT;
    faktory->blank = job_blank();
    faktory->out = BUF_INIT(SIZE_MAX / 2);
    list_init(&faktory->all_workers);
    list_init(&faktory->resting);
    list_init(&faktory->spare);
    rand_init(&faktory->rand);
    uv_timer_init(loop, &faktory->rest_timer);
    uv_timer_init(loop, &faktory->sweep_timer);
    faktory->rest_timer.data = faktory->sweep_timer.data = faktory;
    return faktory;
}

void faktory_stop(struct faktory *faktory)
{
    if (faktory == NULL || faktory->stopped) {
        return;
    }
    faktory->stopped = true;
    uv_close((uv_handle_t *)&faktory->rest_timer, NULL);
    uv_close((uv_handle_t *)&faktory->sweep_timer, NULL);
}

void faktory_free(struct faktory *faktory)
{
    if (faktory == NULL) {
        return;
    }
    LIST_EACH(&faktory->spare, it)
    {
        struct faktory_op *op = HOLDER(it, struct faktory_op, link);
        arena_fini(&op->arena);
        mem_free(op);
    }
    map_fini(&faktory->workers);
    map_fini(&faktory->leases);
    arena_fini(&faktory->removed_arena);
    buf_fini(&faktory->out);
    mem_free(faktory);
}
