/* net/on_team_work.c: agents outside: claims of a team's tasks, and its mailboxes.
 *
 * A claim looks the team up and then waits in the line of its queue. The queue may belong to
 * another team by the time a task comes: then it is given back, which costs nothing. A team that
 * ends wakes the claims that wait for it, but not one whose look came before and whose claim came
 * after that, nor those on other nodes: so a claim looks again from time to time.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/on.h"
#include "net/team_call.h"
#include "net/team_out.h"

#define TEAM_LOOK_MS (2 * SECOND_MS)                     /* while a claim waits */
#define MAIL_PAGE    (MESSAGES_MAX + TEAM_TASKS_MAX + 1) /* all, unless they are big */

/* ---- Claims ---- */

struct team_claim {
    struct team_call of; /* first */
    struct str agent;
    int64_t wait_ms; /* that are left */
    int64_t lease_ms;
    struct team team;
    struct command *command;
};

/* clang-format off */
static const struct form_row claim_rows[] = {
    FORM_ROW("agent", struct team_claim, agent, FORM_TEXT, FORM_SET | FORM_NEEDED, .min = 1, .max = TASK_WORKER_MAX,
             .check = team_agent_ok, .rule = TEAM_AGENT_RULE),
    FORM_ROW("waitMs", struct team_claim, wait_ms, FORM_I64, FORM_SET | FORM_DEFAULT, .max = CLAIM_WAIT_MAX),
    FORM_ROW("leaseMs", struct team_claim, lease_ms, FORM_I64, FORM_SET | FORM_DEFAULT, .min = TASK_LEASE_MIN_MS,
             .max = TASK_LEASE_MAX_MS, .standard = TASK_LEASE_DEFAULT_MS),
};
/* clang-format on */
const struct form team_claim_form = FORM(claim_rows);

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

static void claim_of_team(struct call *call);

static void answer_claim(struct call *call)
{
    struct team_claim *own = call->own;
    const struct command_claim *claim = &own->command->claim;
    bool theirs = claim->count > 0 && id_eq(claim->tasks[0].team, own->team.id);
    bool goes_on = claim->count == 0 && claim->signal == SIGNAL_NONE && own->wait_ms > 0 &&
                   !call->exchange->is_gone;
    if (goes_on && team_call_find(call, own->team.id, claim_of_team, &call->failure)) {
        return;
    }
    if (!theirs || call->exchange->is_gone) {
        claims_release(call->api, claim->tasks, claim->count);
        answer_nothing(call, &own->team);
        return;
    }
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_key(&w, "task");
    team_write_claimed(&w, &own->team, &claim->tasks[0], &claim->facts[0],
                       call->api->options.spans != NULL);
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
    int64_t slice_ms = MIN(own->wait_ms, TEAM_LOOK_MS);
    own->wait_ms -= slice_ms;
    own->command = call_command(call, COMMAND_CLAIM);
    own->command->claim = (struct command_claim){.worker = own->agent,
                                                 .types = claim_types,
                                                 .types_count = ARRAY_LEN(claim_types),
                                                 .queues = &own->team.queue,
                                                 .queues_count = 1,
                                                 .max = 1,
                                                 .lease_ms = own->lease_ms,
                                                 .wait = slice_ms > 0,
                                                 .wait_ms = slice_ms,
                                                 .serial = ++call->api->claims};
    call->done = answer_claim;
    if (slice_ms > 0) {
        call->exchange->gone = claim_stop;
    }
}

bool on_team_claim(struct call *call, struct err *err)
{
    struct task_id id;
    struct team_claim *own = arena_new(call->arena, struct team_claim);
    form_init(&team_claim_form, own);
    call->own = own;
    return team_call_id(call, &id, err) && call_asked(call, NULL, NULL, err) &&
           call_body(call, &team_claim_form, false, own, NULL, err) &&
           team_call_find(call, id, claim_of_team, err);
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
    struct task_id id;
    struct team_message message = {.id = TASK_ID_NONE};
    if (!team_call_id(call, &id, err) || !call_asked(call, NULL, NULL, err) ||
        !call_body(call, &team_message_request, false, &message, NULL, err)) {
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

/* clang-format off */
static const struct form_row mail_rows[] = {
    FORM_ROW("agent", struct mail, agent, FORM_TEXT, FORM_SET, .min = 1, .max = TASK_WORKER_MAX,
             .check = team_agent_ok, .rule = TEAM_AGENT_RULE, .about = "Only what is for this agent; none: all."),
    FORM_ROW("after", struct mail, after, FORM_ID, FORM_SET, .rule = "must be the id of a message",
             .about = "Only what was said after this message."),
    FORM_ROW("waitMs", struct mail, wait_ms, FORM_I64, FORM_SET | FORM_DEFAULT, .max = CLAIM_WAIT_MAX,
             .about = "Hold the answer this long for a message to come."),
};
/* clang-format on */
const struct form team_mail_form = FORM(mail_rows);

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

/* The mailbox was looked at. A watch for messages ends with the first message of the team, whoever
 * that was for: it is set again before the next look, so that no message falls between. */
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
        const struct records *page = &mail->query->records; /* nothing on it is for the agent */
        mail->query->record_filter.after = page->at[page->count - 1].id;
        ask_mail(mail);
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
    return team_call_id(call, &id, err) && call_asked(call, &team_mail_form, mail, err) &&
           team_call_find(call, id, open_mail, err);
}
