/* net/work_in.c: what workers say, out of JSON. See work_in.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/work_in.h"

#include <stdio.h>

#include "task/reserved.h"

/* ---- Leases ---- */

/* A text that is no lease of ours becomes one that no task has: the engine then says that it is
 * lost. */
static bool read_lease(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct task_lease *lease = (void *)((char *)into + row->at);
    struct str text;
    if (!json_str(json, &text, err)) {
        return false;
    }
    if (!task_lease_parse(text, lease)) {
        *lease = (struct task_lease){.attempt = -1};
    }
    return true;
}

static const struct form_hook lease_hook = {.read = read_lease};

/* ---- Heartbeats ---- */

/* Adds the lines of `text`, each ended by a newline, also the last. */
static bool add_lines(struct json *json, struct buf *lines, struct err *err)
{
    struct str text;
    if (!json_str(json, &text, err)) {
        return false;
    }
    if (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL) {
        return json_refuse(json, err, "must not hold U+0000");
    }
    struct str rest = text;
    if (text.len > 0 && text.ptr[text.len - 1] == '\n') {
        rest.len--;
    }
    while (!str_absent(rest) && text.len > 0) {
        struct str line = str_cut(&rest, '\n');
        if (line.len > TASK_LOG_LINE_MAX) {
            return json_refuse(json, err, "must have lines of at most %zu bytes",
                               TASK_LOG_LINE_MAX);
        }
        buf_str(lines, line);
        buf_char(lines, '\n');
    }
    return true;
}

static bool read_log(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct command_heartbeat *beat = into;
    SCOPED(buf_fini) struct buf lines = BUF_INIT(TASK_LOG_MAX);
    (void)row;
    if (json_peek(json) == JSON_STRING) {
        if (!add_lines(json, &lines, err)) {
            return false;
        }
    } else if (json_peek(json) == JSON_ARRAY) {
        bool ok = json_enter_array(json, err);
        while (ok && json_item(json, err)) {
            ok = add_lines(json, &lines, err);
        }
        if (!ok || !json_ok(json)) {
            return false;
        }
    } else {
        return json_refuse(json, err, "must be a string or an array of strings");
    }
    if (lines.full) {
        return json_refuse(json, err, "must be at most %zu bytes", TASK_LOG_MAX);
    }
    beat->log = lines.len == 0 ? STR_NONE : arena_str(json->arena, buf_view(&lines));
    return true;
}

static const struct form_hook log_hook = {.read = read_log};

#define BEAT_ROW(label, member, kind, use, ...)                                                    \
    FORM_ROW(label, struct command_heartbeat, member, kind, use, __VA_ARGS__)

/* clang-format off */
static const struct form_row heartbeat_rows[] = {
    BEAT_ROW("lease", lease, FORM_HOOK, FORM_SET | FORM_NEEDED, .hook = &lease_hook,
             .about = "From the claim."),
    BEAT_ROW("progress.percent", progress, FORM_F64, FORM_SET | FORM_NULL, .max = 100),
    BEAT_ROW("progress.message", message, FORM_TEXT, FORM_SET, .max = TASK_REASON_MAX),
    BEAT_ROW("log", log, FORM_HOOK, FORM_SET | FORM_NULL, .hook = &log_hook,
             .schema = "{\"type\":[\"string\",\"array\",\"null\"],\"items\":{\"type\":\"string\"}}"),
    BEAT_ROW("extendMs", extend_ms, FORM_I64, FORM_SET | FORM_DEFAULT, .min = TASK_LEASE_MIN_MS,
             .max = TASK_LEASE_MAX_MS, .standard = -1,
             .about = "The lease then ends this long from now; default the claim's leaseMs."),
};
/* clang-format on */
const struct form heartbeat_form = FORM(heartbeat_rows);

bool heartbeat_read(struct json *json, struct command_heartbeat *out, struct err *err)
{
    form_init(&heartbeat_form, out);
    return form_read_for(FORM_SET, json, &heartbeat_form, out, NULL, NULL, err);
}

/* ---- Endings ---- */

/* clang-format off */
static const struct form_row error_rows[] = {
    FORM_ROW("code", struct task_error, code, FORM_TEXT, FORM_SET | FORM_SHOWN, .min = 1, .max = TASK_ERROR_MAX),
    FORM_ROW("message", struct task_error, message, FORM_TEXT, FORM_SET | FORM_SHOWN, .max = TASK_ERROR_MAX),
    FORM_ROW("detail", struct task_error, detail, FORM_VALUE, FORM_SET | FORM_SHOWN, .about = "Any JSON value."),
};
/* clang-format on */
const struct form error_form = FORM(error_rows);

