/* net/on_cloud_queue.c: queues of the Cloud Tasks API, and the places they lie in.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "net/cloud.h"
#include "net/on.h"
#include "task/reserved.h"

#define PLACES_LOOKED 10000 /* queues whose locations are listed: as many as there can be */

struct queue_call {
    struct cloud_path path;
    struct cloud_asked asked;
    struct cloud_order order;
};

static struct queue_call *begin(struct call *call, const struct form *query, enum cloud_verb verb,
                                struct err *err)
{
    struct queue_call *own = arena_new(call->arena, struct queue_call);
    if (!cloud_read_call(call, query, &own->path, &own->asked, err)) {
        return NULL;
    }
    own->order = (struct cloud_order){
        .verb = verb, .parent = own->path.parent, .queue = own->path.queue, .task = STR_NONE};
    call->own = own;
    return own;
}

static bool ask(struct call *call, struct queue_call *own, void (*done)(struct call *call))
{
    call->done = done;
    cloud_ask(call->api->parts.cloud, call_command(call, COMMAND_GUEST), &own->order);
    return true;
}

static void answer_queue(struct call *call)
{
    const struct queue_call *own = call->own;
    struct json_writer w = call_writer(call);
    cloud_write_queue(&w, own->order.views, own->asked.numbers);
    cloud_answer(call);
}

/* ---- Making, changing, looking ---- */

static bool name_in_body(struct queue_call *own, struct err *err)
{
    struct cloud_name name, parent = own->path.name;
    struct str text = own->order.settings.name;
    if (str_absent(text) || !cloud_name_parse(text, &name) || !str_absent(name.task) ||
        !cloud_queue_ok(name.queue)) {
        return err_field(err, "name",
                         "Queue name must be formatted: \"projects/<PROJECT_ID>/locations/"
                         "<LOCATION_ID>/queues/<QUEUE_ID>\".");
    }
    if (!str_eq(name.project, parent.project) || !str_eq(name.location, parent.location)) {
        return err_field(err, "name",
                         "The queue's name must begin with the parent of the request, "
                         "'projects/" STR_FMT "/locations/" STR_FMT "'.",
                         STR_ARG(parent.project), STR_ARG(parent.location));
    }
    own->path.name.queue = name.queue;
    return true;
}

bool on_cloud_queue_create(struct call *call, struct err *err)
{
    struct queue_call *own = begin(call, NULL, CLOUD_CREATE_QUEUE, err);
    if (own == NULL ||
        !cloud_read_body(call, &cloud_settings_form, &own->order.settings, &(uint64_t){0}, err) ||
        !name_in_body(own, err)) {
        return false;
    }
    own->order.queue = arena_printf(call->arena, STR_FMT "/" STR_FMT, STR_ARG(own->path.parent),
                                    STR_ARG(own->path.name.queue));
    return ask(call, own, answer_queue);
}

bool on_cloud_queue_change(struct call *call, struct err *err)
{
    struct queue_call *own = begin(call, &cloud_patch_query, CLOUD_PATCH_QUEUE, err);
    if (own == NULL ||
        !cloud_read_body(call, &cloud_settings_form, &own->order.settings, &(uint64_t){0}, err)) {
        return false;
    }
    struct str mask = own->asked.update_mask;
    if (!cloud_mask_parse(str_absent(mask) ? STR("*") : mask, &cloud_settings_form, call->arena,
                          &own->order.mask, err)) {
        return false;
    }
    return ask(call, own, answer_queue);
}

bool on_cloud_queue_show(struct call *call, struct err *err)
{
    struct queue_call *own = begin(call, NULL, CLOUD_GET_QUEUE, err);
    return own != NULL && ask(call, own, answer_queue);
}

/* ---- Verbs ---- */

static struct queue_call *begin_verb(struct call *call, enum cloud_verb verb, struct err *err)
{
    struct cloud_task_in ignored = {0};
    struct queue_call *own = begin(call, NULL, verb, err);
    return own != NULL && cloud_read_body(call, &cloud_run_form, &ignored, &(uint64_t){0}, err)
               ? own
               : NULL;
}

bool on_cloud_queue_pause(struct call *call, struct err *err)
{
    struct queue_call *own = begin_verb(call, CLOUD_PAUSE_QUEUE, err);
    return own != NULL && ask(call, own, answer_queue);
}

bool on_cloud_queue_resume(struct call *call, struct err *err)
{
    struct queue_call *own = begin_verb(call, CLOUD_RESUME_QUEUE, err);
    return own != NULL && ask(call, own, answer_queue);
}

/* Cancels what the queue has, as many batches as that takes. */
static void cancel_all(struct call *call, enum bulk_verb verb, struct str reason,
                       void (*done)(struct call *call))
{
    const struct queue_call *own = call->own;
    struct command *command = call_command(call, COMMAND_BULK);
    command->bulk = (struct command_bulk){
        .verb = verb,
        .filter = {.queue = own->order.queue, .type = STR(RESERVED_CLOUD_TYPE)},
        .reason = reason};
    call->done = done;
}

/* The queue says from now on that these tasks are purged; they are cancelled before it is
 * answered. */
static void purge_tasks(struct call *call)
{
    cancel_all(call, BULK_PURGE, STR_NONE, answer_queue);
}

bool on_cloud_queue_purge(struct call *call, struct err *err)
{
    struct queue_call *own = begin_verb(call, CLOUD_PURGE_QUEUE, err);
    return own != NULL && ask(call, own, purge_tasks);
}

static void answer_nothing(struct call *call)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_close_object(&w);
    cloud_answer(call);
}

static void forget_queue(struct call *call)
{
    struct queue_call *own = call->own;
    own->order.verb = CLOUD_FORGET_QUEUE;
    ask(call, own, answer_nothing);
}

