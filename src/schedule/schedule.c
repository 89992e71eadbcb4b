/* schedule/schedule.c: the noun and the table of its fields. See schedule.h.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/schedule.h"

#include "time/recur.h"

const char *const schedule_statuses[] = {"ACTIVE", "PAUSED", "COMPLETED", "FAILED", NULL};
const char *const schedule_categories[] = {"REMINDER", "REPORT", "ANALYSIS", "OTHERS", NULL};
const char *const schedule_channels[] = {"EMAIL", "WEB", "MOBILE", NULL};
static const char *const priorities[] = {"", "LOW", "NORMAL", "HIGH", "CRITICAL", NULL};
static const char *const overlaps[] = {"skip", "queue", "allow", "cancel", NULL};
static const char *const misfires[] = {"once", "skip", "all", NULL};
static const char *const gaps[] = {"shift", "skip", NULL};
static const char *const folds[] = {"first", "last", "both", NULL};

#define ASKED    (FORM_SET | FORM_CHANGE | FORM_SHOWN | FORM_KEPT)
#define STANDARD (ASKED | FORM_DEFAULT)
#define SHOWN    (FORM_SHOWN | FORM_KEPT)
#define ALWAYS   (SHOWN | FORM_ALWAYS)
#define ROW(label, member, form_kind, form_use, ...)                                               \
    FORM_ROW(label, struct schedule, member, form_kind, form_use, __VA_ARGS__)

#define WALL_TIME                                                                                  \
    "Wall time in `timezone`, such as 2027-03-01T09:00:00; with Z or an offset that instant."
#define ADDRESS "{\"type\":\"string\",\"maxLength\":2048}"
#define ADDRESSES                                                                                  \
    "{\"type\":[\"object\",\"null\"],\"properties\":{\"EMAIL\":" ADDRESS ",\"WEB\":" ADDRESS       \
    ",\"MOBILE\":" ADDRESS "},\"additionalProperties\":false}"

/* clang-format off */
static const struct form_row rows[] = {
    ROW("id", id, FORM_ID, ALWAYS, 0),
    ROW("title", title, FORM_TEXT, ASKED | FORM_ALWAYS, .min = 1, .max = SCHEDULE_TITLE_MAX),
    ROW("description", description, FORM_TEXT, ASKED, .max = SCHEDULE_DESCRIPTION_MAX),
    ROW("purpose", purpose, FORM_TEXT, ASKED, .max = SCHEDULE_PURPOSE_MAX,
        .about = "The prompt or intent that an execution works from."),
    ROW("isOneTime", one_time, FORM_BOOL, ASKED, .about = "Follows from the rule; given, it must agree."),
    ROW("rrule", rrule, FORM_TEXT, ASKED, .max = RRULE_TEXT_MAX,
        .about = "RFC 5545, such as FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0."),
    ROW("dtstart", dtstart, FORM_TEXT, ASKED, .max = SCHEDULE_NAME_MAX,
        .about = WALL_TIME " Alone: a single time. Default: now."),
    ROW("exdates", exdates, FORM_TEXTS, ASKED, .max = RECUR_DATES_MAX, .about = "Times left out. " WALL_TIME),
    ROW("rdates", rdates, FORM_TEXTS, ASKED, .max = RECUR_DATES_MAX, .about = "Times added. " WALL_TIME),
    ROW("timezone", timezone, FORM_TEXT, STANDARD | FORM_ALWAYS, .min = 1, .max = SCHEDULE_NAME_MAX,
        .standard_text = "UTC", .about = "An IANA name, such as Europe/Paris."),
    ROW("status", status, FORM_WORD, SHOWN, .words = schedule_statuses),
    ROW("pausedReason", paused_reason, FORM_TEXT, SHOWN, .max = SCHEDULE_DESCRIPTION_MAX,
        .about = "Why it is PAUSED or FAILED."),
    ROW("resumeAt", resume_ms, FORM_TIME, SHOWN, .about = "PAUSED: it is ACTIVE again by itself then."),
    ROW("nextExecutionTime", next_ms, FORM_TIME, SHOWN,
        .about = "The coming occurrence; `jitterMs` may start it later."),
    ROW("lastExecutionTime", last_ms, FORM_TIME, SHOWN, 0),
    ROW("nextWakeUpTime", wake_ms, FORM_TIME, SHOWN,
        .about = "It is planned again then, because its next time is too far ahead."),
    ROW("category", category, FORM_WORD, STANDARD, .words = schedule_categories, .standard = SCHEDULE_OTHERS),
    ROW("taskType", type, FORM_TEXT, ASKED, .min = 1, .max = TASK_TYPE_MAX,
        .about = "Type of the task of each run. Default `prompt`, or `remind` without a language model."),
    ROW("payload", payload, FORM_VALUE, ASKED, .max = SCHEDULE_PAYLOAD_MAX,
        .about = "Payload of that task, kept byte for byte. Default: what the run is about."),
    ROW("queue", queue, FORM_TEXT, STANDARD | FORM_ALWAYS, .min = 1, .max = TASK_QUEUE_MAX,
        .standard_text = "default", .pattern = "^[A-Za-z0-9_.:/-]+$"),
    ROW("priority", priority, FORM_WORD, STANDARD | FORM_NUMBER | FORM_ALWAYS, .words = priorities,
        .standard = TASK_NORMAL),
    ROW("documentId", document, FORM_TEXT, ASKED, .max = TASK_DOCUMENT_MAX),
    ROW("maxRetries", max_retries, FORM_I64, STANDARD, .max = TASK_RETRIES_MAX, .standard = TASK_MAX_RETRIES_DEFAULT),
    ROW("timeoutMs", timeout_ms, FORM_I64, STANDARD, .max = TASK_DURATION_MAX_MS, .standard = TASK_TIMEOUT_DEFAULT_MS),
    ROW("overlap", overlap, FORM_WORD, STANDARD, .words = overlaps,
        .about = "When the last run is unfinished: leave this time out, wait, run beside it, or cancel it."),
    ROW("misfire", misfire, FORM_WORD, STANDARD, .words = misfires,
        .about = "After downtime: run the latest missed time, none, or all (at most 1000)."),
    ROW("dstGap", gap, FORM_WORD, STANDARD, .words = gaps),
    ROW("dstFold", fold, FORM_WORD, STANDARD, .words = folds),
    ROW("jitterMs", jitter_ms, FORM_I64, STANDARD, .max = SCHEDULE_JITTER_MAX_MS,
        .about = "Starts are spread over this window, always the same for one schedule."),
    ROW("delivery", delivery, FORM_WORDS, STANDARD, .words = schedule_channels, .standard = 1u << CHANNEL_WEB),
    ROW("deliveryTitle", delivery_title, FORM_TEXT, ASKED, .max = SCHEDULE_TITLE_MAX),
    ROW("deliverTo", deliver_to, FORM_OBJECT, ASKED, .max = SCHEDULE_DELIVER_TO_MAX, .schema = ADDRESSES),
    ROW("queryPerExecution", query_cost, FORM_F64, STANDARD, .max = SCHEDULE_COST_MAX, .standard = 1),
    ROW("userId", user, FORM_TEXT, ASKED, .max = SCHEDULE_NAME_MAX),
    ROW("chatId", chat, FORM_TEXT, ASKED, .max = SCHEDULE_NAME_MAX),
    ROW("messageId", message, FORM_TEXT, ASKED, .max = SCHEDULE_NAME_MAX),
    ROW("messages", messages, FORM_ARRAY, ASKED, .max = SCHEDULE_CONTEXT_MAX,
        .about = "The conversation it came from, at most 50; what successful runs say is appended."),
    ROW("createdAt", created_ms, FORM_TIME, ALWAYS, 0),
    ROW("updatedAt", updated_ms, FORM_TIME, ALWAYS, 0),
    ROW("openStart", open_start, FORM_BOOL, FORM_KEPT, 0),
    ROW("cursor", cursor_ms, FORM_TIME, FORM_KEPT, 0),
    ROW("lastRun", last_run, FORM_ID, FORM_KEPT, 0),
    ROW("zoneVersion", zone_version, FORM_I64, FORM_KEPT, .min = INT64_MIN, .max = INT64_MAX),
};
/* clang-format on */
const struct form schedule_form = {rows, ARRAY_LEN(rows)};
_Static_assert(ARRAY_LEN(rows) <= 64, "a bit for each row");

