/* net/team_in.c: wishes about teams out of JSON. See team_in.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/team_in.h"

#include "net/fault.h"
#include "queue/queue.h"

#define AGENT_RULE "must be 1 to 256 bytes without control characters, and not begin with errand:"

/* ---- Teams ---- */

static bool set_prompt(struct json *json, void *into, struct err *err)
{
    return field_text(json, 1, TEAM_PROMPT_MAX, &((struct team *)into)->prompt, err);
}

static bool set_mates(struct json *json, void *into, struct err *err)
{
    return json_take_null(json) || team_mates_read(json, &((struct team *)into)->mates, err);
}

static bool set_document(struct json *json, void *into, struct err *err)
{
    return json_take_null(json) ||
           field_text(json, 1, TASK_DOCUMENT_MAX, &((struct team *)into)->document, err);
}

static bool set_model(struct json *json, void *into, struct err *err)
{
    return json_take_null(json) ||
           field_text(json, 1, TEAM_MODEL_MAX, &((struct team *)into)->model, err);
}

static bool set_tasks(struct json *json, void *into, struct err *err)
{
    struct team_tasks *tasks = &((struct team *)into)->tasks;
    return json_take_null(json) ||
           (team_tasks_read(json, tasks, err) && team_tasks_check(tasks, json->arena, err));
}

static bool set_policy(struct json *json, void *into, struct err *err)
{
    struct str word;
    return json_str(json, &word, err) &&
           (form_word(team_policies, word, &((struct team *)into)->policy) ||
            json_refuse(json, err, "must be fail or continue"));
}

static const struct field team_table[] = {
    FIELD("prompt", set_prompt), FIELD("teammates", set_mates), FIELD("documentId", set_document),
    FIELD("model", set_model),   FIELD("tasks", set_tasks),     FIELD("onTaskFailure", set_policy),
};

bool team_in_read(struct json *json, struct team *out, struct err *err)
{
    *out = TEAM_INIT;
    return fields_read(json, FIELDS(team_table), out, err) &&
           (!str_absent(out->prompt) || err_field(err, "prompt", "prompt is required"));
}

/* ---- Claims ---- */

static bool read_agent(struct json *json, struct str *out, struct err *err)
{
    return field_str(json, out, err) && (team_agent_ok(*out) || json_refuse(json, err, AGENT_RULE));
}

static bool set_agent(struct json *json, void *into, struct err *err)
{
    return read_agent(json, &((struct team_claim_in *)into)->agent, err);
}

static bool set_wait(struct json *json, void *into, struct err *err)
{
    return field_i64(json, 0, CLAIM_WAIT_MAX, &((struct team_claim_in *)into)->wait_ms, err);
}

static bool set_lease(struct json *json, void *into, struct err *err)
{
    return field_i64(json, TASK_LEASE_MIN_MS, TASK_LEASE_MAX_MS,
                     &((struct team_claim_in *)into)->lease_ms, err);
}

static const struct field claim_table[] = {
    FIELD("agent", set_agent),
    FIELD("waitMs", set_wait),
    FIELD("leaseMs", set_lease),
};

bool team_claim_read(struct json *json, struct team_claim_in *out, struct err *err)
{
    *out = (struct team_claim_in){.lease_ms = TASK_LEASE_DEFAULT_MS};
    return fields_read(json, FIELDS(claim_table), out, err) &&
           (!str_absent(out->agent) || err_field(err, "agent", "agent is required"));
}

/* ---- Messages ---- */

static bool set_from(struct json *json, void *into, struct err *err)
{
    return read_agent(json, &((struct team_message *)into)->from, err);
}

static bool set_to(struct json *json, void *into, struct err *err)
{
    return json_take_null(json) || read_agent(json, &((struct team_message *)into)->to, err);
}

static bool set_body(struct json *json, void *into, struct err *err)
{
    struct str *body = &((struct team_message *)into)->body;
    return json_raw(json, body, err) && (body->len <= MESSAGE_BODY_MAX ||
                                         fault_too_large(err, "body", body->len, MESSAGE_BODY_MAX));
}

static const struct field message_table[] = {
    FIELD("from", set_from),
    FIELD("to", set_to),
    FIELD("body", set_body),
};

bool team_message_read(struct json *json, struct team_message *out, struct err *err)
{
    *out = (struct team_message){0};
    if (!fields_read(json, FIELDS(message_table), out, err)) {
        return false;
    }
    if (str_absent(out->from)) {
        return err_field(err, "from", "from is required");
    }
    return !str_absent(out->body) || err_field(err, "body", "body is required");
}
