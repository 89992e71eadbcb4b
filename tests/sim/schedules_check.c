/* tests/sim/schedules_check.c: what schedules promise, in the words of the contract.
 *
 * Each time of a rule is run once, or stands in the history as left out; runs overlap as their
 * schedule says; a run is over exactly when its task is; what a run cost is counted once; whoever
 * is to hear of a result hears of it once.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/planner_data.h"
#include "schedules.h"

static bool is_live(enum task_state state)
{
    return state < TASK_COMPLETED;
}

static int number(struct schedules *all, struct task_id schedule)
{
    const struct planned *planned = schedules_find(all, schedule);
    return planned == NULL ? -1 : (int)(planned - all->planned);
}

/* As this batch leaves it. */
static bool task_gone(const struct known *known)
{
    return known == NULL || (known->dirty ? known->next_gone : known->gone);
}

static enum task_state task_state(const struct known *known)
{
    return known->dirty ? known->next.state : known->seen.state;
}

/* ---- A run and its task ---- */

/* A run that goes on has a task that does; one that is over had one that ended so. */
static void check_entry(struct sim *sim, struct schedules *all, const struct past *past)
{
    const struct known *task = know_find(sim, past->id);
    int schedule = number(all, past->schedule);
    bool over = task_gone(task) || !is_live(task_state(task));
    if (past->next.status == EXECUTION_RUNNING) {
        if (task_gone(task)) {
            sim_fail(sim, "a run of schedule %d goes on and has no task", schedule);
        } else if (over) {
            sim_fail(sim, "a run of schedule %d goes on and its task #%d is %s", schedule,
                     know_number(sim, task), task_state_name(task_state(task)));
        }
        return;
    }
    if (!over) {
        sim_fail(sim, "a run of schedule %d is %s and its task #%d is %s", schedule,
                 execution_statuses[past->next.status], know_number(sim, task),
                 task_state_name(task_state(task)));
    } else if (!task_gone(task) &&
               (past->next.status == EXECUTION_SUCCESS) != (task_state(task) == TASK_COMPLETED)) {
        sim_fail(sim, "a run of schedule %d is %s and its task #%d ended %s", schedule,
                 execution_statuses[past->next.status], know_number(sim, task),
                 task_state_name(task_state(task)));
    }
}

/* An entry goes with its schedule, or when its time is over. */
static void check_gone(struct sim *sim, struct schedules *all, const struct past *past)
{
    const struct planned *planned = schedules_find(all, past->schedule);
    bool old = past->seen.status != EXECUTION_RUNNING && past->seen.expires_ms <= sim_now_ms(sim);
    if (planned != NULL && !planned->next_gone && !old) {
        sim_fail(sim, "an entry in the history of schedule %d is gone",
                 number(all, past->schedule));
    }
}

static void check_tasks(struct sim *sim, struct schedules *all)
{
    for (size_t i = 0; i < sim->known_count; i++) {
        const struct known *known = &sim->known[i];
        if (known->is_run && !task_gone(known) && schedules_past(all, known->id) == NULL) {
            const struct planned *planned = schedules_find(all, known->schedule);
            if (planned != NULL && !planned->next_gone) {
                sim_fail(sim, "task #%zu is a run of schedule %d that its history does not know", i,
                         number(all, known->schedule));
            }
        }
    }
}

/* ---- Times ---- */

/* No time is run twice, whoever asks, as long as the history knows of it; none is run before it has
 * come. */
static void check_once(struct sim *sim, struct schedules *all, const struct past *past)
{
    for (size_t i = 0; i < all->past_count; i++) {
        const struct past *other = &all->past[i];
        if (other != past && !other->next_gone && other->kind == ENTRY_TIMED &&
            id_eq(other->schedule, past->schedule) && other->occurrence_ms == past->occurrence_ms) {
            sim_fail(sim, "a time of schedule %d was run twice", number(all, past->schedule));
        }
    }
    if (past->occurrence_ms > sim_now_ms(sim)) {
        sim_fail(sim, "a time of schedule %d was run before it came", number(all, past->schedule));
    }
}

