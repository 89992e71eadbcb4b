/* store/postgres/pg.c: connects, waits, runs pipelines, and says what went wrong. See pg.h.
 *
 * Thread: whoever owns the struct.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/pg.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#define CONNECT_MAX_US  (10 * 1000000) /* one attempt, all its addresses and TLS included */
#define ANSWER_MAX_US   (20 * 1000000) /* statements end before by themselves: limits */
#define PAUSE_MIN_US    100000         /* before the second attempt; doubles up to the next */
#define PAUSE_MAX_US    2000000
#define SEVERITY_END    ":  " /* of a message of the server; its SQLSTATE follows */
#define SQLSTATE_LEN    5
#define PAUSE_DOUBLINGS 5
#define TEXT_MAX        (64 * KIB) /* of a statement with its suffix */

/* What a url may leave out. A peer that went silent is noticed after some seconds. */
static const char *const defaults[][2] = {
    {"fallback_application_name", "errand"},
    {"connect_timeout", "5"},
    {"client_encoding", "UTF8"},
    {"keepalives", "1"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "15000"},
    {"target_session_attrs", "read-write"},
};

static bool address_has(const struct pg_address *address, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(address->keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static void address_set(struct pg_address *address, size_t *n, const char *key, const char *value)
{
    address->keys[*n] = mem_text(key, strlen(key));
    address->values[*n] = mem_text(value, strlen(value));
    ++*n;
}

/* What libpq says of a url that it cannot read may hold a password: it is not passed on. */
bool pg_address_parse(struct str url, struct pg_address *out, struct err *err)
{
    SCOPED(mem_free_at) char *text = mem_text(url.ptr, url.len);
    char *why = NULL;
    size_t room = ARRAY_LEN(defaults) + 1, n = 0;
    PQconninfoOption *options = PQconninfoParse(text, &why);
    PQfreemem(why);
    if (options == NULL || memchr(url.ptr, '\0', url.len) != NULL) {
        PQconninfoFree(options);
        return err_field(err, "store", "is not a postgres:// url that libpq can read");
    }
    for (PQconninfoOption *option = options; option->keyword != NULL; option++) {
        room++;
    }
    out->keys = mem_zero(room * sizeof *out->keys);
    out->values = mem_zero(room * sizeof *out->values);
    for (PQconninfoOption *option = options; option->keyword != NULL; option++) {
        if (option->val != NULL) {
            address_set(out, &n, option->keyword, option->val);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        if (!address_has(out, n, defaults[i][0])) {
            address_set(out, &n, defaults[i][0], defaults[i][1]);
        }
    }
    PQconninfoFree(options);
    return true;
}

void pg_address_fini(struct pg_address *address)
{
    for (size_t i = 0; address->keys != NULL && address->keys[i] != NULL; i++) {
        mem_free((char *)address->keys[i]);
        mem_free((char *)address->values[i]);
    }
    mem_free(address->keys);
    mem_free(address->values);
    pg_plans_fini(&address->plans);
}

void pg_init(struct pg *pg, struct pg_address *address)
{
    *pg = (struct pg){.address = address};
    rand_init(&pg->rand);
}

void pg_fini(struct pg *pg)
{
    PQfinish(pg->conn);
    pg->conn = NULL;
}

bool pg_up(const struct pg *pg)
{
    return pg->conn != NULL && !pg->connecting && PQstatus(pg->conn) == CONNECTION_OK;
}

void pg_drop(struct pg *pg)
{
    PQfinish(pg->conn);
    pg->conn = NULL;
    pg->connecting = pg->useless = false;
    pg->session = PG_UNKNOWN;
    pg->prepared = 0;
}

/* The first line of what libpq says. */
static bool fail_pg(struct pg *pg, const char *doing, struct err *err)
{
    const char *said = pg->conn == NULL ? "no connection" : PQerrorMessage(pg->conn);
    size_t len = strcspn(said, "\n");
    return err_set(err, ERR_UNAVAILABLE, "%s: %.*s", doing, (int)MIN(len, 200),
                   len == 0 ? "the connection was lost" : said);
}

/* ---- Connecting ---- */

static void ignore_notice(void *arg, const char *text)
{
    (void)arg;
    log_debug("postgres: %.*s", (int)strcspn(text, "\n"), text);
}

static void plan_retry(struct pg *pg)
{
    int64_t pause = PAUSE_MIN_US << MIN(pg->failures, PAUSE_DOUBLINGS);
    pause = MIN(pause, PAUSE_MAX_US);
    pause = pause / 2 + (int64_t)rand_below(&pg->rand, (uint64_t)pause / 2 + 1);
    pg->failed_us = clock_real_mono_us();
    pg->retry_at_us = pg->failed_us + pause;
    pg->failures++;
}

static bool is_class(const char *state, const char *class)
{
    return strncmp(state, class, strlen(class)) == 0;
}

/* Whether it is for a person to mend: who we are (class 28), or a database that is not there. libpq
 * tells the SQLSTATE of a connection that failed in its text alone: "FATAL:  28P01: …". */
static bool is_denied(const PGconn *conn)
{
    const char *at = conn == NULL ? NULL : strstr(PQerrorMessage(conn), SEVERITY_END);
    while (at != NULL) {
        at += strlen(SEVERITY_END);
        if (strlen(at) > SQLSTATE_LEN && at[SQLSTATE_LEN] == ':' &&
            (is_class(at, "28") || is_class(at, "3D000"))) {
            return true;
        }
        at = strstr(at, SEVERITY_END);
    }
    return conn != NULL && PQconnectionNeedsPassword(conn);
}

static bool refuse_connection(struct pg *pg, struct err *err)
{
    pg->denied = is_denied(pg->conn);
    fail_pg(pg, "connect to PostgreSQL", err);
    pg_drop(pg);
    plan_retry(pg);
    return false;
}

/* Waits for the socket; false when the time is over. */
static bool wait_for(PGconn *conn, short events, int64_t until_us)
{
    struct pollfd fd = {.fd = PQsocket(conn), .events = events};
    for (;;) {
        int64_t left_us = until_us - clock_real_mono_us();
        if (left_us <= 0) {
            return false;
        }
        int got = poll(&fd, 1, (int)((left_us + 999) / 1000));
        if (got > 0 || (got < 0 && errno != EINTR)) {
            return true; /* libpq will say what is wrong */
        }
    }
}

static bool begin_connecting(struct pg *pg, struct err *err)
{
    /* Who is told that the server is back must not be sent away by another's pause. */
    bool back = atomic_load(&pg->address->met_us) > pg->failed_us;
    if (!back && clock_real_mono_us() < pg->retry_at_us) {
        return err_set(err, ERR_UNAVAILABLE, "PostgreSQL is away");
    }
    pg->conn = PQconnectStartParams(pg->address->keys, pg->address->values, 0);
    if (pg->conn == NULL || PQstatus(pg->conn) == CONNECTION_BAD) {
        return refuse_connection(pg, err);
    }
    PQsetNoticeProcessor(pg->conn, ignore_notice, NULL);
    PQsetErrorVerbosity(pg->conn, PQERRORS_VERBOSE); /* until it is connected: is_denied() */
    pg->connecting = true;
    pg->give_up_us = clock_real_mono_us() + CONNECT_MAX_US;
    return true;
}

static bool go_on_connecting(struct pg *pg, int64_t until_us, struct err *err)
{
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        if (!wait_for(pg->conn, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_us)) {
            return clock_real_mono_us() > pg->give_up_us
                       ? refuse_connection(pg, err)
                       : err_set(err, ERR_UNAVAILABLE, "connecting to PostgreSQL");
        }
        next = PQconnectPoll(pg->conn);
        if (next == PGRES_POLLING_FAILED) {
            return refuse_connection(pg, err);
        }
    }
    pg->connecting = pg->denied = false;
    pg->failures = 0;
    PQsetErrorVerbosity(pg->conn, PQERRORS_DEFAULT);
    atomic_store(&pg->address->met_us, clock_real_mono_us());
    return PQenterPipelineMode(pg->conn) == 1 || refuse_connection(pg, err);
}

bool pg_ready(struct pg *pg, int64_t wait_ms, struct err *err)
{
    int64_t until_us = clock_real_mono_us() + wait_ms * 1000;
    if (pg_up(pg)) {
        return true;
    }
    if (!pg->connecting) {
        pg_drop(pg);
    }
    return (pg->connecting || begin_connecting(pg, err)) && go_on_connecting(pg, until_us, err);
}

/* ---- Running ---- */

/* What the five letters of an SQLSTATE mean for whoever called. */
static enum err_kind kind_of(const char *state)
{
    static const struct {
        const char *class;
        enum err_kind kind;
    } kinds[] = {
        {"40", ERR_CONFLICT},       /* deadlock, serialization: begin again */
        {"23505", ERR_CONFLICT},    /* another node took the same key meanwhile */
        {"22012", ERR_CONFLICT},    /* what was taken for certain was not: see tx.c */
        {"42883", ERR_CONFLICT},    /* a function of ours is gone: begin again without (plan.h) */
        {"08", ERR_UNAVAILABLE},    /* connection */
        {"25006", ERR_UNAVAILABLE}, /* a standby: somebody else is the server now */
        {"53", ERR_UNAVAILABLE},    /* disk full, too many connections */
        {"55P03", ERR_UNAVAILABLE}, /* a lock was not to be had in time */
        {"57", ERR_UNAVAILABLE},    /* shutting down, starting up, out of time */
        {"58", ERR_UNAVAILABLE},    /* its disk */
        {"25P03", ERR_UNAVAILABLE}, /* we were idle for too long */
        {"25P04", ERR_UNAVAILABLE},
        {"26000", ERR_UNAVAILABLE}, /* what we had prepared is not there */
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (is_class(state, kinds[i].class)) {
            return kinds[i].kind;
        }
    }
    return ERR_INTERNAL;
}

static bool fail_result(struct pg *pg, const PGresult *result, const char *doing, struct err *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    state = state == NULL ? "08006" : state; /* libpq's own: the connection */
    pg->never_ours |= is_class(state, "26000");
    pg->no_functions |= is_class(state, "42883");
    pg->useless = is_class(state, "08") || is_class(state, "57P") || is_class(state, "25006") ||
                  is_class(state, "26000");
    return err_set(err, kind_of(state), "%s: %s (PostgreSQL %s)", doing,
                   text == NULL ? "the connection was lost" : text, state);
}

void pg_calls_fini(struct pg_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        PQclear(calls[i].result);
        calls[i].result = NULL;
    }
}

/* The statement with what stands behind it. */
static const char *whole_text(const struct pg_call *call, struct buf *longer)
{
    const char *text = pg_statements[call->sql].text;
    if (call->suffix == NULL) {
        return text;
    }
    buf_printf(longer, "%s %s", text, call->suffix);
    return buf_c_text(longer);
}

/* By its name, behind its preparation if this is the first time in this session. */
static bool send_prepared(struct pg *pg, struct pg_call *call, int number, int count,
                          const struct args_view *view)
{
    SCOPED(buf_fini) struct buf longer = BUF_INIT(TEXT_MAX);
    uint64_t bit = UINT64_C(1) << number;
    char name[16];
    snprintf(name, sizeof name, "errand_%d", number);
    call->prepares = (pg->prepared & bit) == 0;
    if (call->prepares &&
        PQsendPrepare(pg->conn, name, whole_text(call, &longer), count, view->types) != 1) {
        return false;
    }
    pg->prepared |= bit;
    return PQsendQueryPrepared(pg->conn, name, count, view->values, view->lengths, view->formats,
                               1) == 1;
}

static bool send_text(struct pg *pg, struct pg_call *call, int count, const struct args_view *view)
{
    SCOPED(buf_fini) struct buf longer = BUF_INIT(TEXT_MAX);
    const char *kept =
        pg->no_functions ? NULL : pg_plan_call(&pg->address->plans, call->sql, call->suffix);
    return PQsendQueryParams(pg->conn, kept != NULL ? kept : whole_text(call, &longer), count,
                             view->types, view->values, view->lengths, view->formats, 1) == 1;
}

static bool send_call(struct pg *pg, struct pg_call *call, struct err *err)
{
    struct args none = {0};
    struct args *args = call->args == NULL ? &none : call->args;
    int number = pg->session == PG_OURS ? pg_plan_number(call->sql, call->suffix) : -1;
    struct args_view view;
    if (!args_view(args, &view)) {
        return err_set(err, ERR_TOO_LARGE, "%s: too many bytes", pg_statements[call->sql].name);
    }
    bool sent = number < 0 ? send_text(pg, call, args->count, &view)
                           : send_prepared(pg, call, number, args->count, &view);
    return sent || fail_pg(pg, pg_statements[call->sql].name, err);
}

static bool send_all(struct pg *pg, struct pg_call *calls, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!send_call(pg, &calls[i], err)) {
            return false;
        }
    }
    return PQpipelineSync(pg->conn) == 1 || fail_pg(pg, "send", err);
}

