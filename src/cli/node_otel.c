/* cli/node_otel.c: attempts that ended, as spans for a collector of OpenTelemetry. See node.h.
 *
 * What a span tells is what lists show of a task; its payload, result and metadata stay here.
 *
 * Thread: span_ended() is called on the engine's, which only copies.
 *
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "cli/node.h"
#include "task/trace.h"

#define MESSAGE_MAX KIB /* of an error's text */

static void add_text(struct otlp_span *span, const char *key, struct str text)
{
    if (!str_absent(text)) {
        span->attributes[span->attributes_count++] = (struct otlp_attribute){key, text, 0};
    }
}

static void add_number(struct otlp_span *span, const char *key, int64_t number)
{
    span->attributes[span->attributes_count++] = (struct otlp_attribute){key, STR_NONE, number};
}

static void add_id(struct otlp_span *span, const char *key, struct task_id id, struct arena *arena)
{
    char text[TASK_ID_TEXT];
    if (!id_none(id)) {
        add_text(span, key, arena_str(arena, id_text(id, text)));
    }
}

static bool is_bad(enum task_outcome outcome)
{
    return outcome == OUTCOME_FAILED || outcome == OUTCOME_TIMEOUT || outcome == OUTCOME_LOST;
}

/* What its worker said of the failure, without what role read would not see either. */
static struct str message_of(struct node *node, const struct task *task, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(4 * MESSAGE_MAX);
    const struct redact_keys *keys = atomic_load(&node->redact);
    struct str message = str_head(task->error.message, MESSAGE_MAX);
    if (str_absent(task->error.message)) {
        return str_of(task_outcome_name(task->outcome));
    }
    if (keys == NULL || keys->count == 0) {
        return message;
    }
    redact_text(&text, keys, message);
    return arena_str(arena, buf_view(&text));
}

static void span_ended(void *arg, const struct task *was, const struct task *now)
{
    struct node *node = arg;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct task_trace trace;
    task_trace(was, now->metadata, true, &arena, &trace);
    if (!trace.sampled) {
        return; /* whoever began the trace decided that nobody records it */
    }
    bool bad = is_bad(now->outcome);
    struct otlp_span span = {.state = trace.state,
                             .name = now->type,
                             .start_ms = was->started_ms,
                             .end_ms = now->attempt_ended_ms,
                             .status = bad                                 ? OTLP_ERROR
                                       : now->outcome == OUTCOME_COMPLETED ? OTLP_OK
                                                                           : OTLP_UNSET,
                             .message = bad ? message_of(node, now, &arena) : STR_NONE};
    memcpy(span.trace, trace_id(trace.parent).ptr, TRACE_ID_LEN);
    memcpy(span.id, trace_span(trace.parent).ptr, TRACE_PARENT_LEN);
    if (!str_absent(trace.from)) {
        memcpy(span.parent, trace_span(trace.from.ptr).ptr, TRACE_PARENT_LEN);
    }
    add_text(&span, "messaging.system", STR("errand"));
    add_text(&span, "messaging.operation.type", STR("process"));
    add_text(&span, "messaging.destination.name", now->queue);
    add_id(&span, "errand.task.id", now->id, &arena);
    add_text(&span, "errand.task.type", now->type);
    add_text(&span, "errand.task.state", str_of(task_state_name(now->state)));
    add_text(&span, "errand.queue", now->queue);
    add_number(&span, "errand.attempt", was->attempt);
    add_text(&span, "errand.outcome", str_of(task_outcome_name(now->outcome)));
    add_text(&span, "errand.worker.id", was->worker);
    add_number(&span, "errand.wait_ms", MAX(was->started_ms - was->queued_ms, 0));
    add_id(&span, "errand.parent.id", now->parent, &arena);
    add_id(&span, "errand.schedule.id", now->schedule, &arena);
    add_id(&span, "errand.team.id", now->team, &arena);
    if (bad) {
        add_text(&span, "error.type", now->error.code);
    }
    otlp_give(node->otlp, &span);
}

bool node_start_otel(struct node *node, struct err *err)
{
    struct otlp_options options = node->services.otel;
    options.instance = str_of(node->id);
    return str_absent(options.endpoint) || otlp_start(&options, &node->otlp, err);
}

void node_watch_ends(struct node *node, struct engine_host *host)
{
    if (node->otlp != NULL) {
        host->ended = span_ended;
        host->ended_arg = node;
    }
}

/* After the engine: what it still ended is sent, within what is left of the time to drain. */
void node_stop_otel(struct node *node)
{
    uv_update_time(&node->loop);
    uint64_t now_ms = uv_now(&node->loop);
    int64_t left_ms = node->drain_until_ms > now_ms ? (int64_t)(node->drain_until_ms - now_ms) : 0;
    otlp_stop(node->otlp, MIN(MAX(left_ms, NODE_OTEL_MIN_MS), NODE_OTEL_MAX_MS));
    otlp_free(node->otlp);
    node->otlp = NULL;
}