/* What the history says of the times after `from_ms`, up to `upto_ms`: run or left out in this
 * batch; *before: run earlier, by a backfill. */
static int64_t accounted(struct schedules *all, const struct planned *planned, int64_t from_ms,
                         int64_t upto_ms, int64_t *before)
{
    int64_t n = 0;
    *before = 0;
    for (size_t i = 0; i < all->past_count; i++) {
        const struct past *past = &all->past[i];
        bool among = past->occurrence_ms > from_ms && past->occurrence_ms <= upto_ms;
        if (id_eq(past->schedule, planned->id) && past->kind == ENTRY_TIMED && among) {
            bool backfilled = (planned->verbs & 1u << PLANNER_BACKFILL) != 0;
            *(past->is_new && !backfilled ? &n : before) += 1;
        } else if (id_eq(past->schedule, planned->id) && past->kind == ENTRY_LEFT_OUT) {
            n += past->is_new ? past->next.count : 0;
        }
    }
    return n;
}

/* A schedule goes on over times only by running or leaving them out. A client that pauses it or
 * gives it other times may let it pass over some; so may a day's limit. A time that a backfill has
 * run is run no more; it may be left out once more. */
static void check_times(struct sim *sim, struct schedules *all, const struct planned *planned)
{
    const struct schedule_seen *was = &planned->seen, *now = &planned->next;
    const unsigned retime = 1u << PLANNER_CHANGE | 1u << PLANNER_RESUME | 1u << PLANNER_PAUSE;
    if (was->status != SCHEDULE_ACTIVE || now->status == SCHEDULE_PAUSED ||
        (planned->verbs & retime) != 0) {
        return;
    }
    int64_t due = rhythm_count(&was->rhythm, was->cursor_ms, now->cursor_ms);
    int64_t before, said = accounted(all, planned, was->cursor_ms, now->cursor_ms, &before);
    if (now->cursor_ms < was->cursor_ms) {
        sim_fail(sim, "schedule %d goes back in time", (int)(planned - all->planned));
    } else if (said > due || due > said + before) {
        sim_fail(sim, "schedule %d went on over %lld times and its history tells of %lld",
                 (int)(planned - all->planned), (long long)due, (long long)said);
    }
}

/* ---- Overlap ---- */

/* The run before it had not ended, and has not by now. */
static const struct known *still_open(struct sim *sim, struct schedules *all,
                                      const struct planned *planned)
{
    const struct past *last = schedules_past(all, planned->seen.last_run);
    const struct known *task = know_find(sim, planned->seen.last_run);
    bool open = last != NULL && !last->is_new && !last->gone && task != NULL && !task->gone &&
                last->seen.status == EXECUTION_RUNNING && is_live(task_state(task));
    return open ? task : NULL;
}

/* Removed, or old enough to be: nobody is told of that. */
static bool is_forgotten(const struct sim *sim, const struct known *known)
{
    return known != NULL && (known->gone || (!is_live(known->seen.state) &&
                                             known->seen.finished_ms + HOUR_MS <= sim_now_ms(sim)));
}

/* Whether it has its turn, and may not share it. */
static bool has_turn(struct sim *sim, const struct past *past)
{
    const struct known *task = know_find(sim, past->id);
    return past->next.has_task && !past->next_gone && !past->beside && !task_gone(task) &&
           is_live(task_state(task)) && task_state(task) != TASK_WAITING;
}

/* Runs in line: one has its turn, but where the line was lost: its last one is forgotten, or it was
 * no line for a while. */
