/* net/route.c: the one table of what the API can be asked. See route.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/route.h"

#include <stdio.h>

#include "net/cloud.h"
#include "net/filter_in.h"
#include "net/on.h"

#define GET    HTTP_GET
#define POST   HTTP_POST
#define PUT    HTTP_PUT
#define PATCH  HTTP_PATCH
#define DELETE HTTP_DELETE

/* clang-format off */
/* The dashboard is one page; what it shows is read from its path. */
#define PAGE(path, summary)                                                                        \
    {HTTP_GET, path, OPEN, on_dashboard, summary, .answers = "200, 304", .media = ROUTE_PAGE}

const struct route routes[] = { /* every on_*(): parse, ask, answer. */
    {POST, "/api/tasks", MAY_PRODUCE, on_task_create,
     "Create one task, or up to 1000 at once, all or nothing",
     .answers = "201 CreateAnswer, 200 Task", .request = "CreateRequest", .overlaps = true,
     .loops = LOOPS_ALL},
    {GET, "/api/tasks", MAY_READ_TASKS, on_task_list,
     "List tasks, newest first",
     .answers = "200 TaskList", .query = &list_form,
     .loops = LOOPS_ALL},
    {POST, "/api/tasks/cancel", MAY_PRODUCE, on_tasks_cancel,
     "Cancel every task that a filter selects",
     .answers = "200 Count", .request = "BulkCancel",
     .loops = LOOPS_ALL},
    {POST, "/api/tasks/retry", MAY_PRODUCE, on_tasks_retry,
     "Retry every task that a filter selects",
     .answers = "200 Count", .request = "BulkRetry",
     .loops = LOOPS_ALL},
    {GET, "/api/tasks/{id}", MAY_READ_TASKS, on_task_show,
     "One task with its attempts; waitMs holds the answer until it has ended",
     .answers = "200 TaskDetail", .faults = "404", .query = &show_form,
     .loops = LOOPS_ALL_UNASKED},
    {PATCH, "/api/tasks/{id}", MAY_PRODUCE, on_task_change,
     "Change a task that has not started",
     .answers = "200 Task", .faults = "404 409", .request = "TaskPatch",
     .loops = LOOPS_ALL},
    {DELETE, "/api/tasks/{id}", MAY_PRODUCE, on_task_remove,
     "Remove a task that has ended",
     .answers = "204", .faults = "404 409",
     .loops = LOOPS_ALL},
    {POST, "/api/tasks/{id}/cancel", MAY_PRODUCE, on_task_cancel,
     "Cancel a task; a running one is asked to stop (202)",
     .answers = "200 Task, 202 Task", .faults = "404 409", .request = "CancelRequest",
     .optional_body = true,
     .loops = LOOPS_ALL},
    {POST, "/api/tasks/{id}/retry", MAY_PRODUCE, on_task_retry,
     "Run a failed, timed out or cancelled task again",
     .answers = "200 Task", .faults = "404 409", .request = "Empty", .optional_body = true,
     .loops = LOOPS_ALL},
    {GET, "/api/tasks/{id}/why", MAY_READ_TASKS, on_task_why,
     "Why a task is not running now",
     .answers = "200 Why", .faults = "404",
     .loops = LOOPS_ALL},
    {GET, "/api/tasks/{id}/stream", MAY_READ_TASKS, on_task_stream,
     "Server-sent events of a task and its descendants until it has ended",
     .answers = "200", .faults = "404", .query = &stream_form, .media = ROUTE_STREAM},
    {POST, "/api/tasks/{id}/heartbeat", MAY_WORK, on_task_heartbeat,
     "Renew a lease, report progress and log lines",
     .answers = "200 HeartbeatAnswer", .faults = "404 409", .request = "Heartbeat", .overlaps = true,
     .loops = LOOPS_ALL},
    {POST, "/api/tasks/{id}/complete", MAY_WORK, on_task_complete,
     "End an attempt well",
     .answers = "200 Task", .faults = "404 409", .request = "Complete", .overlaps = true,
     .loops = LOOPS_ALL},
    {POST, "/api/tasks/{id}/fail", MAY_WORK, on_task_fail,
     "End an attempt badly; the task is retried while its budget lasts",
     .answers = "200 Task", .faults = "404 409", .request = "Fail", .overlaps = true,
     .loops = LOOPS_ALL},
    {POST, "/api/tasks/{id}/release", MAY_WORK, on_task_release,
     "Give a task back without using a retry",
     .answers = "200 Task", .faults = "404 409", .request = "Release", .overlaps = true,
     .loops = LOOPS_ALL},
    {POST, "/api/claim", MAY_WORK, on_task_claim,
     "Take tasks under a lease, most urgent first; may wait for one, and may end attempts first",
     .answers = "200 ClaimAnswer", .request = "Claim", .claims = true, .overlaps = true,
     .loops = LOOPS_ALL},
    {POST, "/api/finish", MAY_WORK, on_tasks_finish,
     "End many attempts in one durable commit",
     .answers = "200 FinishAnswer", .request = "FinishRequest", .overlaps = true,
     .loops = LOOPS_ALL},
    {GET, "/api/events", MAY_READ, on_events,
     "Server-sent events of the whole system",
     .answers = "200", .query = &events_form, .media = ROUTE_STREAM},
    {GET, "/api/documents", MAY_READ, on_document_list,
     "Documents that are locked now",
     .answers = "200 DocumentList", .query = &documents_form,
     .loops = LOOPS_ALL},
    {GET, "/api/documents/{id}", MAY_READ, on_document_show,
     "Who holds a document and who waits for it",
     .answers = "200 Document",
     .loops = LOOPS_ALL},
    {POST, "/api/documents/{id}/release", MAY_ADMIN, on_document_release,
     "Take a document from the attempt that holds it; its task is QUEUED again (202: its node is asked)",
     .answers = "200 Document, 202 Document", .faults = "409", .request = "Empty",
     .optional_body = true},
    {GET, "/api/queues", MAY_READ, on_queue_list,
     "Queues with their settings and counts",
     .answers = "200 QueueList",
     .loops = LOOPS_ALL},
    {GET, "/api/queues/{queue}", MAY_READ, on_queue_show,
     "One queue",
     .answers = "200 Queue", .faults = "404",
     .loops = LOOPS_ALL},
    {PUT, "/api/queues/{queue}", MAY_ADMIN, on_queue_set,
     "Set the limits of a queue",
     .answers = "200 Queue", .request = "QueueSettings"},
    {POST, "/api/queues/{queue}/pause", MAY_ADMIN, on_queue_pause,
     "Start no more tasks of a queue",
     .answers = "200 Queue", .request = "Empty", .optional_body = true},
    {POST, "/api/queues/{queue}/resume", MAY_ADMIN, on_queue_resume,
     "Start tasks of a queue again",
     .answers = "200 Queue", .request = "Empty", .optional_body = true},
    {POST, "/api/queues/{queue}/purge", MAY_ADMIN, on_queue_purge,
     "Cancel every task of a queue that is not running",
     .answers = "200 Count", .request = "Empty", .optional_body = true},
    {GET, "/api/workers", MAY_READ, on_worker_list,
     "Workers seen lately",
     .answers = "200 Workers",
     .loops = LOOPS_ALL},
    {POST, "/api/workers/{worker}/quiet", MAY_ADMIN, on_worker_quiet,
     "Ask a worker outside to claim no more",
     .answers = "200 Worker", .faults = "404 409", .request = "Empty", .optional_body = true},
    {POST, "/api/workers/{worker}/stop", MAY_ADMIN, on_worker_stop,
     "Ask a worker outside to end, and to give back what it does not finish in time",
     .answers = "200 Worker", .faults = "404 409", .request = "Empty", .optional_body = true},
    {POST, "/api/workers/{worker}/resume", MAY_ADMIN, on_worker_resume,
     "Ask nothing of a worker any more",
     .answers = "200 Worker", .faults = "404 409", .request = "Empty", .optional_body = true},
    {GET, "/api/nodes", MAY_READ, on_node_list,
     "Nodes of the fleet",
     .answers = "200 Nodes"},
    {GET, "/api/stats", MAY_READ, on_stats_show,
     "Counts, rates and latencies",
     .answers = "200 Stats",
     .loops = LOOPS_ALL},
    {GET, "/api/series", MAY_READ, on_series_show,
     "What happened in each step of the last minutes, up to a day",
     .answers = "200 Series", .query = &series_form},
    {POST, "/api/schedules", MAY_PRODUCE, on_schedule_create,
     "Create a schedule: a rule, a cron expression or a single time",
     .answers = "201 Schedule, 422 Refusal", .request = "ScheduleRequest"},
    {POST, "/api/schedules/preview", MAY_PRODUCE, on_schedule_preview,
     "What a schedule would become and when it would run; nothing is saved",
     .answers = "200 SchedulePreview, 422 Refusal", .request = "SchedulePreviewRequest", .query = &schedule_preview_form,
     .reads = true},
    {GET, "/api/schedules", MAY_READ, on_schedule_list,
     "List schedules, newest first",
     .answers = "200 ScheduleList", .query = &schedule_list_form},
    {GET, "/api/schedules.ics", MAY_READ, on_calendar,
     "The newest 500 schedules as iCalendar, for a calendar app to subscribe to",
     .answers = "200", .query = &calendar_form, .media = ROUTE_CALENDAR},
    {GET, "/api/schedules/{id}.ics", MAY_READ, on_schedule_calendar,
     "One schedule as iCalendar",
     .answers = "200", .faults = "404", .query = &schedule_calendar_form,
     .media = ROUTE_CALENDAR},
    {GET, "/api/schedules/{id}", MAY_READ, on_schedule_show,
     "One schedule",
     .answers = "200 Schedule", .faults = "404"},
    {PATCH, "/api/schedules/{id}", MAY_PRODUCE, on_schedule_change,
     "Change a schedule; another rule, start or zone moves its next time",
     .answers = "200 Schedule, 422 Refusal", .faults = "404", .request = "SchedulePatch"},
    {DELETE, "/api/schedules/{id}", MAY_PRODUCE, on_schedule_remove,
     "Remove a schedule with its history; tasks it has created stay",
     .answers = "204", .faults = "404"},
    {POST, "/api/schedules/{id}/pause", MAY_PRODUCE, on_schedule_pause,
     "Run it no more until it is resumed",
     .answers = "200 Schedule", .faults = "404 409", .request = "PauseRequest",
     .optional_body = true},
    {POST, "/api/schedules/{id}/resume", MAY_PRODUCE, on_schedule_resume,
     "Go on from now; times missed in the pause are not made up",
     .answers = "200 Schedule", .faults = "404 409", .request = "Empty", .optional_body = true},
    {POST, "/api/schedules/{id}/run", MAY_PRODUCE, on_schedule_run,
     "Run it now, beside its rhythm",
     .answers = "202 ExecutionId", .faults = "404", .request = "Empty", .optional_body = true},
    {POST, "/api/schedules/{id}/backfill", MAY_PRODUCE, on_schedule_backfill,
     "Run the times of a past window that never ran (`again`: those that did too), at most 1000",
     .answers = "202 Count", .faults = "404", .request = "Window"},
    {GET, "/api/schedules/{id}/next", MAY_READ, on_schedule_next,
     "When it will run",
     .answers = "200 TimeList", .faults = "404", .query = &schedule_next_form},
    {GET, "/api/schedules/{id}/executions", MAY_READ, on_execution_list,
     "The history of a schedule, newest first",
     .answers = "200 ExecutionList", .faults = "404", .query = &execution_list_form},
    {GET, "/api/executions/{id}", MAY_READ, on_execution_show,
     "One entry of a history",
     .answers = "200 Execution", .faults = "404"},
    {POST, "/api/assistant", MAY_PRODUCE, on_assistant,
     "Understand a text and do what it says: a new schedule, or changes; may be watched as a stream",
     .answers = "201 AssistantAnswer, 200 AssistantAnswer", .request = "AssistantRequest",
     .query = &assistant_form},
    {GET, "/api/notifications", MAY_READ, on_notification_list,
     "Messages on the WEB channel: newest first, or those after one of them in their order",
     .answers = "200 NotificationList", .query = &notification_list_form},
    {GET, "/api/notifications/stream", MAY_READ, on_notification_stream,
     "Server-sent events: each new notification",
     .answers = "200", .query = &notification_stream_form, .media = ROUTE_STREAM},
    {POST, "/api/notifications/{id}/read", MAY_PRODUCE, on_notification_read,
     "It was read",
     .answers = "200 Notification", .faults = "404", .request = "Empty", .optional_body = true},
    {GET, "/api/usage", MAY_READ, on_usage_show,
     "What runs have cost, in all and by schedule",
     .answers = "200 Usage", .query = &usage_form},
    {POST, "/v1/tasks/execute", OPEN, on_execute,
     "An outside scheduler fires a schedule; its secret is checked first",
     .answers = "200 ExecuteAnswer", .faults = "401 404", .request = "Execute",
     .body_max = ROUTE_EXECUTE_MAX},
    {POST, "/api/teams", MAY_PRODUCE, on_team_create,
     "Begin a team: the tasks are given, or a language model splits the prompt",
     .answers = "202 TeamBegun", .faults = "422", .request = "TeamRequest"},
    {GET, "/api/teams", MAY_READ, on_team_list,
     "List teams, newest first",
     .answers = "200 TeamList", .query = &team_list_form},
    {GET, "/api/teams/{id}", MAY_READ_TASKS, on_team_show,
     "One team with its people, its tasks and its result",
     .answers = "200 Team", .faults = "404"},
    {DELETE, "/api/teams/{id}", MAY_PRODUCE, on_team_end,
     "Cancel a team that runs (200); remove one that has ended (204)",
     .answers = "200 TeamBegun, 204", .faults = "404"},
    {POST, "/api/teams/{id}/claim", MAY_WORK, on_team_claim,
     "Take a task of a team under a lease; may wait for one",
     .answers = "200 TeamClaimAnswer", .faults = "404", .request = "TeamClaim"},
    {POST, "/api/teams/{id}/messages", MAY_WORK, on_team_say,
     "Say something to one member of a team, or to all",
     .answers = "201 TeamMessage", .faults = "404 409", .request = "TeamMessageRequest"},
    {GET, "/api/teams/{id}/messages", MAY_READ_TASKS, on_team_mail,
     "A mailbox, in order; may wait for a message",
     .answers = "200 TeamMessages", .faults = "404", .query = &team_mail_form},
    {GET, "/api/teams/{id}/stream", MAY_READ_TASKS, on_team_stream,
     "Server-sent events of a team, from its beginning until it has ended",
     .answers = "200", .faults = "404", .query = &team_stream_form, .media = ROUTE_STREAM},
    {POST, "/mcp", MAY_READ_TASKS, on_mcp,
     "The Model Context Protocol for agents: JSON-RPC messages",
     .answers = "200 McpAnswer, 202", .request = "McpMessage"},
#define PLACE CLOUD_PLACE
#define QUEUE PLACE "/queues/{queue}"
#define TASK  QUEUE "/tasks/{task}"
    {POST, PLACE "/queues", MAY_ADMIN, on_cloud_queue_create,
     "Cloud Tasks: make a queue",
     .answers = "200 CloudQueue", .faults = "409", .request = "CloudQueueRequest"},
    {GET, PLACE "/queues", MAY_READ, on_cloud_queue_list,
     "Cloud Tasks: the queues of a location, by name",
     .answers = "200 CloudQueues", .query = &cloud_queues_query},
    {POST, QUEUE ":pause", MAY_ADMIN, on_cloud_queue_pause,
     "Cloud Tasks: send no more of a queue's tasks",
     .answers = "200 CloudQueue", .faults = "404", .request = "CloudEmpty", .optional_body = true},
    {POST, QUEUE ":resume", MAY_ADMIN, on_cloud_queue_resume,
     "Cloud Tasks: send a queue's tasks again",
     .answers = "200 CloudQueue", .faults = "404", .request = "CloudEmpty", .optional_body = true},
    {POST, QUEUE ":purge", MAY_ADMIN, on_cloud_queue_purge,
     "Cloud Tasks: delete all tasks that a queue has now",
     .answers = "200 CloudQueue", .faults = "404", .request = "CloudEmpty", .optional_body = true},
    {POST, QUEUE ":getIamPolicy", MAY_READ, on_cloud_iam,
     "Cloud Tasks: not kept here",
     .answers = "501 CloudError", .request = "CloudAny", .optional_body = true},
    {POST, QUEUE ":setIamPolicy", MAY_ADMIN, on_cloud_iam,
     "Cloud Tasks: not kept here",
     .answers = "501 CloudError", .request = "CloudAny", .optional_body = true},
    {POST, QUEUE ":testIamPermissions", MAY_READ, on_cloud_iam,
     "Cloud Tasks: not kept here",
     .answers = "501 CloudError", .request = "CloudAny", .optional_body = true},
    {GET, QUEUE, MAY_READ, on_cloud_queue_show,
     "Cloud Tasks: one queue",
     .answers = "200 CloudQueue", .faults = "404"},
    {PATCH, QUEUE, MAY_ADMIN, on_cloud_queue_change,
     "Cloud Tasks: change a queue, or make it",
     .answers = "200 CloudQueue", .request = "CloudQueueRequest", .query = &cloud_patch_query,
     .optional_body = true},
    {DELETE, QUEUE, MAY_ADMIN, on_cloud_queue_remove,
     "Cloud Tasks: delete a queue with its tasks",
     .answers = "200 CloudNothing", .faults = "404"},
    {POST, QUEUE "/tasks", MAY_PRODUCE, on_cloud_task_create,
     "Cloud Tasks: make a task, which is sent to its URL",
     .answers = "200 CloudTask", .faults = "404 409", .request = "CloudTaskRequest"},
    {GET, QUEUE "/tasks", MAY_READ_TASKS, on_cloud_task_list,
     "Cloud Tasks: the tasks of a queue that have not ended",
     .answers = "200 CloudTasks", .faults = "404", .query = &cloud_tasks_query},
    {POST, TASK ":run", MAY_PRODUCE, on_cloud_task_run,
     "Cloud Tasks: send a task now, whatever its time and its queue say",
     .answers = "200 CloudTask", .faults = "404", .request = "CloudRun", .optional_body = true},
    {GET, TASK, MAY_READ_TASKS, on_cloud_task_show,
     "Cloud Tasks: one task that has not ended",
     .answers = "200 CloudTask", .faults = "404", .query = &cloud_view_query},
    {DELETE, TASK, MAY_PRODUCE, on_cloud_task_remove,
     "Cloud Tasks: delete a task",
     .answers = "200 CloudNothing", .faults = "404"},
    {GET, "/v1/projects/{project}/locations", MAY_READ, on_cloud_places,
     "Cloud Tasks: the locations of a project that have queues",
     .answers = "200 CloudPlaces"},
#undef PLACE
#undef QUEUE
#undef TASK
    {POST, "/api/test/clock", MAY_ADMIN, on_test_clock,
     "Wind the clock of a server started with --test-clock",
     .answers = "200 ClockAnswer", .faults = "404", .request = "ClockRequest"},
    {GET, "/api/session", OPEN, on_session_show,
     "Whether a token is needed, and who asks; needs no token",
     .answers = "200 Session", .faults = "401"},
    {POST, "/api/session", OPEN, on_session_begin,
     "Sign in: a cookie that stands for a token, for 12 hours",
     .answers = "204", .faults = "401", .request = "SignIn", .body_max = ROUTE_SIGN_IN_MAX},
    {DELETE, "/api/session", OPEN, on_session_end,
     "Sign out: the cookie is worth nothing any more",
     .answers = "204"},
    {GET, "/healthz", OPEN, on_health,
     "Alive",
     .answers = "200 Health", .any_host = true,
     .loops = LOOPS_ALL},
    {GET, "/readyz", OPEN, on_ready,
     "Ready for requests",
     .answers = "200 Health, 503 Health", .any_host = true,
     .loops = LOOPS_ALL},
    {GET, "/metrics", MAY_READ, on_metrics,
     "Prometheus metrics",
     .answers = "200", .media = "text/plain", .any_host = true},
    {GET, "/openapi.json", MAY_READ, on_openapi,
     "This description",
     .answers = "200 OpenApi"},
    PAGE("/", "The dashboard: Overview"),
    PAGE("/tasks", "The dashboard: Tasks"),
    PAGE("/tasks/{id}", "The dashboard: one task"),
    PAGE("/documents", "The dashboard: Documents"),
    PAGE("/queues", "The dashboard: Queues"),
    PAGE("/schedules", "The dashboard: Schedules"),
    PAGE("/schedules/{id}", "The dashboard: one schedule"),
    PAGE("/teams", "The dashboard: Teams"),
    PAGE("/teams/{id}", "The dashboard: one team"),
    PAGE("/workers", "The dashboard: Workers"),
    PAGE("/notifications", "The dashboard: Notifications"),
    PAGE("/usage", "The dashboard: Usage"),
    {GET, "/assets/{name}", OPEN, on_asset,
     "A file of the dashboard",
     .answers = "200, 304", .faults = "404", .media = ROUTE_FILE},
};
/* clang-format on */
const size_t routes_count = ARRAY_LEN(routes);

