/* net/event_write.c: an event as a browser's EventSource reads it. See backlog.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/backlog.h"
#include "wire/json.h"

static const char *const kind_names[EVENT_KINDS] = {
    [EVENT_STATE] = "state",     [EVENT_PROGRESS] = "progress", [EVENT_LOG] = "log",
    [EVENT_QUEUE] = "queue",     [EVENT_LEADER] = "leader",     [EVENT_TOPIC] = "topic",
    [EVENT_CANCEL] = "cancel",   [EVENT_SIGN_OUT] = "sign_out", [EVENT_WORKER] = "worker",
    [EVENT_RELEASE] = "release",
};

const char *event_kind_name(enum event_kind kind)
{
    return kind_names[kind];
}

static void put_if_there(struct json_writer *w, const char *key, struct str text)
{
    if (!str_absent(text)) {
        json_put_str(w, key, text);
    }
}

static void put_id_if_there(struct json_writer *w, const char *key, struct task_id id)
{
    char text[TASK_ID_TEXT];
    if (!id_none(id)) {
        json_put_str(w, key, id_text(id, text));
    }
}

static void put_task(struct json_writer *w, const struct event *event)
{
    put_id_if_there(w, "taskId", event->task);
    put_id_if_there(w, "parentId", event->parent);
    put_id_if_there(w, "batchId", event->family);
    json_put_str(w, "taskType", event->type);
    put_if_there(w, "documentId", event->document);
    json_put_str(w, "queue", event->queue);
    json_put_c(w, "state", task_state_name(event->state));
    json_put_i64(w, "attempt", event->attempt);
}

static void put_kind(struct json_writer *w, const struct event *event)
{
    switch (event->kind) {
    case EVENT_STATE:
        put_task(w, event);
        if (event->removed) {
            json_put_bool(w, "removed", true);
        }
        break;
    case EVENT_PROGRESS:
        put_task(w, event);
        if (event->percent >= 0) {
            json_put_f64(w, "percent", event->percent);
        }
        put_if_there(w, "message", event->text);
        break;
    case EVENT_LOG:
        put_task(w, event);
        json_put_array(w, "lines");
        for (struct str text = event->text; text.len > 0;) {
            json_add_str(w, str_cut(&text, '\n'));
        }
        json_close_array(w);
        break;
    case EVENT_QUEUE:
        json_put_str(w, "queue", event->queue);
        json_put_str(w, "change", event->text);
        break;
    default:
        json_put_str(w, "nodeId", event->text);
        break;
    }
}

void event_write(struct buf *buf, uint64_t number, const struct event *event)
{
    if (number != 0) {
        buf_c(buf, "id: ");
        buf_u64(buf, number);
        buf_char(buf, '\n');
    }
    buf_c(buf, "event: ");
    if (event->kind == EVENT_TOPIC) { /* there the guest chose the words */
        buf_str(buf, event->name);
        buf_c(buf, "\ndata: ");
        buf_str(buf, event->text);
        buf_c(buf, "\n\n");
        return;
    }
    buf_c(buf, event_kind_name(event->kind));
    buf_c(buf, "\ndata: ");
    struct json_writer w = JSON_WRITER(buf);
    json_open_object(&w);
    put_kind(&w, event);
    json_put_time(&w, "at", event->at_ms);
    json_close_object(&w);
    buf_c(buf, "\n\n");
}

void event_redact(struct buf *buf, const struct redact_keys *keys, struct str text)
{
    static const char before[] = "\ndata: ";
    const char *found = memmem(text.ptr, text.len, before, strlen(before));
    size_t at = found == NULL ? text.len : (size_t)(found - text.ptr) + strlen(before);
    buf_str(buf, (struct str){text.ptr, at});
    redact_json(buf, keys, str_from(text, at));
}

void event_name_topic(struct buf *buf, const struct event *event, struct str text)
{
    static const struct str team = STR("team:"), before = STR("\ndata: {");
    const char *found = memmem(text.ptr, text.len, before.ptr, before.len);
    size_t at = found == NULL ? text.len : (size_t)(found - text.ptr) + before.len;
    buf_str(buf, (struct str){text.ptr, at});
    if (at < text.len && str_starts(event->topic, team)) {
        buf_c(buf, "\"teamId\":\"");
        buf_str(buf, str_from(event->topic, team.len));
        buf_c(buf, text.ptr[at] == '}' ? "\"" : "\",");
    }
    buf_str(buf, str_from(text, at));
}
