/* schedule/delivery.c: the tasks that bring one run's result to its channels. See delivery.h.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/delivery.h"

#include "schedule/message.h"
#include "schedule/notification.h"
#include "schedule/planner_data.h"
#include "task/life.h"
#include "task/reserved.h"

#define RETRIES_MIN      3 /* even if the schedule's own tasks have none */
#define TIMEOUT_MS       (2 * MINUTE_MS)
#define REPORT_ERROR_MAX 1000 /* bytes of an error's text */
#define NOTICE_TEXT_MAX  KIB
#define KEY_BEGIN        STR(RESERVED_DELIVERY_KEY)
#define KEY_FAILED                                                                                 \
    STR(RESERVED_FAILURE_KEY) /* of a notice that a run failed: no delivery of a result */

static const struct str types[SCHEDULE_CHANNELS] = {
    [CHANNEL_EMAIL] = {RESERVED_DELIVERY_TYPE "email", 13},
    [CHANNEL_WEB] = {RESERVED_DELIVERY_TYPE "web", 11},
    [CHANNEL_MOBILE] = {RESERVED_DELIVERY_TYPE "mobile", 14},
};

bool delivery_of(const struct task *task, struct delivery *out)
{
    struct str rest = task->key;
    if (str_absent(rest) || !str_starts(rest, KEY_BEGIN)) {
        return false;
    }
    rest = str_from(rest, KEY_BEGIN.len);
    struct str execution = str_cut(&rest, ':');
    for (int i = 0; i < SCHEDULE_CHANNELS && !str_absent(rest); i++) {
        if (str_is(rest, schedule_channels[i]) && str_eq(task->type, types[i])) {
            out->channel = (enum schedule_channel)i;
            return id_parse(execution, &out->execution);
        }
    }
    return false;
}

/* ---- The report of an execution: {"EMAIL":{"status","attempts","at","taskId","error"}} ---- */

/* The entry of one channel, from its task. */
struct report_entry {
    struct str channel;
    enum task_state state;
    int32_t attempts;
    int64_t at_ms;            /* when that became so */
    struct task_id task;      /* none: there was none */
    struct task_error error;  /* shown unless it was delivered */
    struct str cancel_reason; /* CANCELLED: shown as its error */
};

static void write_error(struct json_writer *w, const struct report_entry *entry)
{
    bool cancelled = entry->state == TASK_CANCELLED;
    struct str message = cancelled && entry->cancel_reason.len > 0 ? entry->cancel_reason
                         : cancelled                               ? STR("cancelled")
                                                                   : entry->error.message;
    if (entry->state != TASK_COMPLETED && message.len > 0) {
        json_put_str(w, "error", str_head(message, REPORT_ERROR_MAX));
    }
}

static void write_entry(struct json_writer *w, const struct report_entry *entry)
{
    char text[TASK_ID_TEXT];
    json_key_str(w, entry->channel);
    json_open_object(w);
    json_put_c(w, "status", task_state_name(entry->state));
    json_put_i64(w, "attempts", entry->attempts);
    json_put_time(w, "at", entry->at_ms);
    if (!id_none(entry->task)) {
        json_put_str(w, "taskId", id_text(entry->task, text));
    }
    write_error(w, entry);
    json_close_object(w);
}

/* The report with that entry put into its place, or behind the others. */
static struct str put_report(struct str report, const struct report_entry *entry,
                             struct arena *arena)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(EXECUTION_DELIVERIES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    struct json json;
    struct str key, value;
    bool put = false;
    json_open_object(&w);
    json_start(&json, str_absent(report) ? STR("{}") : report, arena);
    if (json_enter_object(&json, NULL)) {
        while (json_member(&json, &key, NULL)) {
            if (str_eq(key, entry->channel)) {
                write_entry(&w, entry);
                put = true;
            } else if (json_raw(&json, &value, NULL)) {
                json_key_str(&w, key);
                json_add_raw(&w, value);
            }
        }
    }
    if (!put) {
        write_entry(&w, entry);
    }
    json_close_object(&w);
    return arena_str(arena, buf_view(&out));
}

/* Whether every channel has been delivered to, and there is one. */
static bool is_report_done(struct str report, struct arena *arena)
{
    struct json json;
    struct str key, value;
    size_t count = 0, done = 0;
    json_start(&json, str_absent(report) ? STR("{}") : report, arena);
    if (!json_enter_object(&json, NULL)) {
        return false;
    }
    while (json_member(&json, &key, NULL) && json_raw(&json, &value, NULL)) {
        struct str status = json_find_str(value, "status", arena);
        count++;
        done += str_is(status, task_state_name(TASK_COMPLETED));
    }
    return json_ok(&json) && count > 0 && done == count;
}

/* ---- Messages and their tasks ---- */

