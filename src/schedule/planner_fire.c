/* schedule/planner_fire.c: what a schedule that is due asks for: runs, times left out, wake-ups.
 *
 * A round first decides for all schedules of a batch and then writes everything at once:
 * executions, their tasks, the schedules with their next times. An execution's key says which
 * occurrence it is: when the key is taken another node ran it, and nothing is left to do.
 *
 * Thread: engine. Keeps: no occurrence is lost or doubled.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "schedule/planner_data.h"

#define ENTRIES_AT_FIRST 16

void round_begin(struct round *round, struct planner *planner, struct batch *batch)
{
    *round = (struct round){.planner = planner,
                            .batch = batch,
                            .tx = guest_tx(batch),
                            .arena = guest_arena(batch),
                            .now_ms = guest_now(batch).wall_ms};
}

/* ---- The runs before ----
 *
 * Runs in line wait for the last one. Where that one was cancelled before its turn came, by a
 * client or for the next run, the runs that it waited for may still go on: so the next one waits
 * for those, too. */

static bool asks_about_last(const struct firing *firing)
{
    return firing->schedule != NULL && firing->schedule->overlap != OVERLAP_ALLOW &&
           !id_none(firing->schedule->last_run);
}

/* The latest of those that the last run waits for, or waited for when it was cancelled. */
static void look_before(struct round *round, struct firing *firing)
{
    struct err err = ERR_INIT;
    struct kin_list found;
    const struct kin_query query = {
        .kinship = KIN_DEPENDENCIES, .ids = &firing->schedule->last_run, .count = 1};
    if (!tx_kin(round->tx, &query, round->arena, &found, &err)) {
        guest_store_failed(round->batch, &err);
        return;
    }
    for (size_t i = found.count; i-- > 0 && firing->before_count < PLANNER_LINE;) {
        const struct task *task = guest_peek(round->batch, found.at[i].id);
        if (!task_state_terminal(task == NULL ? found.at[i].state : task->state)) {
            firing->before[firing->before_count++] = found.at[i].id;
        }
    }
}

/* The record may be behind: its task may have ended in this very batch. */
static void look_at_last(struct round *round, struct firing *firing, const struct record_load *load)
{
    if (!load->found || load->record.mark == EXECUTION_SUCCESS) {
        return;
    }
    if (guest_creates(round->batch, load->id)) {
        firing->last_here = firing->last_open = true;
        return;
    }
    const struct task *task = guest_task(round->batch, load->id);
    if (task != NULL) {
        firing->last_open = !task_state_terminal(task->state);
        if (task->state == TASK_WAITING || (task->state == TASK_CANCELLED && task->attempt == 0)) {
            look_before(round, firing);
        }
    }
}

bool round_look_back(struct round *round, struct firing **firings, size_t count)
{
    struct record_load *loads = arena_array(round->arena, struct record_load, count);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (asks_about_last(firings[i])) {
            loads[n++] = (struct record_load){.kind = RECORD_EXECUTION,
                                              .id = firings[i]->schedule->last_run};
        }
    }
    if (!guest_load_records(round->batch, loads, n, round->arena)) {
        return false;
    }
    n = 0;
    for (size_t i = 0; i < count; i++) {
        if (asks_about_last(firings[i])) {
            look_at_last(round, firings[i], &loads[n++]);
        }
    }
    return true;
}

/* ---- Entries ---- */

static struct entry *add_entry(struct round *round, struct firing *firing,
                               enum execution_status status, int64_t occurrence_ms)
{
    const struct schedule *schedule = firing->schedule;
    if (round->count == round->room) {
        size_t room = MAX(round->room * 2, (size_t)ENTRIES_AT_FIRST);
        struct entry *more = arena_array(round->arena, struct entry, room);
        memcpy(more, round->entries == NULL ? more : round->entries, round->count * sizeof *more);
        round->entries = more;
        round->room = room;
    }
    firing->first = firing->count == 0 ? round->count : firing->first;
    firing->count++;
    struct entry *entry = &round->entries[round->count++];
    *entry = (struct entry){.firing = firing, .execution = EXECUTION_INIT};
    struct execution *execution = &entry->execution;
    execution->id = guest_make_id(round->batch);
    execution->schedule = schedule->id;
    execution->status = status;
    execution->scheduled_ms = occurrence_ms;
    execution->created_ms = round->now_ms;
    execution->user = schedule->user;
    execution->chat = schedule->chat;
    execution->message = schedule->message;
    execution->finished_ms = status == EXECUTION_RUNNING ? 0 : round->now_ms;
    execution->expires_ms = planner_expiry_ms(round->planner, round->now_ms);
    return entry;
}