struct schedule schedule_blank(void)
{
    struct schedule blank = {.id = TASK_ID_NONE};
    form_init(&schedule_form, &blank);
    return blank;
}

uint32_t schedule_marks(unsigned statuses, unsigned categories)
{
    uint32_t marks = 0;
    if (statuses == 0 && categories == 0) {
        return 0;
    }
    for (int status = 0; status < SCHEDULE_STATUSES; status++) {
        for (int category = 0; category < SCHEDULE_CATEGORIES; category++) {
            bool in = (statuses == 0 || statuses >> status & 1) &&
                      (categories == 0 || categories >> category & 1);
            marks |= in ? UINT32_C(1) << schedule_mark(status, category) : 0;
        }
    }
    return marks;
}

/* ---- Checks ---- */

static const char *const addresses[] = {[CHANNEL_EMAIL] = "a mail address",
                                        [CHANNEL_WEB] = "an address",
                                        [CHANNEL_MOBILE] = "an http or https address"};

/* Whether somebody may answer to it is seen when it is used; this is about slips of the hand. */
static bool is_address(enum schedule_channel channel, struct str text)
{
    if (text.len > SCHEDULE_ADDRESS_MAX || str_has_control(text)) {
        return false;
    }
    if (channel == CHANNEL_MOBILE) {
        return str_starts(text, STR("http://")) || str_starts(text, STR("https://"));
    }
    const char *at = text.len > 2 ? memchr(text.ptr + 1, '@', text.len - 2) : NULL;
    return channel != CHANNEL_EMAIL || at != NULL;
}

