/* assist/prompt.c: a run that asks the language model, and one that only reminds. See prompt.h.
 *
 * The model sees the conversation that the schedule came from, with what earlier runs said, and
 * then the purpose. Its words become progress as they come.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/prompt.h"

#include "assist/chat.h"
#include "wire/json.h"

#define STEP_BYTES  160  /* of new text between two reports */
#define STEP_SHOWN  200  /* bytes of its end that a report shows */
#define HALF_WAY    2000 /* bytes: nobody knows how long an answer gets */
#define BEGIN       5.0  /* percent */
#define END         95.0
#define MESSAGE_MAX 512 /* bytes of an error */

struct prompt {
    struct str title, purpose, model, timezone, scheduled, messages;
};

/* What the planner puts into a payload beside these is for others. */
static bool read_payload(struct str payload, struct arena *arena, struct prompt *out,
                         struct err *err)
{
    struct json json;
    struct str key;
    *out = (struct prompt){.title = STR_NONE};
    json_start(&json, payload, arena);
    if (str_absent(payload) || !json_enter_object(&json, err)) {
        return err_set(err, ERR_INVALID, "the payload must be an object with a purpose");
    }
    while (json_member(&json, &key, err)) {
        struct str *text = str_is(key, "title")          ? &out->title
                           : str_is(key, "purpose")      ? &out->purpose
                           : str_is(key, "prompt")       ? &out->purpose
                           : str_is(key, "model")        ? &out->model
                           : str_is(key, "timezone")     ? &out->timezone
                           : str_is(key, "scheduledFor") ? &out->scheduled
                                                         : NULL;
        bool ok = json_take_null(&json)     ? true
                  : text != NULL            ? json_str(&json, text, err)
                  : str_is(key, "messages") ? json_raw(&json, &out->messages, err)
                                            : json_skip(&json, err);
        if (!ok) {
            return false;
        }
    }
    return json_end(&json, err);
}

static struct str json_text(struct str text, struct arena *arena)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(TASK_RESULT_MAX);
    struct json_writer w = JSON_WRITER(&json);
    json_add_str(&w, text);
    return arena_str(arena, buf_view(&json));
}

static struct service_end invalid(const struct err *err, struct arena *arena)
{
    return SERVICE_FAIL("invalid_payload", arena_str(arena, str_of(err->text)), false);
}

/* ---- The question ---- */

static void add_frame(struct chat *chat, const struct prompt *prompt, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(LLM_REQUEST_MAX);
    buf_c(&text, "You carry out a task that a user has scheduled. Nobody is there to answer "
                 "questions: do what can be done now, and answer with the text that is to be "
                 "delivered to the user, and nothing else.");
    if (prompt->title.len > 0) {
        buf_c(&text, "\nTitle: ");
        buf_str(&text, prompt->title);
    }
    if (prompt->scheduled.len > 0) {
        buf_c(&text, "\nIt was due at ");
        buf_str(&text, prompt->scheduled);
    }
    if (prompt->timezone.len > 0) {
        buf_c(&text, "\nThe user's time zone: ");
        buf_str(&text, prompt->timezone);
    }
    chat_add(chat, LLM_SYSTEM, arena_str(arena, buf_view(&text)), arena);
}

static bool make_chat(const struct prompt *prompt, struct arena *arena, struct chat *chat,
                      struct err *err)
{
    struct str purpose = prompt->purpose.len > 0 ? prompt->purpose : prompt->title;
    if (purpose.len == 0) {
        return err_set(err, ERR_INVALID, "there is neither a purpose nor a title to work from");
    }
    add_frame(chat, prompt, arena);
    if (!str_absent(prompt->messages) && !chat_read(chat, prompt->messages, arena, err)) {
        return false;
    }
    chat_add(chat, LLM_USER, purpose, arena);
    return true;
}

/* ---- The answer, as it comes ---- */

struct listener {
    const struct service_call *call;
    struct buf text;
    size_t told; /* bytes */
};