struct entry *firing_run(struct round *round, struct firing *firing, int64_t occurrence_ms,
                         bool waits)
{
    struct entry *entry = add_entry(round, firing, EXECUTION_RUNNING, occurrence_ms);
    entry->run = true;
    entry->waits = waits;
    entry->execution.task = entry->execution.id;
    return entry;
}

struct entry *firing_run_once(struct round *round, struct firing *firing, int64_t occurrence_ms,
                              bool waits)
{
    struct entry *entry = firing_run(round, firing, occurrence_ms, waits);
    entry->execution.key = execution_key(firing->schedule->id, occurrence_ms, round->arena);
    entry->execution.decides = firing->schedule->one_time;
    return entry;
}

/* Its key is not the occurrence's own: what was left out may be run by a backfill. */
static struct entry *leave_out(struct round *round, struct firing *firing, int64_t occurrence_ms,
                               uint64_t count, const char *why)
{
    struct entry *entry = add_entry(round, firing, EXECUTION_SKIPPED, occurrence_ms);
    struct execution *execution = &entry->execution;
    struct str key = execution_key(firing->schedule->id, occurrence_ms, round->arena);
    execution->key = arena_printf(round->arena, STR_FMT "!", STR_ARG(key));
    execution->count = (int64_t)count;
    execution->content = count == 1 ? arena_printf(round->arena, "1 time was left out: %s", why)
                                    : arena_printf(round->arena, "%llu times were left out: %s",
                                                   (unsigned long long)count, why);
    return entry;
}

/* A run that its rule asks for now. */
static void run_in_time(struct round *round, struct firing *firing, int64_t occurrence_ms,
                        bool waits)
{
    firing_run_once(round, firing, occurrence_ms, waits)->timed = true;
    firing->schedule->cursor_ms = occurrence_ms;
}

/* ---- One occurrence ---- */

void firing_cancel_last(struct round *round, const struct firing *firing)
{
    struct err refused = ERR_INIT; /* it ended by itself meanwhile, or is told already */
    const struct str why = STR("the next run of its schedule is due");
    for (size_t i = 0; i < firing->before_count; i++) {
        (void)!guest_cancel(round->batch, firing->before[i], why, &refused);
    }
    if (firing->last_open) {
        (void)!guest_cancel(round->batch, firing->schedule->last_run, why, &refused);
    }
}

/* Whether one more run may begin. If not, the schedule is paused: what it was due for now is not
 * made up, as after any pause. */
static bool may_run(struct round *round, struct firing *firing)
{
    struct schedule *schedule = firing->schedule;
    struct err refused = ERR_INIT;
    if (usage_reserve(&round->planner->limit, round->batch, schedule->user, schedule->query_cost,
                      &refused)) {
        return true;
    }
    schedule->status = SCHEDULE_PAUSED;
    schedule->paused_reason = arena_str(round->arena, str_of(refused.text));
    schedule->next_ms = 0;
    schedule->wake_ms = round->now_ms + refused.retry_after_ms;
    schedule->updated_ms = round->now_ms;
    return false;
}

/* A backfill has run this very time: the run that has not ended may be its own. */
static bool has_run(struct round *round, const struct firing *firing, int64_t occurrence_ms)
{
    struct err err = ERR_INIT;
    struct task_id made = TASK_ID_NONE;
    struct str key = execution_key(firing->schedule->id, occurrence_ms, round->arena);
    if (!tx_records_find(round->tx, RECORD_EXECUTION, &key, 1, &made, &err)) {
        guest_store_failed(round->batch, &err);
    }
    return !id_none(made);
}

static void fire(struct round *round, struct firing *firing, int64_t occurrence_ms)
{
    struct schedule *schedule = firing->schedule;
    bool open = firing_is_open(firing);
    if (open && has_run(round, firing, occurrence_ms)) {
        schedule->cursor_ms = occurrence_ms;
        return;
    }
    if (open && schedule->overlap == OVERLAP_SKIP) {
        leave_out(round, firing, occurrence_ms, 1, "the last run has not ended");
    } else if (open && schedule->overlap != OVERLAP_ALLOW && firing->last_here) {
        firing->put_off = true;
        return;
    } else if (may_run(round, firing)) {
        if (open && schedule->overlap == OVERLAP_CANCEL) {
            firing_cancel_last(round, firing);
        }
        run_in_time(round, firing, occurrence_ms, open && schedule->overlap != OVERLAP_ALLOW);
    }
    schedule->cursor_ms = occurrence_ms;
}

/* ---- Missed occurrences ---- */

