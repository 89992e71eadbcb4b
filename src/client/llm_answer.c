/* client/llm_answer.c: what a language model's server sent, read into an answer.
 * See llm_answer.h.
 *
 * Numbers are read as reals: a server may put an integer of any size beside what we look for.
 *
 * SPDX-License-Identifier: MIT */
#include "client/llm_answer.h"

#include <jansson.h>

void llm_reply_init(struct llm_reply *reply, size_t content_max)
{
    *reply =
        (struct llm_reply){.content = BUF_INIT(content_max), .refusal = BUF_INIT(LLM_REFUSAL_MAX)};
}

void llm_reply_fini(struct llm_reply *reply)
{
    buf_fini(&reply->content);
    buf_fini(&reply->refusal);
}

static void drop(json_t **tree)
{
    json_decref(*tree);
}

/* NULL: it is not JSON, or no object. */
static json_t *load_object(struct str text)
{
    json_t *tree = json_loadb(text.ptr, text.len, JSON_DECODE_INT_AS_REAL, NULL);
    if (tree != NULL && !json_is_object(tree)) {
        json_decref(tree);
        return NULL;
    }
    return tree;
}

static struct str text_of(const json_t *value)
{
    return json_is_string(value) ? (struct str){json_string_value(value), json_string_length(value)}
                                 : STR_NONE;
}

/* ---- One object of the server's ---- */

static int64_t count_of(const json_t *usage, const char *key)
{
    double number = json_number_value(json_object_get(usage, key));
    return number >= 0 && number <= (double)LLM_TOKENS_MAX ? (int64_t)number : 0;
}

/* Some servers repeat the growing numbers in each piece of a stream: the last ones count. */
static void read_usage(struct llm_reply *reply, const json_t *usage)
{
    if (json_is_object(usage)) {
        reply->prompt_tokens = count_of(usage, "prompt_tokens");
        reply->completion_tokens = count_of(usage, "completion_tokens");
        reply->total_tokens =
            MAX(count_of(usage, "total_tokens"), reply->prompt_tokens + reply->completion_tokens);
    }
}

static bool is_text_or_nothing(const json_t *value)
{
    return value == NULL || json_is_null(value) || json_is_string(value);
}

/* `said` is a message, or the delta of one. */
static bool read_said(struct llm_reply *reply, const json_t *said, struct err *err)
{
    const json_t *content = json_object_get(said, "content");
    const json_t *refusal = json_object_get(said, "refusal");
    if (!is_text_or_nothing(content) || !is_text_or_nothing(refusal)) {
        return err_set(err, ERR_INVALID, "the LLM's answer has content that is no text");
    }
    buf_str(&reply->content, text_of(content));
    buf_str(&reply->refusal, text_of(refusal));
    return !reply->content.full || err_set(err, ERR_TOO_LARGE, "the LLM's answer is too long");
}

static bool read_choice(struct llm_reply *reply, const json_t *tree, const char *key,
                        struct err *err)
{
    const json_t *choice = json_array_get(json_object_get(tree, "choices"), 0);
    const json_t *said = json_object_get(choice, key);
    if (!json_is_object(said)) {
        return err_set(err, ERR_INVALID, "the LLM's answer has no choices[0].%s", key);
    }
    if (!read_said(reply, said, err)) {
        return false;
    }
    struct str reason = text_of(json_object_get(choice, "finish_reason"));
    if (!str_absent(reason)) {
        reply->ended = true;
        reply->cut_off = str_is(reason, "length");
        reply->filtered = str_is(reason, "content_filter");
    }
    return true;
}

bool llm_reply_read(struct llm_reply *reply, struct str body, struct err *err)
{
    SCOPED(drop) json_t *tree = load_object(body);
    if (tree == NULL) {
        return err_set(err, ERR_INVALID, "the LLM's answer is not a JSON object");
    }
    read_usage(reply, json_object_get(tree, "usage"));
    return read_choice(reply, tree, "message", err);
}

/* ---- Is it an answer? ---- */

/* What is between ```json and ```; all of it if there is no fence. */
static struct str without_fence(struct str text)
{
    static const char blanks[] = " \t\r\n";
    while (text.len > 0 && strchr(blanks, text.ptr[0]) != NULL) {
        text = str_from(text, 1);
    }
    while (text.len > 0 && strchr(blanks, text.ptr[text.len - 1]) != NULL) {
        text.len--;
    }
    if (!str_starts(text, STR("```")) || !str_ends(text, STR("```")) || text.len < 6) {
        return text;
    }
    text = (struct str){text.ptr + 3, text.len - 6};
    return str_starts(text, STR("json")) ? str_from(text, 4) : text;
}

static bool judge_object(const struct llm_reply *reply, struct str *out, struct err *err)
{
    struct str text = without_fence(buf_view(&reply->content));
    SCOPED(drop) json_t *tree = load_object(text);
    if (tree == NULL) {
        return err_set(err, ERR_INVALID,
                       reply->cut_off ? "the LLM's answer was cut off by the limit of tokens"
                                      : "the LLM was asked for a JSON object and wrote none");
    }
    *out = text;
    return true;
}

bool llm_reply_judge(const struct llm_reply *reply, bool as_object, struct str *out,
                     struct err *err)
{
    if (reply->refusal.len > 0) {
        char words[LLM_REASON_MAX + 1];
        llm_reason(buf_view(&reply->refusal), words);
        return err_set(err, ERR_REFUSED, "the LLM declines: %s", words);
    }
    if (reply->filtered) {
        return err_set(err, ERR_REFUSED, "the LLM's answer was withheld by a content filter");
    }
    if (reply->content.len == 0) {
        return err_set(err, ERR_INVALID, "the LLM's answer is empty");
    }
    if (as_object) {
        return judge_object(reply, out, err);
    }
    *out = buf_view(&reply->content);
    return true;
}