/* A text is the message. What is not said stays as it is. */
static bool read_error(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct task_error *out = &((struct finish *)into)->error, error = {0};
    (void)row;
    bool text = json_peek(json) == JSON_STRING;
    if (!text && json_peek(json) != JSON_OBJECT) {
        return json_refuse(json, err, "must be a string or an object");
    }
    if (!(text ? json_str(json, &error.message, err)
               : form_read_for(FORM_SET, json, &error_form, &error, NULL, NULL, err) ||
                     form_inside(err, "error"))) {
        return false;
    }
    if (text && error.message.len > 0 && memchr(error.message.ptr, '\0', error.message.len)) {
        return json_refuse(json, err, "must not hold U+0000");
    }
    if (error.code.len + error.message.len + error.detail.len > TASK_ERROR_MAX) {
        return json_refuse(json, err, "must be at most %zu bytes in all", TASK_ERROR_MAX);
    }
    out->code = str_absent(error.code) ? out->code : error.code;
    out->message = str_absent(error.message) ? out->message : error.message;
    out->detail = error.detail;
    return true;
}

static const struct form_hook error_hook = {.read = read_error};

#define EVERY (FINISH_COMPLETE | FINISH_FAIL | FINISH_RELEASE)
static const char *const finish_words[] = {"",
                                           [OUTCOME_COMPLETED] = "complete",
                                           [OUTCOME_FAILED] = "fail",
                                           [OUTCOME_TIMEOUT] = "",
                                           "",
                                           [OUTCOME_RELEASED] = "release",
                                           NULL};
#define FINISH_ROW(label, member, kind, use, ...)                                                  \
    FORM_ROW(label, struct finish, member, kind, use, __VA_ARGS__)

/* clang-format off */
static const struct form_row finish_rows[] = {
    FINISH_ROW("id", id, FORM_ID, FORM_SET | FORM_NEEDED, .rule = "must be a task's id"),
    FINISH_ROW("lease", lease, FORM_HOOK, FORM_SET | FORM_NEEDED | EVERY, .hook = &lease_hook,
               .about = "From the claim."),
    FINISH_ROW("outcome", outcome, FORM_WORD, FORM_SET | FORM_NEEDED, .words = finish_words),
    FINISH_ROW("result", result, FORM_VALUE, FORM_SET | FINISH_COMPLETE, .max = TASK_RESULT_MAX,
               .about = "Any JSON value, at most 1 MiB."),
    FINISH_ROW("cost.estimated", cost.estimated, FORM_F64, FORM_SET | FORM_NULL | FINISH_COMPLETE,
               .max = TASK_COST_MAX),
    FINISH_ROW("cost.actual", cost.actual, FORM_F64, FORM_SET | FORM_NULL | FINISH_COMPLETE,
               .max = TASK_COST_MAX),
    FINISH_ROW("cost.tokens", cost.tokens, FORM_F64, FORM_SET | FORM_NULL | FINISH_COMPLETE,
               .max = TASK_COST_MAX),
    FINISH_ROW("error", error, FORM_HOOK, FORM_SET | FORM_NULL | FINISH_FAIL, .hook = &error_hook,
               .schema = "{\"oneOf\":[{\"type\":\"string\",\"description\":\"The message.\"},"
                         "{\"$ref\":\"#/components/schemas/TaskError\"},{\"type\":\"null\"}]}"),
    FINISH_ROW("retry", retry, FORM_BOOL, FORM_SET | FORM_DEFAULT | FINISH_FAIL, .standard = true),
    FINISH_ROW("delayMs", delay_ms, FORM_I64, FORM_SET | FORM_DEFAULT | FINISH_RELEASE,
               .max = TASK_DURATION_MAX_MS),
};
/* clang-format on */
const struct form finish_form = FORM(finish_rows);

static unsigned use_of(enum task_outcome outcome)
{
    return outcome == OUTCOME_COMPLETED ? FINISH_COMPLETE
           : outcome == OUTCOME_FAILED  ? FINISH_FAIL
                                        : FINISH_RELEASE;
}

static bool read_finish(struct json *json, unsigned use, struct finish *out, uint64_t *given,
                        struct err *err)
{
    *out = (struct finish){
        .id = out->id,
        .outcome = out->outcome,
        .error = {.code = STR("failed"), .message = STR("the worker gave no reason")},
    };
    form_init(&finish_form, out);
    if (!form_read_for(use, json, &finish_form, out, given, NULL, err)) {
        return false;
    }
    if (out->outcome != OUTCOME_FAILED) { /* an error belongs to a failure alone */
        out->error = (struct task_error){0};
    }
    return true;
}

bool finish_read(struct json *json, struct finish *out, struct err *err)
{
    return read_finish(json, use_of(out->outcome), out, NULL, err);
}

/* A field of another outcome than the one that is given is refused. */
static bool check_outcome(const struct finish *finish, uint64_t given, struct err *err)
{
    for (size_t i = 0; i < finish_form.count; i++) {
        unsigned use = finish_rows[i].use & EVERY;
        if (given >> i & 1 && use != 0 && !(use & use_of(finish->outcome))) {
            struct str rest = finish_rows[i].name, name = str_cut(&rest, '.');
            char field[sizeof err->field];
            snprintf(field, sizeof field, STR_FMT, STR_ARG(name));
            return err_field(err, field, "%s goes with the outcome %s only", field,
                             use == FINISH_COMPLETE ? "complete"
                             : use == FINISH_FAIL   ? "fail"
                                                    : "release");
        }
    }
    return true;
}