static struct str last_words(struct str text)
{
    size_t at = text.len > STEP_SHOWN ? text.len - STEP_SHOWN : 0;
    while (at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80) {
        at++; /* not in the middle of a character */
    }
    return str_from(text, at);
}

static void on_text(void *arg, struct str piece)
{
    struct listener *listener = arg;
    buf_str(&listener->text, piece);
    size_t len = listener->text.len;
    if (listener->told > 0 && len - listener->told < STEP_BYTES) {
        return;
    }
    listener->told = len;
    double share = (double)len / (double)(len + HALF_WAY);
    listener->call->tell(listener->call, BEGIN + (END - BEGIN) * share,
                         last_words(buf_view(&listener->text)));
}

/* ---- The end ---- */

static struct service_end failed(const struct err *err, const struct llm_cost *cost,
                                 struct arena *arena)
{
    struct str why = arena_str(arena, str_of(err->text));
    struct service_end end = SERVICE_FAIL("llm_unavailable", why, true);
    switch (err->kind) {
    case ERR_BUSY:
        end = SERVICE_FAIL("llm_busy", why, true);
        end.retry_after_ms = cost->retry_after_ms;
        break;
    case ERR_INVALID:
        end = SERVICE_FAIL("llm_bad_answer", why, true);
        break;
    case ERR_TOO_LARGE:
        end = SERVICE_FAIL("llm_too_large", why, false);
        break;
    case ERR_REFUSED:
        end = SERVICE_FAIL("llm_refused", why, false);
        break;
    default:
        break;
    }
    return end;
}

static void llm_close_at(struct llm **llm)
{
    llm_close(*llm);
}

static struct service_end ask(const struct llm_options *options, const struct service_call *call,
                              const struct prompt *prompt, const struct chat *chat)
{
    SCOPED(llm_close_at) struct llm *llm = NULL;
    struct listener listener = {.call = call, .text = BUF_INIT(PROMPT_ANSWER_MAX)};
    struct llm_options limited = *options;
    struct llm_answer answer;
    struct llm_cost cost = {0};
    struct err err = ERR_INIT;
    const struct llm_question question = {.messages = chat->at,
                                          .count = chat->count,
                                          .model = prompt->model,
                                          .stop = call->stop,
                                          .on_text = on_text,
                                          .arg = &listener};
    limited.limits.answer_max = PROMPT_ANSWER_MAX;
    call->tell(call, BEGIN, STR("asking the model"));
    bool ok = llm_open(&limited, &llm, &err) &&
              llm_ask(llm, &question, call->arena, &answer, &cost, &err);
    struct service_end end = ok ? SERVICE_DONE(json_text(answer.content, call->arena))
                                : failed(&err, &cost, call->arena);
    end.queries = (double)cost.queries;
    end.tokens = (double)cost.total_tokens;
    buf_fini(&listener.text);
    return end;
}

void prompt_run(void *arg, const struct service_call *call, struct service_end *end)
{
    struct prompt prompt;
    struct chat chat = {0};
    struct err err = ERR_INIT;
    if (!read_payload(call->payload, call->arena, &prompt, &err) ||
        !make_chat(&prompt, call->arena, &chat, &err)) {
        *end = invalid(&err, call->arena);
        return;
    }
    *end = ask(arg, call, &prompt, &chat);
}

/* ---- remind ---- */

void remind_run(void *arg, const struct service_call *call, struct service_end *end)
{
    struct arena *arena = call->arena;
    struct prompt prompt;
    struct err err = ERR_INIT;
    (void)arg;
    if (!read_payload(call->payload, arena, &prompt, &err)) {
        *end = invalid(&err, arena);
        return;
    }
    bool both =
        prompt.title.len > 0 && prompt.purpose.len > 0 && !str_eq(prompt.title, prompt.purpose);
    struct str text = both ? arena_printf(arena, STR_FMT "\n\n" STR_FMT, STR_ARG(prompt.title),
                                          STR_ARG(prompt.purpose))
                      : prompt.title.len > 0 ? prompt.title
                                             : prompt.purpose;
    *end = SERVICE_DONE(json_text(text, arena));
}
