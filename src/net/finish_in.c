/* net/finish_in.c: how attempts ended, out of JSON. See work_in.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/fault.h"
#include "net/task_in.h"
#include "net/work_in.h"

/* One ending while it is read: what was given tells whether it fits the outcome. */
struct finish_in {
    struct finish *finish;
    bool has_id, has_lease, has_outcome, has_result, has_error, has_retry, has_delay, has_cost;
};

static struct finish *finish_of(void *into)
{
    return ((struct finish_in *)into)->finish;
}

/* ---- The fields ---- */

static bool set_id(struct json *json, void *into, struct err *err)
{
    struct finish_in *in = into;
    struct str text;
    in->has_id = true;
    return field_str(json, &text, err) &&
           (id_parse(text, &in->finish->id) || json_refuse(json, err, "must be a task's id"));
}

static bool set_lease(struct json *json, void *into, struct err *err)
{
    struct finish_in *in = into;
    struct str text;
    in->has_lease = true;
    if (!field_str(json, &text, err)) {
        return false;
    }
    if (!task_lease_parse(text, &in->finish->lease)) {
        in->finish->lease = LEASE_OF_NOBODY;
    }
    return true;
}

static bool set_outcome(struct json *json, void *into, struct err *err)
{
    static const struct {
        const char *name;
        enum task_outcome outcome;
    } names[] = {
        {"complete", OUTCOME_COMPLETED}, {"fail", OUTCOME_FAILED}, {"release", OUTCOME_RELEASED}};
    struct finish_in *in = into;
    struct str text;
    in->has_outcome = true;
    if (!field_str(json, &text, err)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(text, names[i].name)) {
            in->finish->outcome = names[i].outcome;
            return true;
        }
    }
    return json_refuse(json, err, "must be one of complete, fail, release");
}

static bool set_result(struct json *json, void *into, struct err *err)
{
    struct finish_in *in = into;
    in->has_result = true;
    if (!json_raw(json, &in->finish->result, err)) {
        return false;
    }
    size_t len = in->finish->result.len;
    return len <= TASK_RESULT_MAX || fault_too_large(err, "result", len, TASK_RESULT_MAX);
}

static bool set_cost(struct json *json, void *into, struct err *err)
{
    ((struct finish_in *)into)->has_cost = true;
    return read_cost(json, &finish_of(into)->cost, err);
}

static bool set_retry(struct json *json, void *into, struct err *err)
{
    ((struct finish_in *)into)->has_retry = true;
    return json_bool(json, &finish_of(into)->retry, err);
}

static bool set_delay(struct json *json, void *into, struct err *err)
{
    ((struct finish_in *)into)->has_delay = true;
    return field_i64(json, 0, TASK_DURATION_MAX_MS, &finish_of(into)->delay_ms, err);
}

/* ---- error ---- */

static bool set_code(struct json *json, void *into, struct err *err)
{
    return field_text(json, 1, TASK_ERROR_MAX, &((struct task_error *)into)->code, err);
}

static bool set_message(struct json *json, void *into, struct err *err)
{
    return field_text(json, 0, TASK_ERROR_MAX, &((struct task_error *)into)->message, err);
}

static bool set_detail(struct json *json, void *into, struct err *err)
{
    return json_raw(json, &((struct task_error *)into)->detail, err);
}

static const struct field error_table[] = {
    FIELD("code", set_code),
    FIELD("message", set_message),
    FIELD("detail", set_detail),
};

static bool read_error(struct json *json, struct task_error *error, struct err *err)
{
    switch (json_peek(json)) {
    case JSON_STRING:
        return field_str(json, &error->message, err);
    case JSON_OBJECT:
        return fields_inner(json, FIELDS(error_table), "error", error, err);
    default:
        return json_refuse(json, err, "must be a string or an object");
    }
}

static bool set_error(struct json *json, void *into, struct err *err)
{
    struct task_error error = {0};
    ((struct finish_in *)into)->has_error = true;
    if (json_take_null(json)) {
        return true;
    }
    if (!read_error(json, &error, err)) {
        return false;
    }
    if (error.code.len + error.message.len + error.detail.len > TASK_ERROR_MAX) {
        return json_refuse(json, err, "must be at most %zu bytes in all", TASK_ERROR_MAX);
    }
    struct task_error *into_error = &finish_of(into)->error;
    into_error->code = str_absent(error.code) ? into_error->code : error.code;
    into_error->message = str_absent(error.message) ? into_error->message : error.message;
    into_error->detail = error.detail;
    return true;
}

