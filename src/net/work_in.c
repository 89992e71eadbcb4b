/* net/work_in.c: what workers say, out of JSON. See work_in.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/work_in.h"

#include "net/fault.h"
#include "net/task_in.h"
#include "task/reserved.h"

/* ---- Claims ---- */

static bool set_worker(struct json *json, void *into, struct err *err)
{
    struct str *worker = &((struct claim_in *)into)->claim->worker;
    return field_text(json, 1, TASK_WORKER_MAX, worker, err) &&
           (!str_has_control(*worker) ||
            json_refuse(json, err, "must not have control characters"));
}

static bool type_ok(struct str type)
{
    return type.len >= 1 && type.len <= TASK_TYPE_MAX && !str_has_control(type);
}

static bool read_names(struct json *json, bool (*ok)(struct str), const char *rule,
                       struct texts *out, struct err *err)
{
    if (json_take_null(json)) {
        *out = (struct texts){NULL, 0};
        return true;
    }
    if (!field_texts(json, CLAIM_NAMES_MAX, out, err)) {
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        if (!ok(out->at[i])) {
            return json_refuse(json, err, "%s", rule);
        }
    }
    return true;
}

static bool set_types(struct json *json, void *into, struct err *err)
{
    struct command_claim *claim = ((struct claim_in *)into)->claim;
    struct texts types = {NULL, 0};
    bool ok = read_names(json, type_ok,
                         "must be texts of 1 to 256 bytes without control characters", &types, err);
    claim->types = types.at;
    claim->types_count = types.count;
    return ok;
}

/* A team's task is claimed through its team, which knows who its members are. */
static bool refuse_teams(const struct texts *queues, struct err *err)
{
    for (size_t i = 0; i < queues->count; i++) {
        if (reserved_for_teams(queues->at[i])) {
            return err_field(err, "queues",
                             "queues must not name " STR_FMT
                             ": it is a team's, see POST /api/teams/{id}/claim",
                             STR_ARG(queues->at[i]));
        }
    }
    return true;
}

static bool set_queues(struct json *json, void *into, struct err *err)
{
    struct command_claim *claim = ((struct claim_in *)into)->claim;
    struct texts queues = {NULL, 0};
    bool ok = read_names(json, task_queue_name_ok,
                         "must be names of 1 to 256 characters of [A-Za-z0-9_.:/-]", &queues, err);
    claim->queues = queues.at;
    claim->queues_count = queues.count;
    return ok && refuse_teams(&queues, err);
}

static bool set_max(struct json *json, void *into, struct err *err)
{
    int64_t max;
    if (!field_i64(json, 1, CLAIM_MAX, &max, err)) {
        return false;
    }
    ((struct claim_in *)into)->claim->max = (size_t)max;
    return true;
}

static bool set_wait(struct json *json, void *into, struct err *err)
{
    return field_i64(json, 0, CLAIM_WAIT_MAX, &((struct claim_in *)into)->wait_ms, err);
}

static bool set_lease_ms(struct json *json, void *into, struct err *err)
{
    return field_i64(json, TASK_LEASE_MIN_MS, TASK_LEASE_MAX_MS,
                     &((struct claim_in *)into)->claim->lease_ms, err);
}

static const struct field claim_table[] = {
    FIELD("workerId", set_worker), FIELD("taskTypes", set_types), FIELD("queues", set_queues),
    FIELD("max", set_max),         FIELD("waitMs", set_wait),     FIELD("leaseMs", set_lease_ms),
};

bool claim_read(struct json *json, struct claim_in *in, struct err *err)
{
    in->wait_ms = 0;
    in->claim->max = 1;
    in->claim->lease_ms = TASK_LEASE_DEFAULT_MS;
    if (!fields_read(json, FIELDS(claim_table), in, err)) {
        return false;
    }
    in->claim->wait = in->wait_ms > 0;
    if (str_absent(in->claim->worker)) {
        return err_field(err, "workerId", "workerId is required");
    }
    /* The engine trusts workers inside the server to live as long as it does: their leases do not
     * end. */
    return !task_worker_reserved(in->claim->worker) ||
           err_field(err, "workerId",
                     "workerId must not begin with errand: (the server's own workers)");
}

/* ---- Heartbeats ---- */

/* One heartbeat while it is read. */
struct heartbeat_in {
    struct command_heartbeat *beat;
    bool has_lease;
};

static struct command_heartbeat *beat_of(void *into)
{
    return ((struct heartbeat_in *)into)->beat;
}

static bool set_lease(struct json *json, void *into, struct err *err)
{
    struct heartbeat_in *in = into;
    struct str text;
    in->has_lease = true;
    if (!field_str(json, &text, err)) {
        return false;
    }
    if (!task_lease_parse(text, &in->beat->lease)) {
        in->beat->lease = LEASE_OF_NOBODY;
    }
    return true;
}

static bool set_percent(struct json *json, void *into, struct err *err)
{
    return field_f64(json, 0, 100, &beat_of(into)->progress, err);
}

static bool set_message(struct json *json, void *into, struct err *err)
{
    struct command_heartbeat *beat = beat_of(into);
    return json_take_null(json) || field_text(json, 0, TASK_REASON_MAX, &beat->message, err);
}

static const struct field progress_table[] = {
    FIELD("percent", set_percent),
    FIELD("message", set_message),
};

static bool set_progress(struct json *json, void *into, struct err *err)
{
    return json_take_null(json) ||
           fields_inner(json, FIELDS(progress_table), "progress", into, err);
}

/* Adds the lines of `text`, each ended by a newline, also the last. */
static bool add_lines(struct json *json, struct buf *lines, struct str text, struct err *err)
{
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

static bool add_log(struct json *json, struct buf *lines, struct err *err)
{
    struct str text;
    return field_str(json, &text, err) && add_lines(json, lines, text, err);
}

static bool read_log(struct json *json, struct buf *lines, struct err *err)
{
    if (json_peek(json) == JSON_STRING) {
        return add_log(json, lines, err);
    }
    if (json_peek(json) != JSON_ARRAY) {
        return json_refuse(json, err, "must be a string or an array of strings");
    }
    bool ok = json_enter_array(json, err);
    while (ok && json_item(json, err)) {
        ok = add_log(json, lines, err);
    }
    return ok && json_ok(json);
}

static bool set_log(struct json *json, void *into, struct err *err)
{
    struct command_heartbeat *beat = beat_of(into);
    SCOPED(buf_fini) struct buf lines = BUF_INIT(TASK_LOG_MAX);
    if (json_take_null(json)) {
        return true;
    }
    if (!read_log(json, &lines, err)) {
        return false;
    }
    if (lines.full) {
        return json_refuse(json, err, "must be at most %zu bytes", TASK_LOG_MAX);
    }
    beat->log = lines.len == 0 ? STR_NONE : arena_str(json->arena, buf_view(&lines));
    return true;
}

static bool set_extend(struct json *json, void *into, struct err *err)
{
    return field_i64(json, TASK_LEASE_MIN_MS, TASK_LEASE_MAX_MS, &beat_of(into)->extend_ms, err);
}

static const struct field heartbeat_table[] = {
    FIELD("lease", set_lease),
    FIELD("progress", set_progress),
    FIELD("log", set_log),
    FIELD("extendMs", set_extend),
};

bool heartbeat_read(struct json *json, struct command_heartbeat *out, struct err *err)
{
    struct heartbeat_in in = {.beat = out};
    out->extend_ms = -1;
    out->progress = -1;
    return fields_read(json, FIELDS(heartbeat_table), &in, err) &&
           (in.has_lease || err_field(err, "lease", "lease is required"));
}
