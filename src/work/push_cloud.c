/* work/push_cloud.c: a task of the Cloud Tasks API as an HTTP request. See push_cloud.h.
 *
 * Content-Type is the task's own or none: a receiver may tell tasks apart by it.
 *
 * Thread: the workers'.
 *
 * SPDX-License-Identifier: MIT */
#include "work/push_cloud.h"

#include <inttypes.h>

#include "task/trace.h"
#include "wire/cloud.h"
#include "wire/json.h"
#include "work/loop.h"

#define HEADER_MAX (128 * KIB) /* one line; a task's headers are shorter in all */

static void add(struct curl_slist **headers, struct str name, struct str value)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(HEADER_MAX);
    buf_str(&line, name);
    if (value.len == 0) {
        buf_char(&line, ';'); /* curl's word for a header that is empty */
    } else {
        buf_c(&line, ": ");
        buf_str(&line, value);
    }
    struct curl_slist *longer = curl_slist_append(*headers, buf_c_text(&line));
    *headers = longer == NULL ? *headers : longer;
}

/* Says of each header that curl would add by itself whether the task has it. */
static void add_own(struct curl_slist **headers, struct job *job, struct str object, bool *typed)
{
    struct json json;
    struct str name, value;
    json_start(&json, object, &job->arena);
    if (!json_enter_object(&json, NULL)) {
        return;
    }
    while (json_member(&json, &name, NULL) && json_str(&json, &value, NULL)) {
        add(headers, name, value);
        *typed = *typed || str_eq_nocase(name, STR("Content-Type"));
    }
}

static void add_number(struct curl_slist **headers, struct job *job, const char *name, int number)
{
    add(headers, str_of(name), arena_printf(&job->arena, "%d", number));
}

/* Only a trace that somebody began goes on: the receiver is told nothing that it did not ask for.
 */
static void add_trace(struct curl_slist **headers, struct job *job)
{
    struct task_trace trace;
    struct str own = json_find_str(job->claimed->metadata, "traceparent", &job->arena);
    if (!str_absent(own)) {
        task_trace(&job->task, job->claimed->metadata, job->claimer->work->traced, &job->arena,
                   &trace);
        add(headers, STR("traceparent"), str_of(trace.parent));
    }
}

struct curl_slist *push_cloud_headers(struct job *job, const struct cloud_request *to)
{
    struct curl_slist *headers = NULL;
    const struct task *task = job->claimed;
    const struct cloud_dispatch was = cloud_dispatch_read(task, &job->arena);
    int64_t eta_ms = cloud_eta_ms(task);
    bool typed = false;
    add_own(&headers, job, to->headers, &typed);
    if (!typed) {
        headers = curl_slist_append(headers, "Content-Type:"); /* none, where curl would add one */
    }
    headers = curl_slist_append(headers, "Expect:");
    add(&headers, STR("X-CloudTasks-QueueName"), cloud_short_queue(task->queue));
    add(&headers, STR("X-CloudTasks-TaskName"), cloud_short_name(task));
    add_number(&headers, job, "X-CloudTasks-TaskRetryCount", task->attempt - 1);
    add_number(&headers, job, "X-CloudTasks-TaskExecutionCount", was.executions);
    add(&headers, STR("X-CloudTasks-TaskETA"),
        arena_printf(&job->arena, "%" PRId64 ".%03d000", eta_ms / SECOND_MS,
                     (int)(eta_ms % SECOND_MS)));
    if (task->attempt > 1) {
        add_number(&headers, job, "X-CloudTasks-TaskPreviousResponse", was.status);
    }
    add_trace(&headers, job);
    return headers;
}

void push_cloud_set(CURL *easy, const struct cloud_request *to, const struct job *job)
{
    const struct str body = job->task.payload;
    curl_easy_setopt(easy, CURLOPT_URL, arena_c_text((struct arena *)&job->arena, to->url));
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    if (cloud_method_has_body(to->method)) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, str_absent(body) ? "" : body.ptr);
    }
    if (to->method == CLOUD_HEAD) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (to->method != CLOUD_POST && to->method != CLOUD_GET) {
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, cloud_method_words[to->method]);
    }
}
