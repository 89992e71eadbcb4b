/* net/on_assistant.c: POST /api/assistant: a text is understood and done.
 *
 * A client that wants to watch gets a stream, which ends when it leaves; what it asked for goes on.
 * So an assistance has its own memory and does not live in its exchange.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "net/assist.h"
#include "net/fault.h"
#include "net/on.h"
#include "net/schedule_in.h"
#include "net/schedule_out.h"

#define EVENT_MAX (4 * KIB) /* of a step */

struct assistance {
    struct call call; /* its commands and queries; its exchange is NULL once the client has left */
    struct arena arena;
    bool streams;
    struct schedule_in in;
    struct task_id only; /* the schedule that is meant; none: the text names it, or makes one */
    struct query *query; /* the user's schedules */
    struct schedule *schedules;
    size_t count;
    struct assist assist;
    struct planner_order **orders; /* what is being done */
    size_t orders_count;
};

static struct assistance *assistance_of(struct call *call)
{
    return HOLDER(call, struct assistance, call);
}

static void assistance_free(struct assistance *assistance)
{
    arena_fini(&assistance->arena);
    mem_free(assistance);
}

/* ---- What the client sees ---- */

static void on_gone(struct exchange *exchange)
{
    struct assistance *assistance = exchange->user;
    if (assistance->streams) {
        assistance->call.exchange = NULL; /* over when this returns; otherwise it waits for us */
    }
}

static void step(struct assistance *assistance, const char *text)
{
    SCOPED(buf_fini) struct buf event = BUF_INIT(EVENT_MAX);
    struct json_writer w = JSON_WRITER(&event);
    if (!assistance->streams || assistance->call.exchange == NULL) {
        return;
    }
    buf_c(&event, "event: step\ndata: ");
    json_open_object(&w);
    json_put_c(&w, "message", text);
    json_close_object(&w);
    buf_c(&event, "\n\n");
    (void)!stream_send(assistance->call.exchange, buf_view(&event));
}

/* What was written is the answer, or the last event. */
static void finish(struct assistance *assistance, int status)
{
    struct exchange *exchange = assistance->call.exchange;
    SCOPED(buf_fini) struct buf event = BUF_INIT(ANSWER_MAX);
    if (exchange != NULL && assistance->streams) {
        buf_c(&event, "event: done\ndata: ");
        buf_str(&event, buf_view(&assistance->call.api->scratch));
        buf_c(&event, "\n\n");
        (void)!stream_send(exchange, buf_view(&event));
        exchange_end(exchange);
    } else if (exchange != NULL) {
        call_answer(&assistance->call, status);
    }
    assistance_free(assistance);
}

static void fail(struct assistance *assistance, const struct err *err)
{
    struct json_writer w = call_writer(&assistance->call);
    if (!assistance->streams) {
        call_fail(&assistance->call, err);
        assistance_free(assistance);
        return;
    }
    json_open_object(&w);
    json_key(&w, "error");
    fault_write(&w, err);
    json_close_object(&w);
    finish(assistance, fault_status(err->kind));
}

/* ---- Refusals ---- */

static void put_candidates(struct json_writer *w, const struct assistance *assistance,
                           const struct assistant_said *said)
{
    char text[TASK_ID_TEXT];
    json_put_array(w, "candidates");
    for (size_t i = 0; i < said->candidates_count; i++) {
        const struct schedule *schedule = &assistance->schedules[said->candidates[i]];
        json_open_object(w);
        json_put_str(w, "id", id_text(schedule->id, text));
        json_put_str(w, "title", schedule->title);
        json_close_object(w);
    }
    json_close_array(w);
}

static void refuse(struct assistance *assistance, const struct assistant_said *said)
{
    struct json_writer w = call_writer(&assistance->call);
    json_open_object(&w);
    json_put_c(&w, "mode", assistant_mode_name(ASSISTANT_REFUSAL));
    json_put_object(&w, "refusal");
    json_put_array(&w, "fields");
    for (size_t i = 0; i < said->refusal.fields_count; i++) {
        json_add_str(&w, str_of(said->refusal.fields[i]));
    }
    json_close_array(&w);
    json_put_str(&w, "reason", said->refusal.reason);
    if (said->candidates_count > 0) {
        put_candidates(&w, assistance, said);
    }
    json_close_object(&w);
    json_close_object(&w);
    finish(assistance, 200);
}

