/* wire/redact.c: hides the values of certain keys. See redact.h.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/redact.h"

#include <ctype.h>

#include "wire/base64.h"
#include "wire/json.h"
#include "wire/json_scan.h"

#define DEPTH_MAX (2 * JSON_DEPTH_MAX) /* a payload, and the answer around it */

/* ---- Keys ---- */

bool redact_parse(struct str list, struct redact_keys *out, struct err *err)
{
    struct redact_keys keys = {.count = 0};
    while (!str_absent(list)) {
        struct str key = str_trim(str_cut(&list, ','));
        if (key.len == 0) {
            continue;
        }
        if (keys.count == REDACT_KEYS_MAX) {
            return err_set(err, ERR_INVALID, "at most %d keys are redacted", REDACT_KEYS_MAX);
        }
        if (key.len > REDACT_KEY_MAX) {
            return err_set(err, ERR_INVALID, "a key has at most %d bytes", REDACT_KEY_MAX);
        }
        keys.at[keys.count++] = key;
    }
    *out = keys;
    return true;
}

static bool is_key(const struct redact_keys *keys, struct str name)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (str_eq_nocase(keys->at[i], name)) {
            return true;
        }
    }
    return false;
}

/* ---- Texts ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.len && is_blank(text.ptr[at])) {
        at++;
    }
    return at;
}

/* A quote, perhaps escaped, as in JSON inside of JSON: \\\" is one. Its length; 0: there is none.
 */
static size_t quote_at(struct str text, size_t at)
{
    size_t len = 0;
    while (at + len < text.len && text.ptr[at + len] == '\\') {
        len++;
    }
    bool quote = at + len < text.len && (text.ptr[at + len] == '"' || text.ptr[at + len] == '\'');
    return quote ? len + 1 : 0;
}

/* The key that begins at `at`, if it is one of those and a word of its own. Its length; 0: none. */
static size_t key_at(const struct redact_keys *keys, struct str text, size_t at)
{
    for (size_t i = 0; i < keys->count; i++) {
        size_t len = keys->at[i].len;
        if (at + len <= text.len && (at + len == text.len || !is_word(text.ptr[at + len])) &&
            str_eq_nocase(keys->at[i], (struct str){text.ptr + at, len})) {
            return len;
        }
    }
    return 0;
}

/* Where the value of a key begins, behind its '=' or ':'. 0: this is no assignment. */
static size_t value_at(struct str text, size_t at)
{
    at += quote_at(text, at);
    at = skip_blanks(text, at);
    if (at >= text.len || (text.ptr[at] != '=' && text.ptr[at] != ':')) {
        return 0;
    }
    return skip_blanks(text, at + 1);
}

static size_t word_end(struct str text, size_t at)
{
    while (at < text.len && !is_blank(text.ptr[at]) && text.ptr[at] != '&' &&
           quote_at(text, at) == 0) {
        at++;
    }
    return at;
}

/* Where a value in quotes ends: at the same quote, escaped as often; `at` is behind the first. */
static size_t quoted_end(struct str text, size_t at, struct str quote)
{
    while (at < text.len) {
        size_t len = quote_at(text, at);
        if (len == quote.len && text.ptr[at + len - 1] == quote.ptr[quote.len - 1]) {
            return at;
        }
        at += len > 0 ? len : 1;
    }
    return at;
}

/* "Bearer abc": the first word says what the second is. */
static bool is_scheme(struct str word)
{
    static const struct str schemes[] = {STR("bearer"), STR("basic"), STR("digest"), STR("token"),
                                         STR("negotiate")};
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (str_eq_nocase(word, schemes[i])) {
            return true;
        }
    }
    return false;
}

static size_t plain_end(struct str text, size_t at)
{
    struct json_fault fault;
    if (at < text.len && (text.ptr[at] == '{' || text.ptr[at] == '[')) {
        const char *end = json_scan_value(text.ptr + at, text.ptr + text.len, 0, &fault);
        return end == NULL ? text.len : (size_t)(end - text.ptr);
    }
    size_t end = word_end(text, at);
    if (is_scheme((struct str){text.ptr + at, end - at}) && end < text.len) {
        size_t next = skip_blanks(text, end);
        end = word_end(text, next);
    }
    while (end > at + 1 && strchr(",;)]}", text.ptr[end - 1]) != NULL) {
        end--; /* the sentence's, most likely */
    }
    return end;
}

void redact_text(struct buf *out, const struct redact_keys *keys, struct str text)
{
    size_t done = 0;
    for (size_t at = 0; at < text.len; at++) {
        bool begins = is_word(text.ptr[at]) && (at == 0 || !is_word(text.ptr[at - 1]));
        size_t len = begins ? key_at(keys, text, at) : 0;
        size_t value = len == 0 ? 0 : value_at(text, at + len);
        if (value == 0 || value >= text.len) {
            continue;
        }
        size_t quote = quote_at(text, value), from = value + quote;
        size_t end = quote > 0 ? quoted_end(text, from, (struct str){text.ptr + value, quote})
                               : plain_end(text, from);
        if (end > from) {
            buf_str(out, (struct str){text.ptr + done, from - done});
            buf_c(out, REDACTED);
            done = end;
        }
        at = MAX(end, at + 1) - 1;
    }
    buf_str(out, str_from(text, done));
}

