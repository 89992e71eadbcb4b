/* deliver/report.c: how the deliveries of one execution stand. See report.h.
 *
 * SPDX-License-Identifier: MIT */
#include "deliver/report.h"

#include "deliver/message.h"
#include "wire/json.h"

#define REPORT_MAX (64 * KIB)

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
    if (!id_none(entry->task)) {
        json_put_str(w, "taskId", id_text(entry->task, text));
    }
    write_error(w, entry);
    json_close_object(w);
}

struct str report_put(struct str report, const struct report_entry *entry, struct arena *arena)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(REPORT_MAX);
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

bool report_done(struct str report, struct arena *arena)
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
