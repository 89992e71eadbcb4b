/* assist/assistant_model.c: what a text means, by the language model; and who judges it. See
 * assistant.h.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/assistant_parts.h"
#include "assist/chat.h"
#include "english/summary.h"
#include "wire/time.h"

#define COMPARED_TIMES       20
#define COMPARED_SUMMARY_MAX (4 * KIB)
#define TITLE_MAX            120 /* bytes of a title that is cut from the text */
#define LIST_MAX             (256 * KIB)

/* ---- The question ---- */

static void put_now(struct buf *text, const struct assistant_asked *asked)
{
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    struct str name = assistant_zone(asked);
    struct err ignored = ERR_INIT;
    char utc[TIME_TEXT_LEN + 1];
    time_text(asked->now_ms, utc);
    buf_printf(text, "Now it is %s", utc);
    if (zones_get(asked->zones, name, &zone, &ignored)) {
        buf_printf(text, "; the user's time zone is " STR_FMT ", where the clock shows ",
                   STR_ARG(name));
        wall_write(text, zone_wall(zone, wall_div(asked->now_ms, SECOND_MS)));
    }
    buf_c(text, ".\n");
}

static void put_schedules(struct buf *text, const struct assistant_asked *asked)
{
    char id[TASK_ID_TEXT];
    struct json_writer w = JSON_WRITER(text);
    buf_c(text, "The user's schedules:\n");
    json_open_array(&w);
    for (size_t i = 0; i < asked->count && i < ASSISTANT_SHOWN_MAX; i++) {
        const struct schedule *schedule = &asked->schedules[i];
        json_open_object(&w);
        json_put_str(&w, "scheduleId", id_text(schedule->id, id));
        json_put_str(&w, "title", schedule->title);
        if (!str_absent(schedule->rrule)) {
            json_put_str(&w, "rrule", schedule->rrule);
        }
        json_put_str(&w, "dtstart", schedule->dtstart);
        json_put_str(&w, "timezone", schedule->timezone);
        json_put_c(&w, "status", schedule_statuses[schedule->status]);
        json_close_object(&w);
    }
    json_close_array(&w);
    buf_char(text, '\n');
}

static struct str frame(const struct assistant_asked *asked, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(LIST_MAX);
    buf_c(&text,
          "You turn what a user says into an order for a scheduler, as one JSON object.\n"
          "mode TASK_CREATION: a new schedule. title: a few words; description: a sentence; "
          "purpose: the prompt that each run works from, without the times; category; isOneTime; "
          "rrule: an RFC 5545 RRULE without DTSTART, null if it is once; dtstart: the first local "
          "wall time, 2027-03-01T09:00:00, in timezone, an IANA name.\n"
          "mode TASK_UPDATE: changes one of the user's schedules, named by scheduleId (several: "
          "separated by commas). action: pause, resume, delete, skip_next, or change; of a change "
          "only what becomes different is given, the rest is null.\n"
          "mode REFUSAL: the text has no time, is ambiguous, in the past or impossible. refusal "
          "names the fields that are missing or wrong and says why. Never guess a time.\n");
    put_now(&text, asked);
    if (asked->only_new) {
        buf_c(&text, "Only TASK_CREATION and REFUSAL are possible.\n");
    } else {
        put_schedules(&text, asked);
    }
    return arena_str(arena, buf_view(&text));
}

/* ---- Judging: new ones ---- */

/* A text that fits into a title, cut at a character. */
static struct str title_from(struct str text)
{
    struct str line = str_cut(&text, '\n');
    while (line.len > TITLE_MAX || (line.len > 0 && !str_is_utf8(line))) {
        line.len--;
    }
    return str_trim(line);
}

static struct str bare_rule(struct str rrule)
{
    return str_starts(rrule, STR("RRULE:")) ? str_from(rrule, strlen("RRULE:")) : rrule;
}

static int category_of(const struct assistant_answer *answer, int absent)
{
    int category = absent;
    if (!str_absent(answer->category) &&
        !form_word(schedule_categories, answer->category, &category)) {
        category = SCHEDULE_OTHERS;
    }
    return category;
}