static const char *const method_names[] = {
    [HTTP_GET] = "GET",     [HTTP_HEAD] = "HEAD",       [HTTP_POST] = "POST",
    [HTTP_PUT] = "PUT",     [HTTP_PATCH] = "PATCH",     [HTTP_DELETE] = "DELETE",
    [HTTP_OTHER] = "OTHER", [HTTP_OPTIONS] = "OPTIONS",
};

const char *route_method_name(enum http_method method)
{
    return method_names[method];
}

bool route_matches(const char *pattern, struct str path, struct str *name)
{
    size_t at = 0;
    struct str first = STR_NONE;
    while (*pattern != '\0') {
        if (*pattern != '{') {
            if (at == path.len || path.ptr[at++] != *pattern++) {
                return false;
            }
            continue;
        }
        size_t begin = at;
        while (at < path.len && path.ptr[at] != '/') {
            at++;
        }
        pattern = strchr(pattern, '}') + 1;
        size_t suffix = strcspn(pattern, "/"); /* "{id}.ics": of the same segment */
        if (at - begin <= suffix) {
            return false;
        }
        at -= suffix;
        first = str_absent(first) ? (struct str){path.ptr + begin, at - begin} : first;
    }
    *name = str_absent(first) ? *name : first;
    return at == path.len;
}

