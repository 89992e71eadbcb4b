/* net/on_cloud_task.c: tasks of the Cloud Tasks API.
 *
 * Creating, deleting and sending at once are the engine's; looking is the readers': first for the
 * queue, which must be there, then for the task.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/cloud.h"
#include "net/filter_in.h"
#include "net/on.h"
#include "task/reserved.h"

#define OMIT_OVER (4 * KIB) /* what is longer is read for itself, where it is shown */

static const unsigned live = 1u << TASK_SCHEDULED | 1u << TASK_WAITING | 1u << TASK_QUEUED |
                             1u << TASK_RUNNING | 1u << TASK_RETRYING;

struct task_call {
    struct cloud_path path;
    struct cloud_asked asked;
    struct cloud_order order;
    struct cloud_queue queue;
    struct query *query;
    bool was_named; /* its name is on record */
    /* Of a list: */
    struct task_rows rows;
    size_t at, bytes;
};

static struct task_call *begin(struct call *call, const struct form *query, enum cloud_verb verb,
                               struct err *err)
{
    struct task_call *own = arena_new(call->arena, struct task_call);
    if (!cloud_read_call(call, query, &own->path, &own->asked, err)) {
        return NULL;
    }
    own->order =
        (struct cloud_order){.verb = verb, .queue = own->path.queue, .task = own->path.name.task};
    call->own = own;
    return own;
}

static bool ask(struct call *call, struct task_call *own, void (*done)(struct call *call))
{
    call->done = done;
    cloud_ask(call->api->parts.cloud, call_command(call, COMMAND_GUEST), &own->order);
    return true;
}

static void fail(struct call *call, enum err_kind kind, const char *text)
{
    struct err err = ERR_INIT;
    err_set(&err, kind, "%s", text);
    call_fail(call, &err);
}

/* Whoever may not see passwords does not see bodies: in base64 nobody would find them. */
static enum cloud_view view_of(const struct call *call)
{
    const struct task_call *own = call->own;
    return call_redact(call) != NULL ? CLOUD_VIEW_BASIC : own->asked.view;
}

static void write_answer(struct call *call, const struct task *task)
{
    const struct task_call *own = call->own;
    struct json_writer w = call_writer(call);
    cloud_write_task(&w, task, view_of(call), own->asked.numbers, call->arena);
    cloud_answer(call);
}

static void answer_task(struct call *call)
{
    write_answer(call, &((struct task_call *)call->own)->order.out);
}

/* ---- Creating, deleting, sending at once ---- */

bool on_cloud_task_create(struct call *call, struct err *err)
{
    struct cloud_task_in in;
    struct task_call *own = begin(call, NULL, CLOUD_CREATE_TASK, err);
    if (own == NULL || !cloud_read_task(call, &own->path, &in, &own->order, err)) {
        return false;
    }
    own->asked.view = in.view;
    return ask(call, own, answer_task);
}

static void answer_nothing(struct call *call)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_close_object(&w);
    cloud_answer(call);
}

bool on_cloud_task_remove(struct call *call, struct err *err)
{
    struct task_call *own = begin(call, NULL, CLOUD_DELETE_TASK, err);
    return own != NULL && ask(call, own, answer_nothing);
}

bool on_cloud_task_run(struct call *call, struct err *err)
{
    struct cloud_task_in in = {0};
    struct task_call *own = begin(call, NULL, CLOUD_RUN_TASK, err);
    if (own == NULL || !cloud_read_body(call, &cloud_run_form, &in, &(uint64_t){0}, err)) {
        return false;
    }
    own->asked.view = in.view;
    return ask(call, own, answer_task);
}

/* ---- Looking ---- */

/* A task that has ended, or will for somebody deleted it, is not there for this API. */
static bool is_gone(const struct task_call *own, const struct task *task)
{
    return task_state_terminal(task->state) || task->cancel_requested ||
           (task->state == TASK_RUNNING && cloud_queue_purged(&own->queue, task->id));
}

/* Asks for the queue; `found` goes on when it is there. */
static void look(struct call *call, struct task_call *own, void (*found)(struct call *call))
{
    own->query = call_query(call, QUERY_RECORD);
    own->query->record_filter.kind = RECORD_CLOUD_QUEUE;
    own->query->id = cloud_queue_id(own->path.queue);
    call->done = found;
    call_ask(call, own->query);
}

static bool has_queue(struct call *call)
{
    struct task_call *own = call->own;
    struct err err = ERR_INIT;
    if (own->query->found &&
        !cloud_queue_load(&own->query->record, call->arena, &own->queue, &err)) {
        call_fail(call, &err);
        return false;
    }
    if (!own->query->found || own->queue.deleting) {
        fail(call, ERR_NOT_FOUND, CLOUD_NO_QUEUE);
        return false;
    }
    return true;
}