/* ---- Bodies ---- */

static const struct field complete_table[] = {
    FIELD("lease", set_lease),
    FIELD("result", set_result),
    FIELD("cost", set_cost),
};
static const struct field fail_table[] = {
    FIELD("lease", set_lease),
    FIELD("error", set_error),
    FIELD("retry", set_retry),
};
static const struct field release_table[] = {
    FIELD("lease", set_lease),
    FIELD("delayMs", set_delay),
};
static const struct field item_table[] = {
    FIELD("id", set_id),         FIELD("lease", set_lease),   FIELD("outcome", set_outcome),
    FIELD("result", set_result), FIELD("cost", set_cost),     FIELD("error", set_error),
    FIELD("retry", set_retry),   FIELD("delayMs", set_delay),
};

static void finish_init(struct finish *finish)
{
    *finish = (struct finish){
        .id = finish->id,
        .outcome = finish->outcome,
        .retry = true,
        .error = {.code = STR("failed"), .message = STR("the worker gave no reason")},
        .cost = TASK_COST_NONE,
    };
}

/* An error belongs to a failure alone: without one the default must not be stored. */
static void finish_settle(struct finish *finish)
{
    if (finish->outcome != OUTCOME_FAILED) {
        finish->error = (struct task_error){0};
    }
}

bool finish_read(struct json *json, struct finish *out, struct err *err)
{
    struct fields fields = out->outcome == OUTCOME_COMPLETED ? FIELDS(complete_table)
                           : out->outcome == OUTCOME_FAILED  ? FIELDS(fail_table)
                                                             : FIELDS(release_table);
    struct finish_in in = {.finish = out};
    finish_init(out);
    if (!fields_read(json, fields, &in, err)) {
        return false;
    }
    finish_settle(out);
    return in.has_lease || err_field(err, "lease", "lease is required");
}

static bool fits(bool given, bool right_outcome, const char *field, const char *outcome,
                 struct err *err)
{
    return !given || right_outcome ||
           err_field(err, field, "%s goes with the outcome %s only", field, outcome);
}

static bool needs(bool given, const char *field, struct err *err)
{
    return given || err_field(err, field, "%s is required", field);
}

static bool check_item(const struct finish_in *in, struct err *err)
{
    enum task_outcome outcome = in->finish->outcome;
    bool completes = outcome == OUTCOME_COMPLETED, fails = outcome == OUTCOME_FAILED;
    return needs(in->has_id, "id", err) && needs(in->has_lease, "lease", err) &&
           needs(in->has_outcome, "outcome", err) &&
           fits(in->has_result, completes, "result", "complete", err) &&
           fits(in->has_cost, completes, "cost", "complete", err) &&
           fits(in->has_error, fails, "error", "fail", err) &&
           fits(in->has_retry, fails, "retry", "fail", err) &&
           fits(in->has_delay, outcome == OUTCOME_RELEASED, "delayMs", "release", err);
}

static bool read_item(struct json *json, size_t index, struct finish *finish, struct err *err)
{
    struct finish_in in = {.finish = finish};
    *finish = (struct finish){0};
    finish_init(finish);
    if (!fields_item(json, FIELDS(item_table), index, &in, err)) {
        return false;
    }
    finish_settle(finish);
    return check_item(&in, err) || fault_inside(err, "[%zu]", index);
}

bool finishes_read(struct json *json, struct command_finish *out, struct err *err)
{
    size_t room = 0;
    *out = (struct command_finish){NULL, 0};
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (out->count == FINISH_MAX) {
            return err_set(err, ERR_INVALID, "at most %d may be finished in one request",
                           FINISH_MAX);
        }
        out->items = fields_room(json->arena, out->items, out->count, &room, sizeof *out->items);
        if (!read_item(json, out->count, &out->items[out->count], err)) {
            return false;
        }
        out->count++;
    }
    return json_ok(json);
}