static void leave_out_missed(struct round *round, struct firing *firing, uint64_t count)
{
    leave_out(round, firing, firing->schedule->next_ms, count, "missed while nobody could run it")
        ->missed = true;
}

/* The time after which at most `most` occurrences are left up to `upto_ms`. */
static int64_t skip_to_last(const struct plan *plan, int64_t after_ms, int64_t upto_ms,
                            uint64_t most)
{
    int64_t low = after_ms, high = upto_ms;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (recur_count(plan->recur, middle, upto_ms) <= most) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static void catch_up_once(struct round *round, struct firing *firing, int64_t upto_ms,
                          uint64_t missed)
{
    struct schedule *schedule = firing->schedule;
    int64_t latest_ms = schedule->next_ms;
    (void)!recur_last(firing->plan.recur, schedule->cursor_ms, upto_ms, &latest_ms);
    if (missed > 1) {
        leave_out_missed(round, firing, missed - 1);
    }
    fire(round, firing, latest_ms);
}

static void catch_up_none(struct round *round, struct firing *firing, int64_t upto_ms,
                          uint64_t missed)
{
    leave_out_missed(round, firing, missed);
    firing->schedule->cursor_ms = upto_ms;
}

/* One after the other in their order, unless they may overlap: asked for all of them, a rule that
 * leaves out or cancels would leave one. */
static void run_missed(struct round *round, struct firing *firing, int64_t upto_ms)
{
    struct schedule *schedule = firing->schedule;
    int64_t *times = arena_array(round->arena, int64_t, PLANNER_CATCH_UP);
    size_t n = recur_list(firing->plan.recur, schedule->cursor_ms, PLANNER_CATCH_UP, times);
    bool in_line = schedule->overlap != OVERLAP_ALLOW;
    if (in_line && firing->last_open && firing->last_here) {
        firing->put_off = true;
        return;
    }
    for (size_t i = 0; i < n && times[i] <= upto_ms && may_run(round, firing); i++) {
        run_in_time(round, firing, times[i], in_line && (i > 0 || firing_is_open(firing)));
    }
}

static void catch_up_all(struct round *round, struct firing *firing, int64_t upto_ms,
                         uint64_t missed)
{
    struct schedule *schedule = firing->schedule;
    if (missed > PLANNER_MISFIRES_MAX) {
        leave_out_missed(round, firing, missed - PLANNER_MISFIRES_MAX);
        schedule->cursor_ms =
            skip_to_last(&firing->plan, schedule->cursor_ms, upto_ms, PLANNER_MISFIRES_MAX);
    } else {
        run_missed(round, firing, upto_ms);
    }
}

typedef void catch_up_fn(struct round *round, struct firing *firing, int64_t upto_ms,
                         uint64_t missed);

static catch_up_fn *const catch_up[] = {
    [MISFIRE_ONCE] = catch_up_once,
    [MISFIRE_SKIP] = catch_up_none,
    [MISFIRE_ALL] = catch_up_all,
};

/* ---- A schedule that is due ---- */

static void plan_on(struct round *round, struct firing *firing)
{
    struct schedule *schedule = firing->schedule;
    bool runs = false;
    plan_next(&firing->plan, schedule, round->planner->with.limits.horizon_ms, round->now_ms);
    schedule->updated_ms = round->now_ms;
    for (size_t i = 0; i < firing->count; i++) {
        runs = runs || round->entries[firing->first + i].run;
    }
    if (schedule->next_ms == 0 && !(schedule->one_time && runs)) {
        schedule->status = SCHEDULE_COMPLETED; /* one time: the end of its run says */
    }
}

void firing_wake(struct round *round, struct firing *firing, int64_t at_ms)
{
    struct entry *entry = add_entry(round, firing, EXECUTION_WAKE_UP, at_ms);
    struct str key = execution_key(firing->schedule->id, at_ms, round->arena);
    entry->execution.key = arena_printf(round->arena, STR_FMT "~", STR_ARG(key));
    plan_on(round, firing);
}

/* It was paused until a certain time: what was missed meanwhile is not made up. */
static void resume(struct round *round, struct firing *firing)
{
    int64_t resume_ms = firing->schedule->resume_ms;
    firing->schedule->status = SCHEDULE_ACTIVE;
    firing->schedule->paused_reason = STR_NONE;
    firing->schedule->resume_ms = 0;
    /* One that is due at that very time runs. */
    firing->schedule->cursor_ms = resume_ms != 0 ? resume_ms - 1 : round->now_ms;
    plan_on(round, firing);
}

void firing_due(struct round *round, struct firing *firing)
{
    struct schedule *schedule = firing->schedule;
    int64_t offset_ms = schedule_offset_ms(schedule);
    int64_t missed_upto_ms = round->now_ms - offset_ms - round->planner->with.misfire_after_ms - 1;
    if (schedule->status == SCHEDULE_PAUSED) {
        resume(round, firing);
        return;
    }
    if (schedule->wake_ms != 0) {
        firing_wake(round, firing, schedule->wake_ms);
        return;
    }
    if (schedule->next_ms > missed_upto_ms) {
        fire(round, firing, schedule->next_ms);
    } else {
        uint64_t missed = recur_count(firing->plan.recur, schedule->cursor_ms, missed_upto_ms);
        catch_up[schedule->misfire](round, firing, missed_upto_ms, MAX(missed, (uint64_t)1));
    }
    if (!firing->put_off && schedule->status != SCHEDULE_PAUSED) {
        plan_on(round, firing);
    }
}

/* ---- The tasks of runs ---- */

/* What a run is told when its schedule brings no payload of its own. */
static struct str default_payload(struct round *round, const struct entry *entry)
{
    const struct schedule *schedule = entry->firing->schedule;
    char text[TASK_ID_TEXT];
    SCOPED(buf_fini) struct buf payload = BUF_INIT(SCHEDULE_PAYLOAD_MAX);
    struct json_writer w = JSON_WRITER(&payload);
    struct str purpose = str_absent(entry->purpose) ? schedule->purpose : entry->purpose;
    const struct {
        const char *key;
        struct str text;
    } texts[] = {{"title", schedule->title},       {"purpose", purpose},
                 {"userId", schedule->user},       {"chatId", entry->execution.chat},
                 {"messageId", schedule->message}, {"timezone", schedule->timezone}};
    json_open_object(&w);
    json_put_str(&w, "scheduleId", id_text(schedule->id, text));
    json_put_str(&w, "executionId", id_text(entry->execution.id, text));
    json_put_time(&w, "scheduledFor", entry->execution.scheduled_ms);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!str_absent(texts[i].text)) {
            json_put_str(&w, texts[i].key, texts[i].text);
        }
    }
    if (!str_absent(schedule->messages)) {
        json_put_raw(&w, "messages", schedule->messages);
    }
    json_close_object(&w);
    return arena_str(round->arena, buf_view(&payload));
}