static struct message message_of(struct batch *batch, const struct schedule *schedule,
                                 const struct execution *execution, enum schedule_channel channel)
{
    struct arena *arena = guest_arena(batch);
    char id[TASK_ID_TEXT];
    const char *name = schedule_channels[channel];
    struct str title =
        schedule->delivery_title.len > 0 ? schedule->delivery_title : schedule->title;
    struct str text = execution->content.len > 0 ? execution->content : schedule->title;
    struct str run = arena_str(arena, id_text(execution->id, id));
    return (struct message){
        .to = str_absent(schedule->deliver_to) ? STR_NONE
                                               : json_find_str(schedule->deliver_to, name, arena),
        .title = message_line(title, MESSAGE_TITLE_MAX, arena),
        .text = str_head(text, MESSAGE_TEXT_MAX),
        .id = arena_printf(arena, STR_FMT ".%s", STR_ARG(run), name),
        .at_ms = guest_now(batch).wall_ms,
        .user = schedule->user,
        .schedule = arena_str(arena, id_text(schedule->id, id)),
        .execution = run,
        .chat = execution->chat,
    };
}

/* A run that failed for good says so, in few words; what it should have brought is not there. */
static struct message notice_of(struct batch *batch, const struct schedule *schedule,
                                const struct execution *execution, enum schedule_channel channel)
{
    struct arena *arena = guest_arena(batch);
    struct message message = message_of(batch, schedule, execution, channel);
    struct str title = arena_printf(arena, "Failed: " STR_FMT, STR_ARG(message.title));
    message.title = message_line(title, MESSAGE_TITLE_MAX, arena);
    message.text = str_head(message.text, NOTICE_TEXT_MAX);
    message.id = arena_printf(arena, STR_FMT ".FAILED", STR_ARG(message.id));
    return message;
}

static struct order order_of(struct batch *batch, const struct schedule *schedule,
                             const struct message *message, enum schedule_channel channel,
                             struct str key_begin)
{
    struct arena *arena = guest_arena(batch);
    int64_t retries = MAX(schedule->max_retries, (int64_t)RETRIES_MIN);
    return (struct order){
        .delay_ms = -1,
        .task = {.type = types[channel],
                 .queue = STR(RESERVED_DELIVERY_QUEUE),
                 .key = arena_printf(arena, STR_FMT STR_FMT ":%s", STR_ARG(key_begin),
                                     STR_ARG(message->execution), schedule_channels[channel]),
                 .payload = message_write(message, arena),
                 .priority = schedule->priority,
                 .max_retries = (int32_t)retries,
                 .timeout_ms = TIMEOUT_MS,
                 .backoff = TASK_BACKOFF_DEFAULT,
                 .schedule = schedule->id,
                 .progress = -1,
                 .cost = TASK_COST_NONE},
    };
}

/* ---- The WEB ---- */

static void notify(struct batch *batch, struct task_id schedule, struct task_id execution,
                   const struct message *message, int64_t retention_ms)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer w = JSON_WRITER(&json);
    int64_t now_ms = guest_now(batch).wall_ms;
    const struct notification notification = {
        .id = guest_make_id(batch),
        .schedule = schedule,
        .execution = execution,
        .user = message->user,
        .chat = message->chat,
        .title = message->title,
        .content = message->text,
        .created_ms = now_ms,
        .expires_ms = retention_ms == 0 ? 0 : now_ms + retention_ms,
    };
    struct record record = notification_record(&notification, guest_arena(batch));
    if (!guest_save_record(batch, &record)) {
        return;
    }
    notification_write(&w, &notification);
    guest_tell(batch, notification_topic(notification.user, guest_arena(batch)),
               STR("notification"), buf_view(&json));
    guest_tell(batch, NOTIFICATIONS_OF_ALL, STR("notification"), buf_view(&json));
}

/* To store a notification is all that this delivery does, so it is done in the transaction that
 * creates its task: the task is born COMPLETED, after one attempt, and nobody has to claim it. */
static void complete_at_once(struct batch *batch, struct task *task)
{
    struct err err = ERR_INIT;
    int64_t now_ms = guest_now(batch).wall_ms;
    const struct task_claim claim = {
        .worker = STR("web"), .lease_ms = TIMEOUT_MS, .token = rand_u64(guest_rand(batch)) | 1};
    if (!task_start(task, &claim, now_ms, &err) || !task_complete(task, STR_NONE, now_ms, &err)) {
        guest_store_failed(batch, &err); /* a new task can be started and completed */
    }
}

/* ---- Creating them ---- */

static bool send(struct batch *batch, const struct schedule *schedule, struct task_id execution,
                 const struct message *message, enum schedule_channel channel, struct order *order,
                 int64_t retention_ms, struct err *err)
{
    if (!guest_create(batch, order, 1, err)) {
        return false;
    }
    if (channel == CHANNEL_WEB && !order->known) {
        complete_at_once(batch, &order->task);
        notify(batch, schedule->id, execution, message, retention_ms);
    }
    return true;
}