static void show_task(struct call *call)
{
    const struct task_call *own = call->own;
    const struct task *task = &own->query->detail.task;
    bool ours = own->query->found && task_is_cloud(task) && str_eq(task->queue, own->path.queue) &&
                str_eq(cloud_short_name(task), own->path.name.task);
    if (ours && !is_gone(own, task)) {
        write_answer(call, task);
        return;
    }
    int64_t now_ms = clock_now(call->api->options.clock).wall_ms;
    int64_t kept_ms = cloud_tombstone_ms(call->api->parts.cloud);
    bool lately = ours && (task->finished_ms == 0 || now_ms - task->finished_ms < kept_ms);
    fail(call, ERR_NOT_FOUND, lately || own->was_named ? CLOUD_WAS_THERE : CLOUD_NOT_FOUND);
}

static void find_task(struct call *call)
{
    struct task_call *own = call->own;
    struct task_id id = own->query->record.parent;
    own->was_named = own->query->found;
    if (!own->was_named && !id_parse(own->path.name.task, &id)) {
        fail(call, ERR_NOT_FOUND, CLOUD_NOT_FOUND);
        return;
    }
    own->query = call_query(call, QUERY_DETAIL);
    own->query->id = id;
    call->done = show_task;
    call_ask(call, own->query);
}

static void find_name(struct call *call)
{
    struct task_call *own = call->own;
    if (has_queue(call)) {
        own->query = call_query(call, QUERY_RECORD);
        own->query->record_filter.kind = RECORD_CLOUD_NAME;
        own->query->id = cloud_name_id(&own->queue, own->path.name.task);
        call->done = find_task;
        call_ask(call, own->query);
    }
}

bool on_cloud_task_show(struct call *call, struct err *err)
{
    struct task_call *own = begin(call, &cloud_view_query, CLOUD_VERBS, err);
    if (own != NULL) {
        look(call, own, find_name);
    }
    return own != NULL;
}

/* ---- Lists ---- */

static void answer_list(struct call *call)
{
    const struct task_call *own = call->own;
    struct json_writer w = call_writer(call);
    char cursor[CURSOR_TEXT];
    json_open_object(&w);
    json_put_array(&w, "tasks");
    for (size_t i = 0; i < own->at; i++) {
        if (!is_gone(own, &own->rows.at[i].task)) {
            cloud_write_task(&w, &own->rows.at[i].task, view_of(call), own->asked.numbers,
                             call->arena);
        }
    }
    json_close_array(&w);
    if (own->at > 0 && (own->rows.more || own->at < own->rows.count)) {
        json_put_str(&w, "nextPageToken", cursor_text(own->rows.at[own->at - 1].task.id, cursor));
    }
    json_close_object(&w);
    cloud_answer(call);
}

static void take_whole(struct call *call);

/* Goes through the rows; what was left out because it is long is read for itself, as long as the
 * page is not too large with it: then the next begins there. */
static void fill_page(struct call *call)
{
    struct task_call *own = call->own;
    for (; own->at < own->rows.count; own->at++) {
        const struct task_row *row = &own->rows.at[own->at];
        bool lacks =
            row->metadata_omitted || (row->payload_omitted && view_of(call) == CLOUD_VIEW_FULL);
        if (own->bytes > CLOUD_PAGE_BYTES) {
            break;
        }
        if (lacks) {
            own->query = call_query(call, QUERY_DETAIL);
            own->query->id = row->task.id;
            call->done = take_whole;
            call_ask(call, own->query);
            return;
        }
        own->bytes += row->task.metadata.len + row->task.payload.len;
    }
    answer_list(call);
}

static void take_whole(struct call *call)
{
    struct task_call *own = call->own;
    struct task_row *row = &own->rows.at[own->at];
    row->metadata_omitted = row->payload_omitted = false;
    if (own->query->found) {
        row->task = own->query->detail.task;
    } else {
        row->task.state = TASK_CANCELLED; /* removed meanwhile */
    }
    fill_page(call);
}

static void take_rows(struct call *call)
{
    struct task_call *own = call->own;
    own->rows = own->query->rows;
    fill_page(call);
}

static void list_tasks(struct call *call)
{
    struct task_call *own = call->own;
    struct err err = ERR_INIT;
    int64_t size = own->asked.page_size;
    struct task_filter filter = {.queue = own->path.queue,
                                 .type = STR(RESERVED_CLOUD_TYPE),
                                 .states = live,
                                 .omit_over = OMIT_OVER,
                                 .limit = size == 0 ? CLOUD_TASKS_PAGE_MAX
                                                    : (size_t)MIN(size, CLOUD_TASKS_PAGE_MAX)};
    if (!has_queue(call)) {
        return;
    }
    const struct form_row row = {.name = STR("pageToken"),
                                 .at = offsetof(struct task_filter, before)};
    if (!str_absent(own->asked.page_token) &&
        !cursor_hook.text(&row, own->asked.page_token, &filter, &err)) {
        fail(call, ERR_INVALID, "pageToken must be the nextPageToken of a page before");
        return;
    }
    own->query = call_query(call, QUERY_LIST);
    own->query->filter = filter;
    call->done = take_rows;
    call_ask(call, own->query);
}

bool on_cloud_task_list(struct call *call, struct err *err)
{
    struct task_call *own = begin(call, &cloud_tasks_query, CLOUD_VERBS, err);
    if (own != NULL) {
        look(call, own, list_tasks);
    }
    return own != NULL;
}