static struct order order_of(struct round *round, const struct entry *entry)
{
    const struct schedule *schedule = entry->firing->schedule;
    struct str type = str_absent(schedule->type) || schedule->type.len == 0
                          ? round->planner->with.default_type
                          : schedule->type;
    return (struct order){
        .named = true,
        .delay_ms = -1,
        .task = {.id = entry->execution.id,
                 .type = type,
                 .queue = schedule->queue,
                 .document = schedule->document.len == 0 ? STR_NONE : schedule->document,
                 .payload = str_absent(schedule->payload) ? default_payload(round, entry)
                                                          : schedule->payload,
                 .priority = schedule->priority,
                 .max_retries = (int32_t)schedule->max_retries,
                 .timeout_ms = schedule->timeout_ms,
                 .backoff = TASK_BACKOFF_DEFAULT,
                 .schedule = schedule->id,
                 .runs_anyway = true,
                 .progress = -1,
                 .cost = {schedule->query_cost, -1, -1}},
    };
}

/* It waits for the runs before it, however they end: those of the same request, the last one and
 * others that are in line. */
static void let_wait(struct round *round, const struct firing *firing, struct order *orders,
                     size_t at)
{
    struct order_need *needs = arena_array(round->arena, struct order_need, PLANNER_LINE + 1);
    size_t n = 0;
    for (size_t i = at; i > 0 && n < PLANNER_LINE; i--) {
        needs[n++].order = i;
    }
    if (firing->last_open && n < PLANNER_LINE) {
        needs[n++].id = firing->schedule->last_run;
    }
    for (size_t i = 0; i < firing->before_count && n < PLANNER_LINE + 1; i++) {
        needs[n++].id = firing->before[i];
    }
    orders[at].needs = needs;
    orders[at].needs_count = n;
}

static size_t list_orders(struct round *round, struct firing *firing, struct order *orders,
                          struct entry **entries)
{
    size_t n = 0;
    for (size_t i = 0; i < firing->count; i++) {
        struct entry *entry = &round->entries[firing->first + i];
        if (!entry->run || !entry->applied) {
            continue; /* the key is taken: that occurrence has run */
        }
        entries[n] = entry;
        orders[n] = order_of(round, entry);
        if (entry->waits && (n > 0 || firing_is_open(firing))) {
            let_wait(round, firing, orders, n);
        }
        n++;
    }
    return n;
}