static void cancel_tasks(struct call *call)
{
    cancel_all(call, BULK_CANCEL, STR("queue deleted"), forget_queue);
}

bool on_cloud_queue_remove(struct call *call, struct err *err)
{
    struct queue_call *own = begin(call, NULL, CLOUD_DELETE_QUEUE, err);
    return own != NULL && ask(call, own, cancel_tasks);
}

bool on_cloud_iam(struct call *call, struct err *err)
{
    struct json_writer w = call_writer(call);
    (void)err;
    json_open_object(&w);
    json_put_object(&w, "error");
    json_put_i64(&w, "code", 501);
    json_put_c(&w, "message",
               "IAM policies are not kept here: roles belong to tokens "
               "(errand token create).");
    json_put_c(&w, "status", "UNIMPLEMENTED");
    json_close_object(&w);
    json_close_object(&w);
    call_answer_with(call, 501, "application/json; charset=UTF-8", STR(""));
    return true;
}

/* ---- Lists ---- */

/* "state: PAUSED", "state=RUNNING", "state != PAUSED". */
static bool read_filter(struct str filter, bool *only, bool *paused, struct err *err)
{
    struct str rest = str_absent(filter) ? STR("") : str_trim(filter);
    *only = rest.len > 0;
    if (!*only) {
        return true;
    }
    bool named = str_starts(rest, STR("state"));
    rest = str_trim(str_from(rest, named ? sizeof "state" - 1 : 0));
    bool not = str_starts(rest, STR("!="));
    bool is = str_starts(rest, STR(":")) || str_starts(rest, STR("="));
    struct str word = str_trim(str_from(rest, not ? 2 : 1));
    *paused = str_is(word, "PAUSED") != not ;
    return (named && (not || is) && (str_is(word, "PAUSED") || str_is(word, "RUNNING"))) ||
           err_field(err, "filter", "filter must be of the form state: PAUSED or state: RUNNING");
}

static void answer_queues(struct call *call)
{
    const struct queue_call *own = call->own;
    const struct cloud_order *order = &own->order;
    struct json_writer w = call_writer(call);
    struct err err = ERR_INIT;
    bool only, paused;
    size_t most = own->asked.page_size == 0
                      ? CLOUD_QUEUES_PAGE_MAX
                      : (size_t)MIN(own->asked.page_size, CLOUD_QUEUES_PAGE_MAX);
    struct str after = own->asked.page_token, last = STR_NONE;
    if (!read_filter(own->asked.filter, &only, &paused, &err)) {
        call_fail(call, &err);
        return;
    }
    json_open_object(&w);
    json_put_array(&w, "queues");
    for (size_t i = 0; i < order->count; i++) {
        struct str name = cloud_short_queue(order->views[i].queue.name);
        bool wanted = !only || order->views[i].settings.paused == paused;
        if (!wanted || (!str_absent(after) && str_cmp(name, after) <= 0)) {
            continue;
        }
        if (most == 0) {
            after = last; /* there is another page */
            break;
        }
        cloud_write_queue(&w, &order->views[i], own->asked.numbers);
        last = name;
        most--;
    }
    json_close_array(&w);
    if (!str_absent(last) && most == 0 && str_eq(after, last)) {
        json_put_str(&w, "nextPageToken", last);
    }
    json_close_object(&w);
    cloud_answer(call);
}

bool on_cloud_queue_list(struct call *call, struct err *err)
{
    bool only, paused;
    struct queue_call *own = begin(call, &cloud_queues_query, CLOUD_LIST_QUEUES, err);
    if (own == NULL || !read_filter(own->asked.filter, &only, &paused, err)) {
        return false;
    }
    return (str_absent(own->asked.page_token) || cloud_queue_ok(own->asked.page_token) ||
            err_field(err, "pageToken", "pageToken must be the nextPageToken of a page before")) &&
           ask(call, own, answer_queues);
}

/* ---- Places ---- */

static void write_place(struct json_writer *w, struct str project, struct str location)
{
    json_open_object(w);
    json_key(w, "name");
    buf_printf(w->buf, "\"projects/" STR_FMT "/locations/" STR_FMT "\"", STR_ARG(project),
               STR_ARG(location));
    w->comma = true;
    json_put_str(w, "locationId", location);
    json_close_object(w);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Those that have queues: there is no list of places here. */
static void answer_places(struct call *call)
{
    const struct records *records = &((struct query *)call->own)->records;
    struct json_writer w = call_writer(call);
    struct str *owners = arena_array(call->arena, struct str, records->count), last = STR_NONE;
    for (size_t i = 0; i < records->count; i++) {
        owners[i] = records->at[i].owner;
    }
    qsort(owners, records->count, sizeof *owners, by_text);
    json_open_object(&w);
    json_put_array(&w, "locations");
    for (size_t i = 0; i < records->count; i++) {
        struct str location = owners[i], project = str_cut(&location, '/');
        if (str_eq(project, call->name) && !str_eq(owners[i], last)) {
            write_place(&w, project, location);
        }
        last = owners[i];
    }
    json_close_array(&w);
    json_close_object(&w);
    cloud_answer(call);
}

bool on_cloud_places(struct call *call, struct err *err)
{
    struct cloud_path path;
    struct cloud_asked asked;
    if (!cloud_read_call(call, &cloud_queues_query, &path, &asked, err)) {
        return false;
    }
    struct query *query = call_query(call, QUERY_RECORDS);
    query->record_filter =
        (struct record_filter){.kind = RECORD_CLOUD_QUEUE, .limit = PLACES_LOOKED};
    call->own = query;
    call->done = answer_places;
    call_ask(call, query);
    return true;
}
