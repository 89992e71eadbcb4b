/* net/cloud.h: the Cloud Tasks API over REST: what its calls have in common.
 *
 * It lives beside Errand's own API on the same port and speaks another dialect: names in paths with
 * verbs behind a colon, proto3's JSON, errors with Google's words. What is asked is decided by
 * cloud/; here it is only translated.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_CLOUD_H
#define ERRAND_NET_CLOUD_H

#include "cloud/cloud.h"
#include "net/call.h"
#include "wire/cloud.h"

#define CLOUD_PLACE "/v2/projects/{project}/locations/{location}" /* where all paths begin */

#define CLOUD_TASKS_PAGE_MAX  1000
#define CLOUD_QUEUES_PAGE_MAX 9800
#define CLOUD_PAGE_BYTES      (16 * MIB) /* of bodies and headers on one page of tasks */

enum cloud_view { CLOUD_VIEW_NONE, CLOUD_VIEW_BASIC, CLOUD_VIEW_FULL };

/* What the query of a request says. */
struct cloud_asked {
    struct str filter, page_token, update_mask; /* or absent */
    int64_t page_size;                          /* 0: as many as there may be */
    enum cloud_view view;
    bool numbers; /* enums in the answer are numbers */
};
extern const struct form cloud_queues_query, cloud_patch_query, cloud_tasks_query, cloud_view_query;

/* What the path names: the parts, and Errand's name of the queue or of the place it lies in. */
struct cloud_path {
    struct cloud_name name;
    struct str parent, queue;
};

/* Reads path and query of a call; a part that cannot be is ERR_INVALID. `query`: NULL: it takes
 * none but those that every call takes. */
MUST_CHECK bool cloud_read_call(struct call *call, const struct form *query,
                                struct cloud_path *path, struct cloud_asked *asked,
                                struct err *err);
/* The body by a form; the text "" and no body at all are an empty one. */
MUST_CHECK bool cloud_read_body(struct call *call, const struct form *form, void *into,
                                uint64_t *given, struct err *err);
/* createTask: {"task":{…},"responseView"}. */
struct cloud_task_in {
    struct str name;
    struct cloud_request request;
    struct str body, oidc, oauth, app_engine;
    int64_t scheduled_ms, deadline_ms; /* 0: not given */
    enum cloud_view view;
};
extern const struct form cloud_task_form, cloud_run_form;
MUST_CHECK bool cloud_read_task(struct call *call, const struct cloud_path *path,
                                struct cloud_task_in *in, struct cloud_order *order,
                                struct err *err);

/* ---- Answers ---- */

bool cloud_speaks(struct str path);                        /* is a path one of this API's? */
void cloud_fail(struct call *call, const struct err *err); /* in Google's words */
void cloud_answer(struct call *call);                      /* 200 with what was written */
void cloud_write_queue(struct json_writer *w, const struct cloud_queue_view *view, bool numbers);
void cloud_write_task(struct json_writer *w, const struct task *task, enum cloud_view view,
                      bool numbers, struct arena *arena);

#endif