static bool judge_creation(const struct assistant_asked *asked,
                           const struct assistant_answer *answer, struct arena *arena,
                           struct assistant_said *out, struct err *err)
{
    struct schedule *schedule = &out->schedule;
    *schedule = schedule_blank();
    schedule->title = str_absent(answer->title) ? title_from(asked->text) : answer->title;
    schedule->description = answer->description;
    schedule->purpose = str_absent(answer->purpose) ? asked->text : answer->purpose;
    schedule->category = (enum schedule_category)category_of(answer, SCHEDULE_OTHERS);
    schedule->rrule = bare_rule(answer->rrule);
    schedule->dtstart = answer->dtstart;
    schedule->timezone = str_absent(answer->timezone) ? assistant_zone(asked) : answer->timezone;
    schedule->one_time = answer->one_time > 0;
    out->mode = ASSISTANT_CREATION;
    if (str_absent(schedule->rrule) && str_absent(schedule->dtstart)) {
        return err_field(err, "dtstart", "when should it run? there is neither rrule nor dtstart");
    }
    if (answer->one_time == 0 && str_absent(schedule->rrule)) {
        return err_field(err, "rrule", "isOneTime is false, but there is no rrule");
    }
    return assistant_check(asked, schedule, arena, err);
}

/* ---- Judging: changes ---- */

static bool find_schedule(const struct assistant_asked *asked, struct str id, size_t *out,
                          struct err *err)
{
    struct task_id wanted;
    bool parsed = id_parse(id, &wanted);
    for (size_t i = 0; parsed && i < asked->count; i++) {
        if (id_eq(asked->schedules[i].id, wanted)) {
            *out = i;
            return true;
        }
    }
    return err_field(err, "scheduleId", "the user has no schedule \"" STR_FMT "\"",
                     (int)MIN(id.len, (size_t)64), id.ptr);
}

static enum edit_op op_of(struct str action)
{
    return str_is(action, "pause")       ? EDIT_PAUSE
           : str_is(action, "resume")    ? EDIT_RESUME
           : str_is(action, "delete")    ? EDIT_CANCEL
           : str_is(action, "skip_next") ? EDIT_SKIP_NEXT
                                         : EDIT_NONE;
}

/* What was said of one schedule, in the words of the grammar: the model names a schedule, but may
 * leave out what is to be done with it. */
static bool ask_grammar(const struct assistant_asked *asked, size_t which, struct arena *arena,
                        struct assistant_edit *out)
{
    struct assistant_asked one = *asked;
    struct assistant_said said;
    one.schedules = &asked->schedules[which];
    one.count = 1;
    assistant_read(&one, arena, &said);
    if (said.mode != ASSISTANT_UPDATE || said.edits_count != 1) {
        return false;
    }
    *out = said.edits[0];
    out->which = which;
    return true;
}

/* The change is tried on a copy: what it leads to must be possible. */
static bool try_change(const struct assistant_asked *asked, const struct assistant_edit *edit,
                       struct arena *arena, struct err *err)
{
    struct schedule copy = asked->schedules[edit->which];
    bool retimed;
    if (edit->op == EDIT_PAUSE || edit->op == EDIT_RESUME || edit->op == EDIT_CANCEL) {
        return true;
    }
    return schedule_change(&copy, &edit->change, asked->zones, asked->now_ms, arena, &retimed,
                           err) &&
           (!retimed || assistant_check(asked, &copy, arena, err));
}

/* What the model said of a schedule. It repeats what stays as it is: that is no change. */
static void fill_change(const struct assistant_answer *answer, const struct schedule *schedule,
                        struct schedule_change *out)
{
    struct str rule = bare_rule(answer->rrule);
    const struct {
        const char *name;
        struct str said, has;
    } texts[] = {{"title", answer->title, schedule->title},
                 {"description", answer->description, schedule->description},
                 {"purpose", answer->purpose, schedule->purpose},
                 {"rrule", rule, schedule->rrule},
                 {"dtstart", answer->dtstart, schedule->dtstart},
                 {"timezone", answer->timezone, schedule->timezone}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!str_absent(texts[i].said) && !str_eq(texts[i].said, texts[i].has)) {
            assistant_set(out, texts[i].name, texts[i].said);
        }
    }
    bool once = answer->one_time > 0 && !str_absent(answer->dtstart);
    if (once && str_absent(rule) && !str_absent(schedule->rrule)) {
        assistant_set(out, "rrule", STR_NONE);
    } else if (form_given(&schedule_form, out->given, "rrule") &&
               !form_given(&schedule_form, out->given, "dtstart")) {
        assistant_set(out, "dtstart", STR_NONE); /* another rhythm begins now */
    }
    int category = category_of(answer, (int)schedule->category);
    if (category != (int)schedule->category) {
        out->schedule.category = (enum schedule_category)category;
        out->given |= form_bit(&schedule_form, "category");
    }
}