bool finishes_read(struct json *json, struct command_finish *out, struct err *err)
{
    size_t room = 0;
    *out = (struct command_finish){NULL, 0};
    if (!json_enter_array(json, err)) {
        return false;
    }
    for (; json_item(json, err); out->count++) {
        uint64_t given = 0;
        if (out->count == FINISH_MAX) {
            return err_set(err, ERR_INVALID, "at most %d may be finished in one request",
                           FINISH_MAX);
        }
        out->items = arena_grow(json->arena, out->items, out->count, &room, sizeof *out->items);
        struct finish *finish = &out->items[out->count];
        *finish = (struct finish){0};
        if (!form_item(json, out->count, err)) {
            return false;
        }
        if (!read_finish(json, FORM_SET, finish, &given, err) ||
            !check_outcome(finish, given, err)) {
            return form_inside(err, "[%zu]", out->count);
        }
    }
    return json_ok(json);
}

/* ---- Claims ---- */

static bool worker_ok(struct str worker)
{
    return !str_has_control(worker);
}

/* As POST /api/finish has them. */
static bool read_ends(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct claim_in *in = into;
    (void)row;
    in->finishes = true;
    if (json_peek(json) != JSON_ARRAY) {
        return json_refuse(json, err, "must be an array");
    }
    if (finishes_read(json, &in->claim.finish, err)) {
        return true;
    }
    bool many = in->claim.finish.count == FINISH_MAX && err->field[0] == '\0';
    return many ? err_field(err, "finish", "finish must have at most %d items", FINISH_MAX)
                : form_inside(err, "finish");
}

static const struct form_hook ends_hook = {.read = read_ends};

#define CLAIM_ROW(label, member, kind, use, ...)                                                   \
    FORM_ROW(label, struct claim_in, member, kind, use, __VA_ARGS__)

/* clang-format off */
static const struct form_row claim_rows[] = {
    CLAIM_ROW("workerId", claim.worker, FORM_TEXT, FORM_SET | FORM_NEEDED, .min = 1,
              .max = TASK_WORKER_MAX, .check = worker_ok,
              .rule = "must be 1 to 256 bytes without control characters"),
    CLAIM_ROW("taskTypes", types, FORM_TEXTS, FORM_SET, .max = CLAIM_NAMES_MAX, .item_min = 1,
              .item_max = TASK_TYPE_MAX, .check = task_type_ok,
              .rule = "must be texts of 1 to 256 bytes without control characters",
              .about = "None: any."),
    CLAIM_ROW("queues", queues, FORM_TEXTS, FORM_SET, .max = CLAIM_NAMES_MAX, .item_min = 1,
              .item_max = TASK_QUEUE_MAX, .check = task_queue_name_ok,
              .rule = "must be names of 1 to 256 characters of [A-Za-z0-9_.:/-]",
              .about = "None: `default`."),
    CLAIM_ROW("max", claim.max, FORM_SIZE, FORM_SET | FORM_DEFAULT, .min = 1, .max = CLAIM_MAX,
              .standard = 1),
    CLAIM_ROW("waitMs", claim.wait_ms, FORM_I64, FORM_SET | FORM_DEFAULT, .max = CLAIM_WAIT_MAX),
    CLAIM_ROW("leaseMs", claim.lease_ms, FORM_I64, FORM_SET | FORM_DEFAULT,
              .min = TASK_LEASE_MIN_MS, .max = TASK_LEASE_MAX_MS,
              .standard = TASK_LEASE_DEFAULT_MS),
    CLAIM_ROW("finish", claim.finish, FORM_HOOK, FORM_SET, .hook = &ends_hook,
              .schema = "{\"$ref\":\"#/components/schemas/FinishRequest\"}"),
};
/* clang-format on */
const struct form claim_form = FORM(claim_rows);

bool claim_read(struct json *json, struct claim_in *out, struct err *err)
{
    *out = (struct claim_in){0};
    form_init(&claim_form, out);
    if (!form_read_for(FORM_SET, json, &claim_form, out, NULL, NULL, err)) {
        return false;
    }
    struct command_claim *claim = &out->claim;
    claim->types = out->types.at;
    claim->types_count = out->types.count;
    claim->queues = out->queues.at;
    claim->queues_count = out->queues.count;
    claim->wait = claim->wait_ms > 0;
    /* A team's task is claimed through its team, which knows who its members are. */
    for (size_t i = 0; i < claim->queues_count; i++) {
        if (reserved_for_teams(claim->queues[i])) {
            return err_field(err, "queues",
                             "queues must not name " STR_FMT
                             ": it is a team's, see POST /api/teams/{id}/claim",
                             STR_ARG(claim->queues[i]));
        }
    }
    /* The engine trusts workers inside the server to live as long as it does: their leases do not
     * end. */
    return !task_worker_reserved(claim->worker) ||
           err_field(err, "workerId",
                     "workerId must not begin with errand: (the server's own workers)");
}