/* No task could be created: the history says so, and the rhythm goes on. */
static bool note_failure(struct round *round, struct firing *firing, struct entry **entries,
                         size_t count, const struct err *why)
{
    struct record *records = arena_array(round->arena, struct record, count);
    for (size_t i = 0; i < count; i++) {
        struct execution *execution = &entries[i]->execution;
        execution->version = 1;
        execution->task = TASK_ID_NONE;
        execution->status = EXECUTION_FAILURE;
        execution->finished_ms = round->now_ms;
        execution->content = arena_str(round->arena, str_of(why->text));
        records[i] = execution_record(execution, round->arena);
        if (execution->decides) {
            firing->schedule->status = SCHEDULE_FAILED;
            firing->schedule->paused_reason = execution->content;
        }
    }
    return planner_save(round->planner, round->batch, records, count);
}

/* A single time that a backfill has run before it was due here: no end of a run decides about the
 * schedule any more. */
static void complete_run_before(const struct round *round, struct firing *firing)
{
    struct schedule *schedule = firing->schedule;
    for (size_t i = 0; i < firing->count; i++) {
        bool asked = round->entries[firing->first + i].run;
        if (asked && schedule->one_time && schedule->next_ms == 0 &&
            schedule->status == SCHEDULE_ACTIVE) {
            schedule->status = SCHEDULE_COMPLETED;
        }
    }
}

static bool create_tasks(struct round *round, struct firing *firing)
{
    struct err err = ERR_INIT;
    struct order *orders = arena_array(round->arena, struct order, firing->count);
    struct entry **entries = arena_array(round->arena, struct entry *, firing->count);
    size_t n = list_orders(round, firing, orders, entries);
    if (n == 0) {
        complete_run_before(round, firing);
        return true;
    }
    if (guest_create(round->batch, orders, n, &err)) {
        firing->schedule->last_run = orders[n - 1].task.id;
        firing->schedule->last_ms = round->now_ms;
        return true;
    }
    if (err.kind == ERR_UNAVAILABLE || err.kind == ERR_FATAL || err.kind == ERR_CONFLICT) {
        return false; /* the batch is over */
    }
    return note_failure(round, firing, entries, n, &err);
}

/* ---- Writing ---- */

/* What a schedule that was put off would have left out is decided when its time comes again. */
static bool write_executions(struct round *round)
{
    struct record *records = arena_array(round->arena, struct record, round->count);
    struct record_save *saves = arena_array(round->arena, struct record_save, round->count);
    struct entry **entries = arena_array(round->arena, struct entry *, round->count);
    size_t n = 0;
    for (size_t i = 0; i < round->count; i++) {
        if (!round->entries[i].firing->put_off) {
            entries[n] = &round->entries[i];
            records[n] = execution_record(&entries[n]->execution, round->arena);
            saves[n].record = &records[n];
            n++;
        }
    }
    if (!guest_try_records(round->batch, saves, n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        entries[i]->applied = saves[i].applied;
        planner_saved(round->planner, round->batch, &records[i]);
    }
    return true;
}

/* What was written is counted when the batch is committed. */
static void count_entry(struct round *round, const struct entry *entry)
{
    struct planner_figures *figures = &round->planner->draft.figures;
    const struct execution *execution = &entry->execution;
    if (!entry->applied) {
        return;
    }
    if (execution->status == EXECUTION_SKIPPED) {
        *(entry->missed ? &figures->missed : &figures->overlapped) += (uint64_t)execution->count;
    }
    figures->runs += entry->run;
    figures->failed += execution->status == EXECUTION_FAILURE; /* no task could be created */
    if (entry->timed) {
        int64_t due_ms = execution->scheduled_ms + schedule_offset_ms(entry->firing->schedule);
        histogram_add(&figures->lateness, round->now_ms - due_ms);
    }
}

bool round_write(struct round *round, struct firing **firings, size_t count)
{
    struct record *records = arena_array(round->arena, struct record, count);
    size_t n = 0;
    if (!write_executions(round)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (firings[i]->schedule == NULL || firings[i]->put_off) {
            continue;
        }
        if (firings[i]->count > 0 && !create_tasks(round, firings[i])) {
            return false;
        }
        records[n++] = schedule_record(firings[i]->schedule, round->arena);
    }
    for (size_t i = 0; i < round->count; i++) {
        count_entry(round, &round->entries[i]);
    }
    return n == 0 || planner_save(round->planner, round->batch, records, n);
}