static void create_one(struct batch *batch, const struct schedule *schedule,
                       struct execution *execution, enum schedule_channel channel,
                       int64_t retention_ms)
{
    struct arena *arena = guest_arena(batch);
    struct err err = ERR_INIT;
    struct order *order = arena_new(arena, struct order);
    struct message message = message_of(batch, schedule, execution, channel);
    struct report_entry entry = {.channel = str_of(schedule_channels[channel]),
                                 .at_ms = guest_now(batch).wall_ms};
    *order = order_of(batch, schedule, &message, channel, KEY_BEGIN);
    if (!send(batch, schedule, execution->id, &message, channel, order, retention_ms, &err)) {
        /* It could not even be created: that shows, and holds up nobody. */
        entry.state = TASK_FAILED;
        entry.error = (struct task_error){.code = STR("not_created"),
                                          .message = arena_str(arena, str_of(err.text))};
    } else {
        entry.state = order->task.state == TASK_RUNNING ? TASK_QUEUED : order->task.state;
        entry.attempts = order->task.attempt;
        entry.task = order->task.id;
    }
    execution->deliveries = put_report(execution->deliveries, &entry, arena);
}

void deliveries_create(struct batch *batch, const struct schedule *schedule,
                       struct execution *execution, int64_t retention_ms)
{
    for (int i = 0; i < SCHEDULE_CHANNELS; i++) {
        if ((schedule->delivery & (1u << i)) != 0) {
            create_one(batch, schedule, execution, (enum schedule_channel)i, retention_ms);
        }
    }
    execution->delivered = is_report_done(execution->deliveries, guest_arena(batch));
}

/* What cannot be told is left out: the history has it. */
void deliveries_tell_failure(struct batch *batch, const struct schedule *schedule,
                             const struct execution *execution, int64_t retention_ms)
{
    for (int i = 0; i < SCHEDULE_CHANNELS; i++) {
        enum schedule_channel channel = (enum schedule_channel)i;
        struct err ignored = ERR_INIT;
        struct order *order = arena_new(guest_arena(batch), struct order);
        if ((schedule->delivery & (1u << i)) != 0) {
            struct message message = notice_of(batch, schedule, execution, channel);
            *order = order_of(batch, schedule, &message, channel, KEY_FAILED);
            (void)!send(batch, schedule, execution->id, &message, channel, order, retention_ms,
                        &ignored);
        }
    }
}

/* ---- Ending ---- */

static bool load_payload(struct batch *batch, const struct task *task, struct str *out)
{
    struct err err = ERR_INIT;
    struct tx *tx = guest_tx(batch);
    struct task_load load = {.id = task->id, .arena = guest_arena(batch), .whole = true};
    *out = task->payload;
    if (!str_absent(*out)) {
        return true;
    }
    if (tx == NULL || !tx_load(tx, &load, 1, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    *out = load.found ? load.task.payload : STR_NONE;
    return true;
}

/* One that waited in its queue: created before WEB deliveries were completed at once, or retried by
 * hand. */
static void notify_late(struct batch *batch, const struct delivery *delivery,
                        const struct task *task, int64_t retention_ms)
{
    struct err err = ERR_INIT;
    struct message message;
    struct str payload;
    if (load_payload(batch, task, &payload) &&
        message_read(payload, guest_arena(batch), &message, &err)) {
        notify(batch, task->schedule, delivery->execution, &message, retention_ms);
    }
}

static void report(struct batch *batch, const struct delivery *delivery, const struct task *task)
{
    struct arena *arena = guest_arena(batch);
    struct err err = ERR_INIT;
    struct record_load load = {.kind = RECORD_EXECUTION, .id = delivery->execution};
    struct execution execution;
    const struct report_entry entry = {.channel = str_of(schedule_channels[delivery->channel]),
                                       .state = task->state,
                                       .attempts = task->attempt,
                                       .at_ms = guest_now(batch).wall_ms,
                                       .task = task->id,
                                       .error = task->error,
                                       .cancel_reason = task->cancel_reason};
    if (!guest_load_record(batch, &load, guest_arena(batch)) || !load.found) {
        return; /* its schedule was removed */
    }
    if (!execution_load(&load.record, arena, &execution, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    execution.deliveries = put_report(execution.deliveries, &entry, arena);
    execution.delivered = is_report_done(execution.deliveries, arena);
    struct record record = execution_record(&execution, arena);
    (void)!guest_save_record(batch, &record);
}

void delivery_changed(struct batch *batch, const struct delivery *delivery, const struct task *was,
                      const struct task *now, int64_t retention_ms)
{
    bool ends = task_state_terminal(now->state);
    bool revived = task_state_terminal(was->state) && !ends;
    if (now->state == TASK_COMPLETED && delivery->channel == CHANNEL_WEB) {
        notify_late(batch, delivery, now, retention_ms);
    }
    if (ends || revived || now->state == TASK_RETRYING) {
        report(batch, delivery, now);
    }
}
