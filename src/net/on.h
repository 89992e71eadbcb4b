/* net/on.h: the handlers of the API, one for each row of the table in route.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_ON_H
#define ERRAND_NET_ON_H

#include "net/route.h"
#include "queue/queue.h"

route_fn on_task_create, on_task_list, on_task_show, on_task_cancel, on_task_retry, on_task_change,
    on_task_remove, on_task_why, on_task_stream;
route_fn on_tasks_cancel, on_tasks_retry;
route_fn on_task_claim, on_task_heartbeat, on_task_complete, on_task_fail, on_task_release,
    on_tasks_finish;
route_fn on_queue_list, on_queue_show, on_queue_set, on_queue_pause, on_queue_resume,
    on_queue_purge;
route_fn on_document_show, on_document_list, on_document_release, on_worker_list, on_worker_quiet,
    on_worker_stop, on_worker_resume, on_node_list, on_stats_show, on_events, on_metrics;
route_fn on_schedule_create, on_schedule_preview, on_schedule_list, on_schedule_show,
    on_schedule_change, on_schedule_remove, on_schedule_pause, on_schedule_resume, on_schedule_run,
    on_schedule_backfill, on_schedule_next, on_execution_list, on_execution_show, on_calendar,
    on_schedule_calendar;
route_fn on_notification_list, on_notification_read, on_notification_stream, on_usage_show,
    on_execute, on_assistant;
route_fn on_team_create, on_team_list, on_team_show, on_team_end, on_team_claim, on_team_say,
    on_team_mail, on_team_stream;
route_fn on_series_show, on_session_show, on_session_begin, on_session_end;
route_fn on_cloud_queue_create, on_cloud_queue_list, on_cloud_queue_show, on_cloud_queue_change,
    on_cloud_queue_remove, on_cloud_queue_pause, on_cloud_queue_resume, on_cloud_queue_purge,
    on_cloud_iam, on_cloud_places;
route_fn on_cloud_task_create, on_cloud_task_list, on_cloud_task_show, on_cloud_task_remove,
    on_cloud_task_run;
route_fn on_dashboard, on_asset;
route_fn on_mcp, on_health, on_ready, on_openapi, on_test_clock;

extern const struct form events_form, stream_form, team_stream_form, documents_form, queue_form,
    clock_form;
extern const struct form show_form, assistant_form, schedule_list_form, schedule_preview_form,
    schedule_next_form, schedule_pause_form, schedule_window_form, execution_list_form,
    notification_list_form, notification_stream_form, usage_form, calendar_form,
    schedule_calendar_form;

extern const struct form sign_in_form, series_form;
extern const struct form team_list_form, team_mail_form, team_claim_form;

/* Tasks that were claimed for nobody go back, which costs no retry. */
struct api;
void claims_release(struct api *api, const struct task *tasks, size_t count);

/* For purge: the same as the bulk commands, without a body. */
void call_bulk(struct call *call, enum bulk_verb verb, const struct task_filter *filter,
               struct str reason);

#endif
