/* net/on_team_work.c: agents outside: claims of a team's tasks, and its mailboxes.
 *
 * A claim looks the team up and then waits in the line of its queue. The queue may belong to
 * another team by the time a task comes: then it is given back, which costs nothing.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/on.h"
#include "net/team_call.h"
#include "net/team_in.h"
#include "net/team_out.h"

#define WAIT_SCHEMA "{\"type\":\"integer\",\"minimum\":0,\"maximum\":60000,\"default\":0}"
#define NAME_SCHEMA "{\"type\":\"string\",\"minLength\":1,\"maxLength\":256}"
#define MAIL_PAGE   (MESSAGES_MAX + TEAM_TASKS_MAX + 1) /* all, unless they are big */
#define ID_SCHEMA   "{\"type\":\"string\",\"format\":\"uuid\"}"

/* ---- Claims ---- */

struct team_claim {
    struct team_call of; /* first */
    struct team_claim_in in;
    struct team team;
    struct command *command;
};

static const struct str claim_types[] = {{TEAM_TASK_TYPE, sizeof TEAM_TASK_TYPE - 1}};

static void answer_nothing(struct call *call, const struct team *team)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_null(&w, "task");
    if (team->status != TEAM_RUNNING) {
        json_put_c(&w, "status", team_statuses[team->status]);
    }
    json_close_object(&w);
    call_answer(call, 200);
}

static void answer_claim(struct call *call)
{
    struct team_claim *own = call->own;
    const struct command_claim *claim = &own->command->claim;
    bool theirs = claim->count > 0 && id_eq(claim->tasks[0].team, own->team.id);
    if (!theirs || call->exchange->is_gone) {
        claims_release(call->api, claim->tasks, claim->count);
        answer_nothing(call, &own->team);
        return;
    }
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_key(&w, "task");
    team_write_claimed(&w, &own->team, &claim->tasks[0], &claim->facts[0]);
    json_close_object(&w);
    call_answer(call, 200);
}

static void claim_stop(struct exchange *exchange)
{
    struct call *call = exchange->user;
    uint64_t serial = ((struct team_claim *)call->own)->command->claim.serial;
    api_command(call->api, COMMAND_CLAIM_STOP)->claim_stop.serial = serial;
}

static void claim_of_team(struct call *call)
{
    struct team_claim *own = call->own;
    if (!team_call_read(call, &own->team)) {
        return;
    }
    if (own->team.status != TEAM_RUNNING || call->exchange->is_gone) {
        answer_nothing(call, &own->team);
        return;
    }
    own->command = call_command(call, COMMAND_CLAIM);
    own->command->claim = (struct command_claim){.worker = own->in.agent,
                                                 .types = claim_types,
                                                 .types_count = ARRAY_LEN(claim_types),
                                                 .queues = &own->team.queue,
                                                 .queues_count = 1,
                                                 .max = 1,
                                                 .lease_ms = own->in.lease_ms,
                                                 .wait = own->in.wait_ms > 0,
                                                 .serial = ++call->api->claims};
    call->done = answer_claim;
    if (own->in.wait_ms > 0) {
        call->exchange->gone = claim_stop;
        exchange_timer(call->exchange, own->in.wait_ms, claim_stop);
    }
}

bool on_team_claim(struct call *call, struct err *err)
{
    struct json json;
    struct task_id id;
    struct team_claim *own = arena_new(call->arena, struct team_claim);
    call->own = own;
    return team_call_id(call, &id, err) && call_params(call, no_params, NULL, err) &&
           call_json(call, &json, err) && team_claim_read(&json, &own->in, err) &&
           json_end(&json, err) && team_call_find(call, id, claim_of_team, err);
}

/* ---- Saying ---- */

static void answer_said(struct call *call)
{
    struct json_writer w = call_writer(call);
    team_message_write(&w, &((struct lead_order *)call->own)->message);
    call_answer(call, 201);
}

bool on_team_say(struct call *call, struct err *err)
{
    struct json json;
    struct task_id id;
    struct team_message message;
    if (!team_call_id(call, &id, err) || !call_params(call, no_params, NULL, err) ||
        !call_json(call, &json, err) || !team_message_read(&json, &message, err) ||
        !json_end(&json, err)) {
        return false;
    }
    struct lead_order *order = team_call_wish(call, LEAD_SAY, answer_said);
    order->id = id;
    order->message = message;
    return true;
}

/* ---- Listening ---- */

struct mail {
    struct team_call of; /* first */
    struct call *call;
    struct team team;
    struct str agent;
    struct task_id after;
    int64_t wait_ms;
    struct query *query;
    struct events_watch watch;
    bool waits;  /* an empty mailbox is not the answer yet */
    bool asking; /* the query is out */
    bool again;  /* … and what it finds may be old already */
};