/* ---- JSON ---- */

/* Members of answers that hold what came from outside. */
static bool is_content(struct str name)
{
    static const char *const names[] = {
        "payload", "result",  "metadata", "error",        "progress",    "log",         "lines",
        "message", "content", "messages", "body",         "prompt",      "description", "purpose",
        "title",   "text",    "reason",   "cancelReason", "httpRequest",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(name, names[i])) {
            return true;
        }
    }
    return false;
}

struct walk {
    struct buf *out;
    const struct redact_keys *keys;
    const char *at, *end;
    struct arena arena;
    bool in_object[DEPTH_MAX];
    bool is_content[DEPTH_MAX]; /* what stands in it came from outside */
    size_t depth;
    bool name_next;    /* in an object: the next string is a name */
    bool content_next; /* the next value is content */
    bool base64_next;  /* it is, and in base64 */
};

static struct str decoded(struct walk *walk, const char *end)
{
    struct str inner = {walk->at + 1, (size_t)(end - walk->at) - 2};
    char *text = arena_alloc(&walk->arena, inner.len + 1);
    return (struct str){text, json_unescape(inner, text)};
}

static void copy_to(struct walk *walk, const char *end)
{
    buf_str(walk->out, (struct str){walk->at, (size_t)(end - walk->at)});
    walk->at = end;
}

/* A name; what it says of its value is noted, and a value that must not be seen is passed over. */
static void walk_name(struct walk *walk, const char *end)
{
    struct json_fault fault;
    struct str name = decoded(walk, end);
    copy_to(walk, end);
    const char *colon = json_scan_blank(walk->at, walk->end);
    copy_to(walk, json_scan_blank(colon < walk->end ? colon + 1 : colon, walk->end));
    walk->name_next = false;
    bool inside = walk->is_content[walk->depth];
    if (inside && is_key(walk->keys, name)) {
        const char *behind = json_scan_value(walk->at, walk->end, 0, &fault);
        buf_c(walk->out, "\"" REDACTED "\"");
        walk->at = behind == NULL ? walk->end : behind;
        return;
    }
    walk->base64_next = !inside && str_is(name, "payloadBase64");
    walk->content_next = inside || walk->base64_next || is_content(name);
}

/* A string of content: it may hold lines of a log, or JSON once more. */
static void walk_content(struct walk *walk, const char *end)
{
    SCOPED(buf_fini) struct buf clean = BUF_INIT(SIZE_MAX);
    struct str text = decoded(walk, end), bytes;
    struct err err = ERR_INIT;
    bool raw = walk->base64_next && base64_decode(text, &walk->arena, &bytes, &err);
    bytes = raw ? bytes : text;
    redact_text(&clean, walk->keys, bytes);
    if (str_eq(buf_view(&clean), bytes)) {
        copy_to(walk, end);
        return;
    }
    struct json_writer w = JSON_WRITER(walk->out);
    if (raw) {
        json_add_base64(&w, buf_view(&clean));
    } else {
        json_add_str(&w, buf_view(&clean));
    }
    walk->at = end;
}

static void walk_string(struct walk *walk)
{
    struct json_fault fault;
    bool escaped;
    const char *end = json_scan_string(walk->at, walk->end, &escaped, &fault);
    if (end == NULL) { /* no answer of ours: nothing more is shown of it */
        walk->at = walk->end;
    } else if (walk->name_next) {
        walk_name(walk, end);
    } else if (walk->content_next) {
        walk_content(walk, end);
    } else {
        copy_to(walk, end);
    }
    arena_clear(&walk->arena);
}

static void walk_bracket(struct walk *walk, char c)
{
    if (c == '{' || c == '[') {
        if (walk->depth + 1 == DEPTH_MAX) {
            walk->at = walk->end;
            return;
        }
        walk->depth++;
        walk->in_object[walk->depth] = walk->name_next = c == '{';
        walk->is_content[walk->depth] = walk->content_next;
    } else {
        walk->depth -= walk->depth > 0;
        walk->name_next = false;
        walk->content_next = walk->is_content[walk->depth];
    }
    walk->base64_next = false;
    copy_to(walk, walk->at + 1);
}

void redact_json(struct buf *out, const struct redact_keys *keys, struct str json)
{
    struct walk walk = {
        .out = out, .keys = keys, .at = json.ptr, .end = json.ptr + json.len, .arena = ARENA_INIT};
    while (walk.at < walk.end) {
        char c = *walk.at;
        if (c == '"') {
            walk_string(&walk);
        } else if (c == '{' || c == '[' || c == '}' || c == ']') {
            walk_bracket(&walk, c);
        } else {
            if (c == ',') {
                walk.name_next = walk.in_object[walk.depth];
                walk.content_next = walk.is_content[walk.depth];
                walk.base64_next = false;
            }
            copy_to(&walk, walk.at + 1);
        }
    }
    arena_fini(&walk.arena);
}