static void check_line(struct sim *sim, struct schedules *all, struct planned *planned)
{
    const struct past *first = NULL;
    const struct past *last = schedules_past(all, planned->seen.last_run);
    planned->lost_line = planned->lost_line || (planned->verbs & 1u << PLANNER_CHANGE) != 0 ||
                         (last != NULL && last->next_gone) ||
                         is_forgotten(sim, know_find(sim, planned->seen.last_run));
    for (size_t i = 0; i < all->past_count; i++) {
        struct past *past = &all->past[i];
        if (!id_eq(past->schedule, planned->id)) {
            continue;
        }
        bool revived = !past->is_new && past->seen.status != EXECUTION_RUNNING &&
                       past->next.status == EXECUTION_RUNNING;
        bool line =
            (planned->next.overlap == OVERLAP_QUEUE || planned->next.overlap == OVERLAP_CANCEL) &&
            (planned->verbs & 1u << PLANNER_CHANGE) == 0;
        past->beside = past->beside || revived || (past->is_new && (!line || planned->lost_line));
        if (has_turn(sim, past)) {
            if (first != NULL) {
                sim_fail(sim, "tasks #%d and #%d are runs of schedule %d, and none waits",
                         know_number(sim, know_find(sim, first->id)),
                         know_number(sim, know_find(sim, past->id)), (int)(planned - all->planned));
            }
            first = past;
        }
    }
}

static void check_overlap(struct sim *sim, struct schedules *all, const struct planned *planned)
{
    const struct known *last = still_open(sim, all, planned);
    enum schedule_overlap overlap = planned->seen.overlap;
    size_t begins = 0;
    if (overlap == OVERLAP_ALLOW || (planned->verbs & 1u << PLANNER_CHANGE) != 0) {
        return;
    }
    for (size_t i = 0; i < all->past_count; i++) {
        const struct past *past = &all->past[i];
        const struct known *task = know_find(sim, past->id);
        bool by_hand = past->kind == ENTRY_BY_HAND && overlap == OVERLAP_SKIP;
        if (!past->is_new || !id_eq(past->schedule, planned->id) || !past->next.has_task ||
            by_hand || task_gone(task)) {
            continue;
        }
        bool waits = task_state(task) == TASK_WAITING;
        begins += !waits && is_live(task_state(task)); /* not if the next one has cancelled it */
        if (last != NULL && overlap == OVERLAP_SKIP && planned->seen.misfire != MISFIRE_ALL &&
            (planned->verbs & 1u << PLANNER_BACKFILL) == 0) {
            sim_fail(sim, "schedule %d runs beside its last run, task #%d",
                     (int)(planned - all->planned), know_number(sim, last));
        }
        if (last != NULL && overlap == OVERLAP_CANCEL && planned->seen.misfire != MISFIRE_ALL &&
            (planned->verbs & 1u << PLANNER_BACKFILL) == 0 && !last->next.cancel_requested &&
            last->dirty) {
            sim_fail(sim, "schedule %d runs and its last run, task #%d, was not cancelled",
                     (int)(planned - all->planned), know_number(sim, last));
        }
    }
    if (begins > (last == NULL)) {
        sim_fail(sim, "%zu runs of schedule %d begin at once%s", begins,
                 (int)(planned - all->planned), last == NULL ? "" : ", beside its last one");
    }
}

/* ---- Who hears of it ---- */

/* Its end is told on the WEB in the transaction of that end, once. */
static void check_told(struct sim *sim, struct schedules *all, const struct past *past)
{
    const struct planned *planned = schedules_find(all, past->schedule);
    const struct known *task = know_find(sim, past->id);
    bool ended = !past->is_new && past->seen.status == EXECUTION_RUNNING &&
                 past->next.status != EXECUTION_RUNNING;
    if (!ended || planned == NULL || planned->wishes > 0 ||
        (planned->seen.delivery & 1u << CHANNEL_WEB) == 0 || task_gone(task)) {
        return;
    }
    bool well = past->next.status == EXECUTION_SUCCESS;
    if (well ? past->results == 0
             : past->failures == 0 && !past->regretted && task_state(task) != TASK_CANCELLED) {
        sim_fail(sim, "a run of schedule %d, task #%d, ended and nobody was told",
                 number(all, past->schedule), know_number(sim, task));
    }
}

