/* schedule/notification.c: a message on the WEB channel. See notification.h.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/notification.h"

#define SHOWN  (FORM_SHOWN | FORM_KEPT)
#define ALWAYS (SHOWN | FORM_ALWAYS)
#define ROW(label, member, form_kind, form_use, ...)                                               \
    FORM_ROW(label, struct notification, member, form_kind, form_use, __VA_ARGS__)

/* clang-format off */
static const struct form_row rows[] = {
    ROW("id", id, FORM_ID, ALWAYS, 0),
    ROW("userId", user, FORM_TEXT, SHOWN, 0),
    ROW("scheduleId", schedule, FORM_ID, SHOWN, 0),
    ROW("executionId", execution, FORM_ID, SHOWN, 0),
    ROW("chatId", chat, FORM_TEXT, SHOWN, 0),
    ROW("title", title, FORM_TEXT, ALWAYS, 0),
    ROW("content", content, FORM_TEXT, ALWAYS, 0),
    ROW("read", read, FORM_BOOL, SHOWN, 0),
    ROW("createdAt", created_ms, FORM_TIME, ALWAYS, 0),
    ROW("readAt", read_ms, FORM_TIME, SHOWN, 0),
    ROW("expires", expires_ms, FORM_TIME, FORM_KEPT, 0),
};
/* clang-format on */
const struct form notification_form = {rows, ARRAY_LEN(rows)};

bool notification_load(const struct record *record, struct arena *arena, struct notification *out,
                       struct err *err)
{
    char text[TASK_ID_TEXT];
    *out = (struct notification){.version = record->version};
    if (!form_load(record->body, &notification_form, arena, out, err)) {
        if (err != NULL) {
            err->kind = ERR_INTERNAL;
        }
        return err_wrap(err, "read notification %s", id_text(record->id, text).ptr);
    }
    out->id = record->id;
    return true;
}

struct record notification_record(const struct notification *notification, struct arena *arena)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer w = JSON_WRITER(&body);
    form_keep(&w, &notification_form, notification);
    return (struct record){.kind = RECORD_NOTIFICATION,
                           .id = notification->id,
                           .parent = notification->schedule,
                           .owner = notification->user,
                           .due_ms = notification->expires_ms,
                           .at_ms = notification->created_ms,
                           .mark = notification->read ? NOTIFICATION_READ : NOTIFICATION_UNREAD,
                           .version = notification->version,
                           .body = arena_str(arena, buf_view(&body))};
}

void notification_write(struct json_writer *w, const struct notification *notification)
{
    json_open_object(w);
    form_show(w, &notification_form, notification);
    json_close_object(w);
}

struct str notification_topic(struct str user, struct arena *arena)
{
    return arena_printf(arena, "notifications:" STR_FMT, (int)user.len,
                        str_absent(user) ? "" : user.ptr);
}