static bool set_agent(void *into, struct str value, struct err *err)
{
    ((struct mail *)into)->agent = value;
    return team_agent_ok(value) ||
           err_field(err, "agent", "agent must be 1 to 256 bytes without control characters");
}

static bool set_after(void *into, struct str value, struct err *err)
{
    return id_parse(value, &((struct mail *)into)->after) ||
           err_field(err, "after", "after must be the id of a message");
}

static bool set_wait(void *into, struct str value, struct err *err)
{
    return param_i64("waitMs", value, 0, CLAIM_WAIT_MAX, &((struct mail *)into)->wait_ms, err);
}

static const struct param mail_table[] = {
    PARAM("agent", set_agent, NAME_SCHEMA, "Only what is for this agent; none: all."),
    PARAM("after", set_after, ID_SCHEMA, "Only what was said after this message."),
    PARAM("waitMs", set_wait, WAIT_SCHEMA, "Hold the answer this long for a message to come."),
};
const struct params team_mail_params = {mail_table, ARRAY_LEN(mail_table)};

static void stop_waiting(struct mail *mail)
{
    events_unwatch(mail->call->api->options.events, &mail->watch);
    mail->waits = false;
}

static void ask_mail(struct mail *mail)
{
    if (!mail->asking) {
        mail->asking = true;
        call_ask(mail->call, mail->query);
    }
}

static bool write_mail(struct mail *mail, struct json_writer *w, size_t *count, struct err *err)
{
    const struct records *found = &mail->query->records;
    *count = 0;
    json_open_array(w);
    for (size_t i = 0; i < found->count; i++) {
        struct team_message message;
        if (!team_message_load(&found->at[i], mail->call->arena, &message, err)) {
            return false;
        }
        if (team_message_is_for(&message, mail->agent)) {
            team_message_write(w, &message);
            ++*count;
        }
    }
    json_close_array(w);
    return true;
}

static void mail_failed(struct call *call)
{
    stop_waiting(call->own);
    call_fail(call, &call->failure);
}

/* Nothing on this page is for the agent, but it was not the last. */
static void next_page(struct mail *mail)
{
    const struct records *found = &mail->query->records;
    mail->query->record_filter.after = found->at[found->count - 1].id;
    ask_mail(mail);
}

/* A watch is over with the first word, whoever it was for: it is set again before the next look. */
static void mail_read(struct call *call)
{
    struct mail *mail = call->own;
    size_t count;
    mail->asking = false;
    if (mail->again) {
        mail->again = false;
        ask_mail(mail);
        return;
    }
    struct json_writer w = call_writer(call);
    if (!write_mail(mail, &w, &count, &call->failure)) {
        mail_failed(call);
        return;
    }
    bool empty = count == 0 && !call->exchange->is_gone;
    if (empty && mail->query->records.more) {
        next_page(mail);
        return;
    }
    if (mail->waits && empty) {
        if (!mail->watch.active) {
            events_watch(call->api->options.events, &mail->watch);
            ask_mail(mail);
        }
        return;
    }
    stop_waiting(mail);
    call_answer(call, 200);
}

static void mail_came(struct events_watch *watch, const struct event *event)
{
    struct mail *mail = HOLDER(watch, struct mail, watch);
    mail->waits = mail->waits && !lead_is_last(event->name); /* nobody will say more then */
    mail->again = mail->asking;
    ask_mail(mail);
}

static void mail_over(struct exchange *exchange)
{
    struct mail *mail = ((struct call *)exchange->user)->own;
    stop_waiting(mail);
    ask_mail(mail);
}

static void open_mail(struct call *call)
{
    struct mail *mail = call->own;
    if (!team_call_read(call, &mail->team)) {
        return;
    }
    mail->query = call_query(call, QUERY_RECORDS);
    mail->query->record_filter = (struct record_filter){.kind = RECORD_MESSAGE,
                                                        .parent = mail->team.id,
                                                        .after = mail->after,
                                                        .oldest_first = true,
                                                        .limit = MAIL_PAGE};
    call->done = mail_read;
    call->failed = mail_failed;
    if (mail->wait_ms > 0 && mail->team.status == TEAM_RUNNING) {
        mail->waits = true;
        mail->watch.topic = lead_topic(mail->team.id, call->arena);
        mail->watch.fire = mail_came;
        events_watch(call->api->options.events, &mail->watch);
        call->exchange->gone = mail_over;
        exchange_timer(call->exchange, mail->wait_ms, mail_over);
    }
    ask_mail(mail);
}

bool on_team_mail(struct call *call, struct err *err)
{
    struct task_id id;
    struct mail *mail = arena_new(call->arena, struct mail);
    mail->call = call;
    call->own = mail;
    return team_call_id(call, &id, err) && call_params(call, team_mail_params, mail, err) &&
           team_call_find(call, id, open_mail, err);
}