static bool judge_edit(const struct assistant_asked *asked, const struct assistant_answer *answer,
                       struct str id, struct arena *arena, struct assistant_edit *edit,
                       struct err *err)
{
    *edit = (struct assistant_edit){.op = op_of(answer->action)};
    if (!find_schedule(asked, id, &edit->which, err)) {
        return false;
    }
    const struct schedule *schedule = &asked->schedules[edit->which];
    fill_change(answer, schedule, &edit->change);
    if (edit->op == EDIT_SKIP_NEXT) {
        edit->change.skip_ms = schedule->next_ms;
        if (schedule->next_ms == 0) {
            return err_field(err, "scheduleId", "this schedule has no next time to skip");
        }
    }
    if (edit->op == EDIT_NONE && edit->change.given == 0 &&
        !ask_grammar(asked, edit->which, arena, edit)) {
        return err_field(err, "action", "nothing is said to change");
    }
    edit->op = edit->op == EDIT_NONE ? EDIT_RESCHEDULE : edit->op;
    return try_change(asked, edit, arena, err);
}

/* Nobody is named: the only one there is, or whom the grammar understands. */
static bool judge_unnamed(const struct assistant_asked *asked, struct assistant_answer *answer,
                          struct arena *arena, struct assistant_said *out, struct err *err)
{
    char text[TASK_ID_TEXT];
    if (asked->count != 1) {
        assistant_read(asked, arena, out);
        if (out->mode != ASSISTANT_UPDATE && out->candidates_count == 0) {
            assistant_refuse(out, "scheduleId", STR("which of the schedules is meant?"));
            assistant_offer(asked, arena, out);
        }
        return true;
    }
    answer->ids[answer->ids_count++] = arena_str(arena, id_text(asked->schedules[0].id, text));
    out->edits = arena_new(arena, struct assistant_edit);
    out->edits_count = 1;
    return judge_edit(asked, answer, answer->ids[0], arena, out->edits, err);
}

static bool judge_update(const struct assistant_asked *asked, struct assistant_answer *answer,
                         struct arena *arena, struct assistant_said *out, struct err *err)
{
    out->mode = ASSISTANT_UPDATE;
    if (asked->only_new) {
        return err_field(err, "mode", "mode must be TASK_CREATION or REFUSAL here");
    }
    if (answer->ids_count == 0) {
        return judge_unnamed(asked, answer, arena, out, err);
    }
    out->edits = arena_array(arena, struct assistant_edit, answer->ids_count);
    out->edits_count = answer->ids_count;
    for (size_t i = 0; i < answer->ids_count; i++) {
        if (!judge_edit(asked, answer, answer->ids[i], arena, &out->edits[i], err)) {
            return false;
        }
    }
    return true;
}

/* ---- Judging ---- */

static bool judge(const struct assistant_asked *asked, struct assistant_answer *answer,
                  struct arena *arena, struct assistant_said *out, struct err *err)
{
    *out = (struct assistant_said){.mode = ASSISTANT_REFUSAL};
    if (str_is(answer->mode, "REFUSAL") || (str_absent(answer->mode) && answer->refuses)) {
        out->refusal = answer->refusal;
        out->refusal.reason = str_absent(answer->refusal.reason)
                                  ? STR("this cannot be scheduled as it was said")
                                  : answer->refusal.reason;
        return true;
    }
    if (str_is(answer->mode, "TASK_CREATION")) {
        return judge_creation(asked, answer, arena, out, err);
    }
    if (str_is(answer->mode, "TASK_UPDATE")) {
        return judge_update(asked, answer, arena, out, err);
    }
    return err_field(err, "mode", "mode must be TASK_CREATION, TASK_UPDATE or REFUSAL");
}

/* ---- The grammar beside the model ---- */

static bool read_plan(const struct assistant_asked *asked, const struct schedule *schedule,
                      struct arena *arena, int64_t *times, size_t *count, struct str *summary)
{
    SCOPED(plan_close) struct plan plan = {0};
    SCOPED(buf_fini) struct buf text = BUF_INIT(COMPARED_SUMMARY_MAX);
    struct err ignored = ERR_INIT;
    if (!plan_open(schedule, asked->zones, arena, &plan, &ignored)) {
        return false;
    }
    *count = recur_list(plan.recur, asked->now_ms, COMPARED_TIMES, times);
    summary_write(&text, &plan.order);
    *summary = arena_str(arena, buf_view(&text));
    return true;
}

/* What the model makes of a text is compared with what the grammar does: where both understand it
 * and differ, neither is trusted and the user is asked. */