/* Which methods the path has: what a 405 tells. */
static bool list_methods(struct str path, char allow[static ROUTE_ALLOW_MAX])
{
    size_t len = 0;
    struct str name;
    for (size_t i = 0; i < routes_count; i++) {
        if (route_matches(routes[i].path, path, &name)) {
            len += (size_t)snprintf(allow + len, ROUTE_ALLOW_MAX - len, "%s%s",
                                    len == 0 ? "" : ", ", method_names[routes[i].method]);
            len += routes[i].method == HTTP_GET
                       ? (size_t)snprintf(allow + len, ROUTE_ALLOW_MAX - len, ", HEAD")
                       : 0;
        }
    }
    return len > 0;
}

bool route_find(const struct http_request *request, const struct route **out, struct str *name,
                char allow[static ROUTE_ALLOW_MAX], struct err *err)
{
    enum http_method method = request->method == HTTP_HEAD ? HTTP_GET : request->method;
    for (size_t i = 0; i < routes_count; i++) {
        struct str found = STR_NONE;
        if (routes[i].method == method && route_matches(routes[i].path, request->path, &found)) {
            *out = &routes[i];
            *name = found;
            return true;
        }
    }
    if (list_methods(request->path, allow)) {
        return err_set(err, ERR_METHOD, "this path takes %s", allow);
    }
    return err_set(err, ERR_NOT_FOUND, "there is nothing at this path");
}
