/* schedule/planner_task.c: the tasks of runs.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/planner_data.h"

/* What a run is told when its schedule brings no payload of its own. */
static struct str default_payload(struct round *round, const struct entry *entry)
{
    const struct schedule *schedule = entry->firing->schedule;
    char text[TASK_ID_TEXT];
    SCOPED(buf_fini) struct buf payload = BUF_INIT(SCHEDULE_PAYLOAD_MAX);
    struct json_writer w = JSON_WRITER(&payload);
    struct str purpose = str_absent(entry->purpose) ? schedule->purpose : entry->purpose;
    const struct {
        const char *key;
        struct str text;
    } texts[] = {{"title", schedule->title},       {"purpose", purpose},
                 {"userId", schedule->user},       {"chatId", entry->execution.chat},
                 {"messageId", schedule->message}, {"timezone", schedule->timezone}};
    json_open_object(&w);
    json_put_str(&w, "scheduleId", id_text(schedule->id, text));
    json_put_str(&w, "executionId", id_text(entry->execution.id, text));
    json_put_time(&w, "scheduledFor", entry->execution.scheduled_ms);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!str_absent(texts[i].text)) {
            json_put_str(&w, texts[i].key, texts[i].text);
        }
    }
    if (!str_absent(schedule->messages)) {
        json_put_raw(&w, "messages", schedule->messages);
    }
    json_close_object(&w);
    return arena_str(round->arena, buf_view(&payload));
}

static struct order order_of(struct round *round, const struct entry *entry)
{
    const struct schedule *schedule = entry->firing->schedule;
    struct str type = str_absent(schedule->type) || schedule->type.len == 0
                          ? round->planner->with.default_type
                          : schedule->type;
    return (struct order){
        .named = true,
        .delay_ms = -1,
        .task = {.id = entry->execution.id,
                 .type = type,
                 .queue = schedule->queue,
                 .document = schedule->document.len == 0 ? STR_NONE : schedule->document,
                 .payload = str_absent(schedule->payload) ? default_payload(round, entry)
                                                          : schedule->payload,
                 .priority = schedule->priority,
                 .max_retries = (int32_t)schedule->max_retries,
                 .timeout_ms = schedule->timeout_ms,
                 .backoff = TASK_BACKOFF_DEFAULT,
                 .schedule = schedule->id,
                 .runs_anyway = true,
                 .progress = -1,
                 .cost = {schedule->query_cost, -1, -1}},
    };
}

/* It waits for the run before it, however that ends: one of the same request, or the last one. */
static void let_wait(struct round *round, struct order *orders, size_t at, struct task_id last)
{
    struct order_need *need = arena_new(round->arena, struct order_need);
    if (at > 0) {
        need->order = at;
    } else {
        need->id = last;
    }
    orders[at].needs = need;
    orders[at].needs_count = 1;
}

static size_t list_orders(struct round *round, struct firing *firing, struct order *orders,
                          struct entry **entries)
{
    size_t n = 0;
    for (size_t i = 0; i < firing->count; i++) {
        struct entry *entry = &round->entries[firing->first + i];
        if (!entry->run || !entry->applied) {
            continue; /* the key is taken: that occurrence has run */
        }
        entries[n] = entry;
        orders[n] = order_of(round, entry);
        if (entry->waits && (n > 0 || firing->last_open)) {
            let_wait(round, orders, n, firing->schedule->last_run);
        }
        n++;
    }
    return n;
}

/* No task could be created: the history says so, and the rhythm goes on. */
static bool note_failure(struct round *round, struct firing *firing, struct entry **entries,
                         size_t count, const struct err *why)
{
    struct record *records = arena_array(round->arena, struct record, count);
    for (size_t i = 0; i < count; i++) {
        struct execution *execution = &entries[i]->execution;
        execution->version = 1;
        execution->task = TASK_ID_NONE;
        execution->status = EXECUTION_FAILURE;
        execution->finished_ms = round->now_ms;
        execution->content = arena_str(round->arena, str_of(why->text));
        records[i] = execution_record(execution, round->arena);
        if (execution->decides) {
            firing->schedule->status = SCHEDULE_FAILED;
            firing->schedule->paused_reason = execution->content;
        }
    }
    return planner_save(round->planner, round->batch, records, count);
}

bool round_create_tasks(struct round *round, struct firing *firing)
{
    struct err err = ERR_INIT;
    struct order *orders = arena_array(round->arena, struct order, firing->count);
    struct entry **entries = arena_array(round->arena, struct entry *, firing->count);
    size_t n = list_orders(round, firing, orders, entries);
    if (n == 0) {
        return true;
    }
    if (guest_create(round->batch, orders, n, &err)) {
        firing->schedule->last_run = orders[n - 1].task.id;
        firing->schedule->last_ms = round->now_ms;
        return true;
    }
    if (err.kind == ERR_UNAVAILABLE || err.kind == ERR_FATAL || err.kind == ERR_CONFLICT) {
        return false; /* the batch is over */
    }
    return note_failure(round, firing, entries, n, &err);
}