/* A run that was retried by hand may fail again: nobody hears of it twice, as long as the first
 * notice is remembered. */
static void check_told_once(struct sim *sim, struct schedules *all, const struct past *past)
{
    bool forgotten = false;
    for (size_t i = 0; past->failures > 1 && i < sim->known_count; i++) {
        forgotten = forgotten ||
                    (id_eq(sim->known[i].regrets, past->id) && is_forgotten(sim, &sim->known[i]));
    }
    if (past->results > 1 || (past->failures > 1 && !forgotten)) {
        sim_fail(sim, "a run of schedule %d was told of twice", number(all, past->schedule));
    }
}

/* The report of an execution says how its deliveries stand. */
static void check_reports(struct sim *sim, struct schedules *all)
{
    for (size_t i = 0; i < sim->known_count; i++) {
        const struct known *known = &sim->known[i];
        struct past *past = id_none(known->delivers) ? NULL : schedules_past(all, known->delivers);
        if (known->gone || past == NULL || past->gone) {
            continue;
        }
        int said = past->seen.reported[known->channel];
        if (said < 0 || is_live(known->seen.state) != is_live((enum task_state)said) ||
            (!is_live(known->seen.state) && said != (int)known->seen.state)) {
            sim_fail(sim, "delivery #%zu of schedule %d is %s and its run says %s", i,
                     number(all, past->schedule), task_state_name(known->seen.state),
                     said < 0 ? "nothing" : task_state_name((enum task_state)said));
        }
    }
}

/* ---- What was answered ---- */

static bool granted(const struct planned *planned, enum planner_verb verb)
{
    switch (verb) {
    case PLANNER_REMOVE:
        return planned->next_gone;
    case PLANNER_PAUSE:
        return !planned->next_gone && planned->next.status == SCHEDULE_PAUSED;
    default:
        return !planned->next_gone;
    }
}

static void check_answers(struct sim *sim, struct schedules *all)
{
    for (size_t i = 0; i < sim->calls_count; i++) {
        const struct command *command = &sim->calls[i]->command;
        if (command->kind != COMMAND_GUEST || !sim->calls[i]->answered ||
            command->err.kind != ERR_NONE) {
            continue;
        }
        const struct planner_order *order = command->guest.what;
        bool made = order->verb == PLANNER_CREATE;
        const struct planned *planned = schedules_find(all, made ? order->schedule.id : order->id);
        if (planned == NULL || (planned->wishes == 1 && !granted(planned, order->verb))) {
            sim_fail(sim, "G1: a wish was granted and schedule %d is not so",
                     planned == NULL ? -1 : (int)(planned - all->planned));
        } else if (order->verb == PLANNER_RUN && !planned->next_gone &&
                   schedules_past(all, order->execution) == NULL) {
            sim_fail(sim, "G1: a run of schedule %d was answered and is not on the disk",
                     (int)(planned - all->planned));
        }
    }
}

/* ---- After each batch ---- */

void schedules_check(struct sim *sim)
{
    struct schedules *all = schedules_of(sim);
    for (size_t i = 0; i < all->planned_count && !sim->failed; i++) {
        struct planned *planned = &all->planned[i];
        if (!planned->gone && !planned->next_gone && planned->seen.version != 0) {
            check_times(sim, all, planned);
            check_overlap(sim, all, planned);
        }
        if (!planned->next_gone) {
            check_line(sim, all, planned);
        }
    }
    for (size_t i = 0; i < all->past_count && !sim->failed; i++) {
        const struct past *past = &all->past[i];
        if (past->next_gone && !past->gone) {
            check_gone(sim, all, past);
        } else if (!past->gone) {
            if (past->next.has_task) {
                check_entry(sim, all, past);
                check_told(sim, all, past);
            }
            if (past->is_new && past->kind == ENTRY_TIMED) {
                check_once(sim, all, past);
            }
            check_told_once(sim, all, past);
        }
    }
    check_tasks(sim, all);
    check_answers(sim, all);
    schedules_count_usage(sim);
}