static void refuse_for(struct assistance *assistance, const struct err *err)
{
    struct assistant_said said = {.refusal = {.reason = str_of(err->text)}};
    if (err->field[0] != '\0') {
        said.refusal.fields[said.refusal.fields_count++] = err->field;
    }
    refuse(assistance, &said);
}

static void on_failed(struct call *call)
{
    if (call->failure.kind == ERR_REFUSED) {
        refuse_for(assistance_of(call), &call->failure);
    } else {
        fail(assistance_of(call), &call->failure);
    }
}

/* ---- Doing ---- */

static struct planner_order *wish(struct assistance *assistance, enum planner_verb verb)
{
    struct call *call = &assistance->call;
    struct planner_order *order = arena_new(call->arena, struct planner_order);
    order->verb = verb;
    order->owner = assistance->in.schedule.user;
    planner_ask(call->api->parts.planner, call_command(call, COMMAND_GUEST), order);
    return order;
}

static void answer_created(struct call *call)
{
    struct assistance *assistance = assistance_of(call);
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_c(&w, "mode", assistant_mode_name(ASSISTANT_CREATION));
    json_key(&w, "schedule");
    schedule_write_made(&w, &assistance->orders[0]->schedule, call->api);
    json_close_object(&w);
    finish(assistance, 201);
}

static void create(struct assistance *assistance, const struct assistant_said *said)
{
    struct err err = ERR_INIT;
    struct call *call = &assistance->call;
    schedule_in_take(&assistance->in, &said->schedule);
    if (!schedule_in_settle(call, &assistance->in, &err)) {
        fail(assistance, &err);
        return;
    }
    step(assistance, "creating the schedule");
    call->done = answer_created;
    assistance->orders[0] = wish(assistance, PLANNER_CREATE);
    assistance->orders[0]->schedule = assistance->in.schedule;
}

static void answer_changed(struct call *call)
{
    struct assistance *assistance = assistance_of(call);
    const struct assistant_said *said = &assistance->assist.job.said;
    bool one = assistance->orders_count == 1;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_c(&w, "mode", assistant_mode_name(ASSISTANT_UPDATE));
    json_put_c(&w, "action", edit_op_name(said->edits[0].op));
    json_key(&w, one ? "schedule" : "schedules");
    if (!one) {
        json_open_array(&w);
    }
    for (size_t i = 0; i < assistance->orders_count; i++) {
        schedule_write(&w, &assistance->orders[i]->schedule, call->api, false);
    }
    if (!one) {
        json_close_array(&w);
    }
    json_close_object(&w);
    finish(assistance, 200);
}

static void change(struct assistance *assistance, const struct assistant_said *said)
{
    static const enum planner_verb verbs[] = {
        [EDIT_RESCHEDULE] = PLANNER_CHANGE, [EDIT_PAUSE] = PLANNER_PAUSE,
        [EDIT_RESUME] = PLANNER_RESUME,     [EDIT_CANCEL] = PLANNER_REMOVE,
        [EDIT_SKIP_NEXT] = PLANNER_CHANGE,  [EDIT_SKIP] = PLANNER_CHANGE,
        [EDIT_RENAME] = PLANNER_CHANGE,     [EDIT_PAUSE_UNTIL] = PLANNER_PAUSE};
    step(assistance, "changing your schedules");
    assistance->call.done = answer_changed;
    for (size_t i = 0; i < said->edits_count; i++) {
        const struct assistant_edit *edit = &said->edits[i];
        struct planner_order *order = wish(assistance, verbs[edit->op]);
        order->id = assistance->schedules[edit->which].id;
        order->change = &edit->change;
        order->until_ms = edit->until_ms;
        assistance->orders[assistance->orders_count++] = order;
    }
}

static void on_understood(struct assist *assist)
{
    struct assistance *assistance = HOLDER(assist, struct assistance, assist);
    struct assistant_said *said = &assist->job.said;
    size_t count = MAX(said->edits_count, (size_t)1);
    if (said->mode == ASSISTANT_CREATION && !id_none(assistance->only)) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_REFUSED, "the text does not say what changes; \"move it to 8am\" does");
        refuse_for(assistance, &err);
        return;
    }
    assistance->orders = arena_array(&assistance->arena, struct planner_order *, count);
    if (said->mode == ASSISTANT_CREATION) {
        create(assistance, said);
    } else if (said->mode == ASSISTANT_UPDATE && said->edits_count > 0) {
        change(assistance, said);
    } else {
        refuse(assistance, said);
    }
}