static bool check_deliver_to(const struct schedule *schedule, struct arena *arena, struct err *err)
{
    struct json json;
    struct str key, address;
    int channel;
    if (str_absent(schedule->deliver_to)) {
        return true;
    }
    json_start(&json, schedule->deliver_to, arena);
    if (!json_enter_object(&json, err)) {
        return false;
    }
    while (json_member(&json, &key, err)) {
        if (!form_word(schedule_channels, key, &channel)) {
            return err_field(err, "deliverTo", "deliverTo may name EMAIL, WEB and MOBILE only");
        }
        if (json_peek(&json) != JSON_STRING || !json_str(&json, &address, err) ||
            !is_address((enum schedule_channel)channel, address)) {
            return err_field(err, "deliverTo", "deliverTo.%s must be %s of at most %d bytes",
                             schedule_channels[channel], addresses[channel], SCHEDULE_ADDRESS_MAX);
        }
    }
    return json_end(&json, err);
}

static bool check_messages(const struct schedule *schedule, struct arena *arena, struct err *err)
{
    struct json json;
    size_t count = 0;
    if (str_absent(schedule->messages)) {
        return true;
    }
    json_start(&json, schedule->messages, arena);
    if (!json_enter_array(&json, err)) {
        return false;
    }
    while (json_item(&json, err)) {
        if (++count > SCHEDULE_MESSAGES_MAX) {
            return err_field(err, "messages", "messages must be at most %d", SCHEDULE_MESSAGES_MAX);
        }
    }
    return json_end(&json, err);
}

/* The rules for a task's order are the task's own. */
static bool check_task(const struct schedule *schedule, struct err *err)
{
    struct task task = {.type = schedule->type.len == 0 ? STR("prompt") : schedule->type,
                        .queue = schedule->queue,
                        .document = schedule->document,
                        .payload = schedule->payload,
                        .priority = schedule->priority,
                        .max_retries = (int32_t)schedule->max_retries,
                        .timeout_ms = schedule->timeout_ms,
                        .backoff = TASK_BACKOFF_DEFAULT,
                        .progress = -1,
                        .cost = TASK_COST_NONE};
    return task_check_order(&task, err);
}

bool schedule_check(const struct schedule *schedule, struct arena *arena, struct err *err)
{
    if (schedule->title.len == 0) {
        return err_field(err, "title", "title is required");
    }
    if (str_has_control(schedule->title)) {
        return err_field(err, "title", "title must not hold control characters");
    }
    return check_task(schedule, err) && check_deliver_to(schedule, arena, err) &&
           check_messages(schedule, arena, err);
}

