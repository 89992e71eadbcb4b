/* client/llm_request.c: a question as the server reads it. See llm_request.h.
 *
 * `max_tokens` is the older name of the limit; the servers that people run themselves know no
 * other.
 *
 * SPDX-License-Identifier: MIT */
#include "client/llm_request.h"

#include "wire/json.h"
#include "wire/time.h"

enum { REQUEST_TIMEOUT = 408, TOO_MANY_REQUESTS = 429, SERVER_ERRORS = 500 };

static const char *const role_names[] = {
    [LLM_SYSTEM] = "system",
    [LLM_USER] = "user",
    [LLM_ASSISTANT] = "assistant",
};

bool llm_role_read(struct str name, enum llm_role *out)
{
    for (size_t i = 0; i < ARRAY_LEN(role_names); i++) {
        if (str_is(name, role_names[i])) {
            *out = (enum llm_role)i;
            return true;
        }
    }
    return false;
}

/* ---- The body ---- */

static void write_messages(struct json_writer *w, const struct llm_question *question)
{
    json_put_array(w, "messages");
    for (size_t i = 0; i < question->count; i++) {
        json_open_object(w);
        json_put_c(w, "role", role_names[question->messages[i].role]);
        json_put_str(w, "content", question->messages[i].content);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_schema(struct json_writer *w, const struct llm_question *question)
{
    json_put_object(w, "response_format");
    json_put_c(w, "type", "json_schema");
    json_put_object(w, "json_schema");
    json_put_c(w, "name", question->schema_name);
    json_put_raw(w, "schema", question->schema);
    json_put_bool(w, "strict", true);
    json_close_object(w);
    json_close_object(w);
}

static bool is_schema_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return name != NULL && name[0] != '\0' && strlen(name) <= LLM_SCHEMA_NAME_MAX &&
           strspn(name, allowed) == strlen(name);
}

bool llm_request_write(const struct llm_question *question, struct str model, struct buf *out,
                       struct err *err)
{
    if (!str_absent(question->schema) && !is_schema_name(question->schema_name)) {
        return err_set(err, ERR_INTERNAL, "a schema needs a name of letters, digits, '_' and '-'");
    }
    struct json_writer w = JSON_WRITER(out);
    json_open_object(&w);
    json_put_str(&w, "model", str_absent(question->model) ? model : question->model);
    write_messages(&w, question);
    if (!str_absent(question->schema)) {
        write_schema(&w, question);
    }
    if (question->max_tokens > 0) {
        json_put_i64(&w, "max_tokens", question->max_tokens);
    }
    if (question->on_text != NULL) {
        json_put_bool(&w, "stream", true);
        json_put_object(&w, "stream_options");
        json_put_bool(&w, "include_usage", true); /* it comes with a stream only if asked for */
        json_close_object(&w);
    }
    json_close_object(&w);
    return !out->full || err_set(err, ERR_TOO_LARGE, "the question is longer than %zu bytes",
                                 (size_t)LLM_REQUEST_MAX);
}

/* ---- Waiting ---- */

bool llm_status_may_pass(long status)
{
    return status == REQUEST_TIMEOUT || status == TOO_MANY_REQUESTS || status >= SERVER_ERRORS;
}

/* Only the difference of the two dates is meant: our clocks may differ. */
static int64_t until_date_ms(const struct llm_pause *pause, int64_t now_ms)
{
    int64_t until_ms, date_ms;
    if (!time_parse_http(pause->retry_after, &until_ms, NULL)) {
        return 0;
    }
    bool dated = !str_absent(pause->date) && time_parse_http(pause->date, &date_ms, NULL);
    return MIN(MAX(until_ms - (dated ? date_ms : now_ms), 0), LLM_RETRY_AFTER_MAX_MS);
}

int64_t llm_pause_ms(const struct llm_pause *pause, int64_t now_ms)
{
    uint64_t number;
    if (!str_absent(pause->retry_after_ms) && str_u64(pause->retry_after_ms, &number)) {
        return (int64_t)MIN(number, (uint64_t)LLM_RETRY_AFTER_MAX_MS);
    }
    if (str_absent(pause->retry_after)) {
        return 0;
    }
    if (!str_u64(pause->retry_after, &number)) {
        return until_date_ms(pause, now_ms);
    }
    return (int64_t)MIN(number, (uint64_t)(LLM_RETRY_AFTER_MAX_MS / SECOND_MS)) * SECOND_MS;
}

/* Half of our own wait is spread, so that many who were refused together do not come together
 * again. */
int64_t llm_wait_ms(const struct llm_limits *limits, unsigned tries, int64_t pause_ms,
                    double spread)
{
    int64_t wait_ms = limits->wait_ms;
    for (unsigned i = 1; i < tries && wait_ms < limits->wait_max_ms; i++) {
        wait_ms *= 2;
    }
    wait_ms = MIN(wait_ms, limits->wait_max_ms);
    int64_t spread_ms = (int64_t)((double)(wait_ms / 2) * spread);
    return pause_ms > 0 ? pause_ms + spread_ms : wait_ms - spread_ms;
}