/* ---- Understanding ---- */

static void on_step(struct assist *assist, const char *text)
{
    step(HOLDER(assist, struct assistance, assist), text);
}

/* Those of nobody are the schedules of whoever names no user. */
static void load_schedules(struct assistance *assistance)
{
    const struct records *found = &assistance->query->records;
    struct str user = assistance->in.schedule.user;
    struct schedule *all = arena_array(&assistance->arena, struct schedule, found->count);
    struct err ignored = ERR_INIT;
    for (size_t i = 0; i < found->count; i++) {
        bool theirs = (!str_absent(user) || str_absent(found->at[i].owner)) &&
                      (id_none(assistance->only) || id_eq(assistance->only, found->at[i].id));
        if (theirs &&
            schedule_load(&found->at[i], &assistance->arena, &all[assistance->count], &ignored)) {
            assistance->count++;
        }
    }
    assistance->schedules = all;
}

static void on_schedules(struct call *call)
{
    struct assistance *assistance = assistance_of(call);
    const struct schedule_in *in = &assistance->in;
    struct assistant_asked asked = assist_asked(call, in->text, in->now_ms);
    load_schedules(assistance);
    asked.timezone =
        form_given(&schedule_form, in->given, "timezone") ? in->schedule.timezone : STR_NONE;
    asked.chat = in->schedule.chat;
    asked.messages = in->schedule.messages;
    asked.schedules = assistance->schedules;
    asked.count = assistance->count;
    assistance->assist = (struct assist){.job.arena = call->arena,
                                         .job.asked = asked,
                                         .call = call,
                                         .understood = on_understood,
                                         .step = on_step};
    step(assistance, "understanding the text");
    assist_begin(&assistance->assist);
}

static void ask_schedules(struct assistance *assistance)
{
    struct call *call = &assistance->call;
    assistance->query = call_query(call, QUERY_RECORDS);
    assistance->query->record_filter = (struct record_filter){
        .kind = RECORD_SCHEDULE,
        .owner = assistance->in.schedule.user,
        .marks = schedule_marks(1u << SCHEDULE_ACTIVE | 1u << SCHEDULE_PAUSED, 0),
        .limit = ASSISTANT_SCHEDULES_MAX,
    };
    step(assistance, "looking at your schedules");
    call->done = on_schedules;
    call_ask(call, assistance->query);
}

/* ---- The request ---- */

static bool wants_stream(const struct call *call)
{
    struct str accept = http_header(&call->exchange->request.headers, "accept");
    while (!str_absent(accept)) {
        struct str media = str_cut(&accept, ',');
        if (str_eq_nocase(str_trim(str_cut(&media, ';')), STR(ROUTE_STREAM))) {
            return true;
        }
    }
    return false;
}

static const struct form_row rows[] = {
    FORM_ROW("scheduleId", struct assistance, only, FORM_ID, FORM_SET,
             .rule = "must be the id of a schedule",
             .about = "The text changes this schedule of the user, and no other."),
};
const struct form assistant_form = FORM(rows);

/* The body outlives the exchange: it is read from a copy. */
static bool read_body(struct assistance *assistance, struct err *err)
{
    struct call *call = &assistance->call;
    struct json json;
    if (!call_asked(call, &assistant_form, assistance, err) || !call_json(call, &json, err)) {
        return false;
    }
    json_start(&json, arena_str(call->arena, call->exchange->request.body), call->arena);
    if (!schedule_in_parse(call, &json, &assistance->in, err)) {
        return false;
    }
    return (!str_absent(assistance->in.text) && assistance->in.text.len > 0) ||
           err_field(err, "text", "text is required");
}

bool on_assistant(struct call *call, struct err *err)
{
    struct assistance *assistance = mem_new(struct assistance);
    assistance->call = *call;
    assistance->call.arena = &assistance->arena;
    assistance->call.failed = on_failed;
    if (!read_body(assistance, err)) {
        assistance_free(assistance);
        return false;
    }
    call->exchange->user = assistance;
    call->exchange->gone = on_gone;
    assistance->streams = wants_stream(call) && !call->exchange->is_gone;
    if (assistance->streams) {
        exchange_stream(call->exchange);
    }
    ask_schedules(assistance);
    return true;
}