/* ---- Streams ---- */

void llm_stream_init(struct llm_stream *stream, size_t content_max)
{
    *stream = (struct llm_stream){.line = BUF_INIT(content_max), .data = BUF_INIT(content_max)};
    llm_reply_init(&stream->reply, content_max);
}

void llm_stream_fini(struct llm_stream *stream)
{
    llm_reply_fini(&stream->reply);
    buf_fini(&stream->line);
    buf_fini(&stream->data);
}

/* A server that fails in the middle can only say so inside the stream. */
static bool check_no_error(const json_t *tree, struct str text, struct err *err)
{
    const json_t *error = json_object_get(tree, "error");
    if (error == NULL || json_is_null(error)) {
        return true;
    }
    char words[LLM_REASON_MAX + 1];
    llm_reason(text, words);
    return err_set(err, ERR_UNAVAILABLE, "the LLM's server broke off: %s", words);
}

static bool read_piece(struct llm_stream *stream, const json_t *tree, struct err *err)
{
    struct llm_reply *reply = &stream->reply;
    const json_t *choices = json_object_get(tree, "choices");
    size_t before = reply->content.len;
    read_usage(reply, json_object_get(tree, "usage"));
    if (json_is_array(choices) && json_array_size(choices) == 0) {
        return true; /* usage alone, or a word of the server's about the question */
    }
    if (!read_choice(reply, tree, "delta", err)) {
        return false;
    }
    if (stream->on_text != NULL && reply->content.len > before) {
        stream->on_text(stream->arg, str_from(buf_view(&reply->content), before));
    }
    return true;
}

static bool read_event(struct llm_stream *stream, struct err *err)
{
    struct str text = buf_view(&stream->data);
    if (text.len == 0) {
        return true;
    }
    if (str_is(text, "[DONE]")) {
        stream->done = true;
        return true;
    }
    SCOPED(drop) json_t *tree = load_object(text);
    if (tree == NULL) {
        return err_set(err, ERR_INVALID, "a piece of the LLM's answer is not a JSON object");
    }
    return check_no_error(tree, text, err) && read_piece(stream, tree, err);
}

/* Fields other than data (event, id, retry, comments) say nothing here. */
static bool read_line(struct llm_stream *stream, struct str line, struct err *err)
{
    if (line.len == 0) {
        bool ok = read_event(stream, err);
        buf_clear(&stream->data);
        return ok;
    }
    if (str_starts(line, STR("data:"))) {
        line = str_from(line, 5);
        if (stream->data.len > 0) {
            buf_char(&stream->data, '\n');
        }
        buf_str(&stream->data, str_starts(line, STR(" ")) ? str_from(line, 1) : line);
    }
    return !stream->data.full || err_set(err, ERR_TOO_LARGE, "a piece of the answer is too long");
}

static bool end_line(struct llm_stream *stream, struct err *err)
{
    struct str line = buf_view(&stream->line);
    line.len -= str_ends(line, STR("\r")) ? 1 : 0;
    bool ok = read_line(stream, line, err);
    buf_clear(&stream->line);
    return ok;
}

bool llm_stream_take(struct llm_stream *stream, struct str bytes, struct err *err)
{
    while (bytes.len > 0 && !stream->done) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t len = end == NULL ? bytes.len : (size_t)(end - bytes.ptr);
        buf_str(&stream->line, (struct str){bytes.ptr, len});
        bytes = str_from(bytes, len + 1);
        if (stream->line.full) {
            return err_set(err, ERR_TOO_LARGE, "a line of the LLM's answer is too long");
        }
        if (end != NULL && !end_line(stream, err)) {
            return false;
        }
    }
    return true;
}

/* Not every server ends with [DONE]; one that said why it finished has. The last event may lack
 * its empty line. */
bool llm_stream_end(struct llm_stream *stream, struct err *err)
{
    if (!stream->done && !(end_line(stream, err) && read_line(stream, STR(""), err))) {
        return false;
    }
    return stream->done || stream->reply.ended ||
           err_set(err, ERR_UNAVAILABLE, "the LLM's answer was cut short");
}

/* ---- A server's own words ---- */

/* {"error":{"message":"…"}}, {"error":"…"}, {"message":"…"}, {"detail":"…"}: the usual shapes. */
static struct str find_words(const json_t *tree)
{
    const json_t *error = json_object_get(tree, "error");
    const json_t *const places[] = {json_object_get(error, "message"), error,
                                    json_object_get(tree, "message"),
                                    json_object_get(tree, "detail")};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (json_is_string(places[i])) {
            return text_of(places[i]);
        }
    }
    return STR_NONE;
}

static void clean(struct str words, char out[LLM_REASON_MAX + 1])
{
    size_t at = 0, len;
    while (words.len > 0 && at < LLM_REASON_MAX) {
        len = str_utf8_len(words);
        struct str one = {words.ptr, MAX(len, (size_t)1)};
        if (at + one.len > LLM_REASON_MAX) {
            break;
        }
        if (len == 0 || str_has_control(one)) {
            out[at++] = ' ';
        } else {
            memcpy(out + at, one.ptr, one.len);
            at += one.len;
        }
        words = str_from(words, one.len);
    }
    out[at] = '\0';
}

void llm_reason(struct str body, char out[LLM_REASON_MAX + 1])
{
    SCOPED(drop) json_t *tree = load_object(body);
    clean(tree == NULL ? body : find_words(tree), out);
}