/* The next answer, or NULL between two of them. *lost: there will be none. */
static PGresult *fetch(struct pg *pg, int64_t until_us, bool *lost)
{
    while (PQisBusy(pg->conn)) {
        if (!wait_for(pg->conn, POLLIN, until_us) || PQconsumeInput(pg->conn) == 0) {
            *lost = true;
            return NULL;
        }
    }
    PGresult *result = PQgetResult(pg->conn);
    *lost = PQstatus(pg->conn) == CONNECTION_BAD;
    return result;
}

static bool is_answer(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

/* Takes one answer and the end behind it; the first failure stays in `why`. */
static bool take_answer(struct pg *pg, const char *name, int64_t until_us, PGresult **out,
                        struct err *why)
{
    bool lost = false;
    PGresult *result = fetch(pg, until_us, &lost);
    if (result != NULL && !is_answer(result) && why->kind == ERR_NONE &&
        PQresultStatus(result) != PGRES_PIPELINE_ABORTED) {
        fail_result(pg, result, name, why);
    }
    if (lost || result == NULL) {
        PQclear(result);
        return why->kind != ERR_NONE ? false : fail_pg(pg, name, why);
    }
    *out = result;
    PGresult *end = fetch(pg, until_us, &lost);
    PQclear(end);
    return !lost || fail_pg(pg, name, why);
}

/* Of a call, and of its preparation before it. What was not prepared is so the next time. */
static bool take_answers(struct pg *pg, struct pg_call *call, int64_t until_us, struct err *why)
{
    const char *name = pg_statements[call->sql].name;
    PGresult *prepared = NULL;
    if (call->prepares) {
        bool taken = take_answer(pg, name, until_us, &prepared, why);
        if (!is_answer(prepared)) {
            pg->prepared &= ~(UINT64_C(1) << pg_plan_number(call->sql, call->suffix));
        }
        PQclear(prepared);
        if (!taken) {
            return false;
        }
    }
    return take_answer(pg, name, until_us, &call->result, why);
}

static bool take_all(struct pg *pg, struct pg_call *calls, size_t n, struct err *why)
{
    int64_t until_us = clock_real_mono_us() + ANSWER_MAX_US;
    bool lost = false;
    for (size_t i = 0; i < n; i++) {
        if (!take_answers(pg, &calls[i], until_us, why)) {
            return false;
        }
    }
    PGresult *sync = fetch(pg, until_us, &lost);
    bool whole = sync != NULL && PQresultStatus(sync) == PGRES_PIPELINE_SYNC;
    PQclear(sync);
    return whole || fail_pg(pg, "synchronize", why);
}

static bool exchange(struct pg *pg, struct pg_call *calls, size_t n, struct err *why)
{
    return send_all(pg, calls, n, why) && take_all(pg, calls, n, why);
}

/* A pooler has told us a number of its own; the process that answers says its true one. */
static bool know_session(struct pg *pg, struct err *why)
{
    struct pg_call self = {.sql = PG_READ_SELF};
    if (pg->session != PG_UNKNOWN) {
        return true;
    }
    if (!exchange(pg, &self, 1, why) || why->kind != ERR_NONE) {
        pg_calls_fini(&self, 1);
        return false;
    }
    bool ours = get_int(self.result, 0, 0) == PQbackendPID(pg->conn) && !pg->never_ours;
    pg->session = ours ? PG_OURS : PG_SHARED;
    pg_calls_fini(&self, 1);
    return true;
}

bool pg_run(struct pg *pg, struct pg_call *calls, size_t n, struct err *err)
{
    struct err why = ERR_INIT;
    for (size_t i = 0; i < n; i++) {
        assert(pg_statements[calls[i].sql].parameters ==
               (calls[i].args == NULL ? 0 : calls[i].args->count));
        calls[i].result = NULL;
        calls[i].prepares = false;
    }
    if (!pg_up(pg)) {
        return err_set(err, ERR_UNAVAILABLE, "PostgreSQL is away");
    }
    bool whole = know_session(pg, &why) && exchange(pg, calls, n, &why);
    if (!whole || pg->useless) {
        pg_drop(pg); /* whoever comes next looks for another */
    }
    if (whole && why.kind == ERR_NONE) {
        return true;
    }
    pg_calls_fini(calls, n);
    return err_set(err, why.kind, "%s", why.text);
}

bool pg_ask(struct pg *pg, const char *name, const char *text, PGresult **out, struct err *err)
{
    if (!pg_up(pg) || PQexitPipelineMode(pg->conn) != 1) {
        return fail_pg(pg, name, err);
    }
    PGresult *result = PQexec(pg->conn, text);
    bool ok = is_answer(result) || fail_result(pg, result, name, err);
    if (PQenterPipelineMode(pg->conn) != 1) {
        ok = ok && fail_pg(pg, name, err);
        pg_drop(pg);
    }
    if (!ok) {
        PQclear(result);
        return false;
    }
    *out = result;
    return true;
}

bool pg_script(struct pg *pg, const char *script, struct err *err)
{
    PGresult *result = NULL;
    bool ok = pg_ask(pg, "run a script", script, &result, err);
    PQclear(result);
    return ok;
}