/* ---- When it is quiet ---- */

/* The end of the one time decides about its schedule. */
static bool is_open(const struct schedules *all, const struct planned *planned)
{
    for (size_t i = 0; i < all->past_count; i++) {
        const struct past *past = &all->past[i];
        if (id_eq(past->schedule, planned->id) && past->kind == ENTRY_TIMED && !past->gone &&
            past->seen.status == EXECUTION_RUNNING) {
            return true;
        }
    }
    return false;
}

static void check_schedule(struct sim *sim, struct schedules *all, const struct planned *planned)
{
    const struct schedule_seen *seen = &planned->seen;
    int place = (int)(planned - all->planned);
    bool rests = sim_now_ms(sim) < sim->paused_until_ms;
    if (all->leads && !rests && seen->due_ms != 0 && seen->due_ms <= sim_now_ms(sim)) {
        sim_fail(sim, "schedule %d is past its time", place);
    }
    if (all->leads && seen->due_ms != 0 && all->planner->next_ms > seen->due_ms) {
        sim_fail(sim, "schedule %d is due and the planner does not know it", place);
    }
    if (seen->status == SCHEDULE_ACTIVE && seen->next_ms != 0 && seen->wake_ms == 0 &&
        (seen->due_ms < seen->next_ms || seen->due_ms > seen->next_ms + seen->jitter_ms)) {
        sim_fail(sim, "schedule %d is due at another time than its next one", place);
    }
    if (seen->status == SCHEDULE_ACTIVE && seen->due_ms == 0 &&
        !(seen->one_time && is_open(all, planned))) {
        sim_fail(sim, "schedule %d is ACTIVE and never due", place);
    }
    if ((seen->status == SCHEDULE_COMPLETED || seen->status == SCHEDULE_FAILED) &&
        seen->due_ms != 0) {
        sim_fail(sim, "schedule %d is over and will be due", place);
    }
}

void schedules_quiet(struct sim *sim)
{
    struct schedules *all = schedules_of(sim);
    for (size_t i = 0; i < all->planned_count && !sim->failed; i++) {
        if (!all->planned[i].gone) {
            check_schedule(sim, all, &all->planned[i]);
        }
    }
    check_reports(sim, all);
}

/* What was answered is there after a crash, and nothing else. */
void schedules_restart(struct sim *sim, bool kept)
{
    struct schedules *all = schedules_of(sim);
    schedules_look(sim);
    for (size_t i = 0; i < all->planned_count && !kept; i++) {
        const struct planned *planned = &all->planned[i];
        if (planned->gone != planned->next_gone ||
            (!planned->gone && planned->seen.version != planned->next.version)) {
            sim_fail(sim, "G1: schedule %zu is not what it was before a crash", i);
        }
    }
    for (size_t i = 0; i < all->past_count && !kept; i++) {
        const struct past *past = &all->past[i];
        if (past->gone != past->next_gone ||
            (!past->gone && past->seen.version != past->next.version)) {
            sim_fail(sim, "G1: the history of schedule %d is not what it was before a crash",
                     number(all, past->schedule));
        }
    }
    for (size_t i = 0; i < all->past_count; i++) { /* why it began nobody was told */
        struct past *past = &all->past[i];
        past->beside = past->beside || past->seen.version != past->next.version;
    }
    for (size_t i = 0; i < all->days_count; i++) {
        all->days[i].sum = all->days[i].on_disk ? all->days[i].found : 0;
    }
    schedules_settle(sim);
}
