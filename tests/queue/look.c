/* tests/queue/look.c: what a test looks at: the store's truth, the engine's answers, the events.
 * See bench.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "bench.h"
#include "test.h"

#define STORY_MAX (64 * KIB)

static struct task_load load(struct bench *b, struct task_id id)
{
    struct err err = ERR_INIT;
    SCOPED(tx_close) struct tx *tx = NULL;
    struct task_load load = {.id = id, .arena = &b->arena, .whole = true};
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_load(tx, &load, 1, &err));
    return load;
}

struct task bench_task(struct bench *b, struct task_id id)
{
    struct task_load found = load(b, id);
    CHECK(found.found);
    return found.task;
}

bool bench_has(struct bench *b, struct task_id id)
{
    return load(b, id).found;
}

struct task_detail bench_detail(struct bench *b, struct task_id id)
{
    struct err err = ERR_INIT;
    struct reader *reader;
    struct task_detail detail;
    bool found;
    CHECK_OK(reader_open(b->store, &reader, &err));
    CHECK_OK(reader_detail(reader, id, &b->arena, &found, &detail, &err));
    reader_close(reader);
    CHECK(found);
    return detail;
}

struct call *bench_why(struct bench *b, struct task_id id)
{
    struct call *call = bench_call(b, COMMAND_WHY);
    call->command.why.id = id;
    return bench_run(b, call);
}

struct document_view bench_document(struct bench *b, const char *document)
{
    struct call *call = bench_call(b, COMMAND_DOCUMENT);
    call->command.document.document = str_of(document);
    return bench_run(b, call)->command.document.view;
}

struct queue_stats bench_stats(struct bench *b)
{
    return bench_run(b, bench_call(b, COMMAND_STATS))->command.stats.stats;
}

int64_t bench_count(struct bench *b, enum task_state state)
{
    return bench_stats(b).counts[state];
}

static void add_to_story(struct buf *story, const struct event *event)
{
    if (event->kind == EVENT_STATE) {
        buf_c(story, story->len == 0 ? "" : " ");
        buf_c(story, event->removed ? "removed" : task_state_name(event->state));
    }
}

struct str bench_story(struct bench *b, struct task_id id)
{
    SCOPED(buf_fini) struct buf story = BUF_INIT(STORY_MAX);
    LIST_EACH(&b->events, it)
    {
        const struct event_batch *events = HOLDER(it, struct event_batch, link);
        for (size_t i = 0; i < events->count; i++) {
            if (id_eq(events->events[i].task, id)) {
                add_to_story(&story, &events->events[i]);
            }
        }
    }
    return arena_str(&b->arena, buf_view(&story));
}