static void compare(const struct assistant_asked *asked, struct arena *arena,
                    struct assistant_said *out)
{
    struct assistant_said *plain = arena_new(arena, struct assistant_said);
    int64_t ours[COMPARED_TIMES], theirs[COMPARED_TIMES];
    size_t our_count, their_count;
    struct str our_words, their_words;
    if (out->mode != ASSISTANT_CREATION) {
        return;
    }
    assistant_read(asked, arena, plain);
    out->words = plain->words;
    out->words_count = plain->words_count;
    if (plain->mode != ASSISTANT_CREATION ||
        !read_plan(asked, &plain->schedule, arena, ours, &our_count, &our_words) ||
        !read_plan(asked, &out->schedule, arena, theirs, &their_count, &their_words)) {
        return;
    }
    if (our_count == their_count && memcmp(ours, theirs, our_count * sizeof ours[0]) == 0) {
        return;
    }
    *out = (struct assistant_said){.mode = ASSISTANT_REFUSAL};
    assistant_refuse(out, "text",
                     arena_printf(arena,
                                  "it can be read in two ways: \"" STR_FMT "\" or \"" STR_FMT
                                  "\"; say which one is meant",
                                  STR_ARG(our_words), STR_ARG(their_words)));
}

/* ---- Asking ---- */

struct talk {
    const struct assistant_model *model;
    const struct assistant_asked *asked;
    struct arena *arena;
    struct llm *llm;
    struct chat chat;
};

static void tell(const struct talk *talk, const char *step)
{
    if (talk->model->step != NULL) {
        talk->model->step(talk->model->arg, step);
    }
}

/* False with ERR_INVALID: what came is no answer, or one that cannot be; `said` has what came. */
static bool ask_once(struct talk *talk, struct assistant_said *out, struct str *said,
                     struct err *err)
{
    struct llm_answer answer = {.content = STR_NONE};
    struct llm_cost cost = {0};
    struct assistant_answer *read = arena_new(talk->arena, struct assistant_answer);
    const struct llm_question question = {.messages = talk->chat.at,
                                          .count = talk->chat.count,
                                          .schema = assistant_schema(talk->arena),
                                          .schema_name = "order",
                                          .limit_ms = ASSISTANT_QUESTION_MS,
                                          .stop = talk->model->stop};
    *said = STR_NONE;
    if (!llm_ask(talk->llm, &question, talk->arena, &answer, &cost, err)) {
        return false;
    }
    *said = answer.content;
    if (assistant_answer_read(answer.content, talk->arena, read, err) &&
        judge(talk->asked, read, talk->arena, out, err)) {
        return true;
    }
    err->kind = ERR_INVALID;
    return false;
}

/* What was wrong goes back to the model with its own words. */
static void object(struct talk *talk, struct str said, const struct err *why)
{
    struct arena *arena = talk->arena;
    if (said.len > 0) {
        chat_add(&talk->chat, LLM_ASSISTANT, said, arena);
    }
    chat_add(&talk->chat, LLM_USER,
             arena_printf(arena, "That is not possible: %s. Answer again with one JSON object.",
                          why->text),
             arena);
}

static bool converse(struct talk *talk, struct assistant_said *out, struct err *err)
{
    struct str said;
    tell(talk, "asking the model");
    if (ask_once(talk, out, &said, err)) {
        return true;
    }
    if (err->kind != ERR_INVALID) {
        return false;
    }
    object(talk, said, err);
    *err = ERR_INIT;
    tell(talk, "asking the model again");
    if (ask_once(talk, out, &said, err)) {
        return true;
    }
    if (err->kind != ERR_INVALID || said.len == 0) {
        return false; /* away, or no answer at all */
    }
    *out = (struct assistant_said){.mode = ASSISTANT_REFUSAL};
    assistant_refuse(out, arena_c_text(talk->arena, str_of(err->field)),
                     arena_str(talk->arena, str_of(err->text)));
    return true;
}

static void llm_close_at(struct llm **llm)
{
    llm_close(*llm);
}

bool assistant_ask(const struct assistant_model *model, const struct assistant_asked *asked,
                   struct arena *arena, struct assistant_said *out, struct err *err)
{
    SCOPED(llm_close_at) struct llm *llm = NULL;
    struct llm_options options = *model->llm;
    struct talk talk = {.model = model, .asked = asked, .arena = arena};
    options.limits.tries = ASSISTANT_TRIES;
    chat_add(&talk.chat, LLM_SYSTEM, frame(asked, arena), arena);
    if ((!str_absent(asked->messages) && !chat_read(&talk.chat, asked->messages, arena, err)) ||
        !llm_open(&options, &llm, err)) {
        return false;
    }
    chat_add(&talk.chat, LLM_USER, asked->text, arena);
    talk.llm = llm;
    if (!converse(&talk, out, err)) {
        return false;
    }
    compare(asked, arena, out);
    return true;
}