/* ---- Keeping ---- */

bool schedule_load(const struct record *record, struct arena *arena, struct schedule *out,
                   struct err *err)
{
    char text[TASK_ID_TEXT];
    *out = schedule_blank();
    if (!form_load(record->body, &schedule_form, arena, out, err)) {
        if (err != NULL) {
            err->kind = ERR_INTERNAL;
        }
        return err_wrap(err, "read schedule %s", id_text(record->id, text).ptr);
    }
    out->id = record->id;
    out->version = record->version;
    return true;
}

struct record schedule_record(const struct schedule *schedule, struct arena *arena)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer w = JSON_WRITER(&body);
    form_keep(&w, &schedule_form, schedule);
    return (struct record){.kind = RECORD_SCHEDULE,
                           .id = schedule->id,
                           .owner = schedule->user,
                           .due_ms = schedule_due_ms(schedule),
                           .at_ms = schedule->created_ms,
                           .mark = schedule_mark(schedule->status, schedule->category),
                           .version = schedule->version,
                           .body = arena_str(arena, buf_view(&body))};
}

int64_t schedule_offset_ms(const struct schedule *schedule)
{
    /* The second half of an id is random and never changes. */
    return (int64_t)(schedule->id.lo % (uint64_t)(schedule->jitter_ms + 1));
}

int64_t schedule_due_ms(const struct schedule *schedule)
{
    if (schedule->status == SCHEDULE_PAUSED) {
        /* 0: until a client resumes it */
        return schedule->resume_ms != 0 ? schedule->resume_ms : schedule->wake_ms;
    }
    if (schedule->status != SCHEDULE_ACTIVE || schedule->next_ms == 0) {
        return 0;
    }
    return schedule->wake_ms != 0 ? schedule->wake_ms
                                  : schedule->next_ms + schedule_offset_ms(schedule);
}

/* ---- The conversation ---- */

/* How many messages there are, and how many bytes each has. */
static size_t measure(struct str messages, struct str out[static SCHEDULE_MESSAGES_MAX],
                      struct arena *arena)
{
    struct json json;
    size_t count = 0;
    if (str_absent(messages)) {
        return 0;
    }
    json_start(&json, messages, arena);
    bool ok = json_enter_array(&json, NULL);
    while (ok && json_item(&json, NULL) && count < SCHEDULE_MESSAGES_MAX) {
        ok = json_raw(&json, &out[count++], NULL);
    }
    return count;
}

void schedule_remember(struct schedule *schedule, struct str content, struct arena *arena)
{
    struct str old[SCHEDULE_MESSAGES_MAX];
    size_t count = measure(schedule->messages, old, arena), bytes = 0, first = count;
    SCOPED(buf_fini) struct buf said = BUF_INIT(SCHEDULE_CONTEXT_MAX);
    SCOPED(buf_fini) struct buf all = BUF_INIT(SCHEDULE_CONTEXT_MAX);
    struct json_writer w = JSON_WRITER(&said);
    json_open_object(&w);
    json_put_c(&w, "role", "assistant");
    json_put_str(&w, "content", str_head(content, SCHEDULE_MESSAGE_MAX));
    json_close_object(&w);
    bytes = said.len + 2;
    while (first > 0 && count - first < SCHEDULE_MESSAGES_MAX - 1 &&
           bytes + old[first - 1].len + 1 <= SCHEDULE_CONTEXT_MAX) {
        bytes += old[--first].len + 1;
    }
    w = JSON_WRITER(&all);
    json_open_array(&w);
    for (; first < count; first++) {
        json_add_raw(&w, old[first]);
    }
    json_add_raw(&w, buf_view(&said));
    json_close_array(&w);
    schedule->messages = arena_str(arena, buf_view(&all));
}

struct str schedule_topic(struct str user, struct arena *arena)
{
    return arena_printf(arena, "schedules:" STR_FMT, (int)user.len,
                        str_absent(user) ? "" : user.ptr);
}
