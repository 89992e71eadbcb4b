/* wire/faktory.c: what Faktory's clients say. See faktory.h.
 *
 * Every object is read by a table of its fields. A job is looked at in one pass; what is not in the
 * table is passed over.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/faktory.h"

#include "base/array.h"
#include "wire/time.h"

/* ---- Lines ---- */

bool faktory_cut(struct str input, size_t looked, struct str *line, size_t *used)
{
    struct str rest = str_from(input, looked);
    const char *end = rest.len == 0 ? NULL : memchr(rest.ptr, '\n', rest.len);
    if (end == NULL) {
        return false;
    }
    size_t len = (size_t)(end - input.ptr);
    *used = len + 1;
    len -= len > 0 && input.ptr[len - 1] == '\r';
    *line = (struct str){input.ptr, len};
    return true;
}

static const char *const verbs[FAKTORY_VERBS] = {
    [FAKTORY_HELLO] = "HELLO",   [FAKTORY_PUSH] = "PUSH",   [FAKTORY_PUSHB] = "PUSHB",
    [FAKTORY_FETCH] = "FETCH",   [FAKTORY_ACK] = "ACK",     [FAKTORY_FAIL] = "FAIL",
    [FAKTORY_BEAT] = "BEAT",     [FAKTORY_INFO] = "INFO",   [FAKTORY_FLUSH] = "FLUSH",
    [FAKTORY_MUTATE] = "MUTATE", [FAKTORY_QUEUE] = "QUEUE", [FAKTORY_TRACK] = "TRACK",
    [FAKTORY_BATCH] = "BATCH",   [FAKTORY_END] = "END",
};

struct faktory_line faktory_line(struct str line)
{
    struct faktory_line out = {.verb = FAKTORY_UNKNOWN, .word = str_cut(&line, ' ')};
    out.rest = str_absent(line) ? STR("") : line;
    for (int verb = FAKTORY_HELLO; verb < FAKTORY_VERBS; verb++) {
        if (str_is(out.word, verbs[verb])) {
            out.verb = (enum faktory_verb)verb;
            break;
        }
    }
    return out;
}

size_t faktory_words(struct str text, struct str *out, size_t most)
{
    size_t n = 0;
    while (!str_absent(text) && n < most) {
        struct str word = str_cut(&text, ' ');
        if (word.len > 0) {
            out[n++] = word;
        }
    }
    return n;
}

/* ---- Objects by tables ---- */

enum kind { TEXT, NUMBER, TEXTS, ARRAY, OBJECT, VALUE };

struct field {
    const char *name;
    enum kind kind;
    size_t at; /* struct str, or int64_t of a NUMBER */
};
#define FIELD(type, member, kind)                                                                  \
    {                                                                                              \
#member, kind, offsetof(type, member)                                                      \
    }

static bool is_texts(struct str array, struct arena *arena)
{
    struct json json;
    struct str text;
    json_start(&json, array, arena);
    if (!json_enter_array(&json, NULL)) {
        return false;
    }
    while (json_item(&json, NULL)) {
        if (json_peek(&json) != JSON_STRING || !json_str(&json, &text, NULL)) {
            return false;
        }
    }
    return json_ok(&json);
}

static bool read_field(struct json *json, const struct field *field, char *into, struct err *err)
{
    struct str *text = (struct str *)(void *)(into + field->at);
    switch (field->kind) {
    case TEXT:
        return json_str(json, text, err);
    case NUMBER:
        return json_i64(json, (int64_t *)(void *)(into + field->at), err);
    case TEXTS:
        return json_peek(json) == JSON_ARRAY
                   ? json_raw(json, text, err) &&
                         (is_texts(*text, json->arena) ||
                          err_field(err, field->name, "%s must hold strings only", field->name))
                   : json_refuse(json, err, "must be an array of strings");
    case ARRAY:
        return json_peek(json) == JSON_ARRAY ? json_raw(json, text, err)
                                             : json_refuse(json, err, "must be an array");
    case OBJECT:
        return json_peek(json) == JSON_OBJECT ? json_raw(json, text, err)
                                              : json_refuse(json, err, "must be an object");
    default:
        return json_raw(json, text, err);
    }
}

static bool read_members(struct json *json, const struct field *fields, size_t count, void *into,
                         struct err *err)
{
    struct str key;
    while (json_member(json, &key, err)) {
        size_t i = 0;
        while (i < count && !str_is(key, fields[i].name)) {
            i++;
        }
        bool ok = i == count             ? json_skip(json, err)
                  : json_take_null(json) ? true
                                         : read_field(json, &fields[i], into, err);
        if (!ok) {
            return false;
        }
    }
    return json_ok(json);
}

static bool read_object(struct str text, const struct field *fields, size_t count,
                        struct arena *arena, void *into, struct err *err)
{
    struct json json;
    json_start(&json, text, arena);
    return (json_enter_object(&json, err) && read_members(&json, fields, count, into, err) &&
            json_end(&json, err)) ||
           err_wrap(err, "invalid JSON");
}

/* ---- HELLO ---- */

static const struct field hello_fields[] = {
    FIELD(struct faktory_hello, wid, TEXT),
    FIELD(struct faktory_hello, hostname, TEXT),
    FIELD(struct faktory_hello, pwdhash, TEXT),
    FIELD(struct faktory_hello, v, NUMBER),
};

bool faktory_read_hello(struct str text, struct arena *arena, struct faktory_hello *out,
                        struct err *err)
{
    *out = (struct faktory_hello){0};
    return read_object(text, hello_fields, ARRAY_LEN(hello_fields), arena, out, err);
}

/* ---- Jobs ---- */

static const struct field job_fields[] = {
    FIELD(struct faktory_job, jid, TEXT),           FIELD(struct faktory_job, jobtype, TEXT),
    FIELD(struct faktory_job, args, ARRAY),         FIELD(struct faktory_job, queue, TEXT),
    FIELD(struct faktory_job, retry, NUMBER),       FIELD(struct faktory_job, custom, OBJECT),
    FIELD(struct faktory_job, reserve_for, NUMBER), FIELD(struct faktory_job, at, TEXT),
    FIELD(struct faktory_job, created_at, TEXT),    FIELD(struct faktory_job, backtrace, NUMBER),
};

static const struct field custom_fields[] = {
    FIELD(struct faktory_custom, document_id, TEXT),
    FIELD(struct faktory_custom, idempotency_key, TEXT),
    FIELD(struct faktory_custom, priority, VALUE),
    FIELD(struct faktory_custom, depends_on, VALUE),
    FIELD(struct faktory_custom, expires_at, TEXT),
    FIELD(struct faktory_custom, unique_until, TEXT),
    FIELD(struct faktory_custom, unique_for, NUMBER),
};

bool faktory_queue_ok(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (c == '\0' || strchr("._-", c) == NULL)) {
            return false;
        }
    }
    return name.len > 0;
}

static bool read_custom(struct faktory_job *job, struct arena *arena, struct err *err)
{
    struct faktory_custom *known = &job->known;
    if (str_absent(job->custom)) {
        return true;
    }
    if (!read_object(job->custom, custom_fields, ARRAY_LEN(custom_fields), arena, known, err)) {
        return err_wrap(err, "custom");
    }
    if (known->unique_for < 0 || known->unique_for > FAKTORY_UNIQUE_MAX_S) {
        return err_field(err, "custom.unique_for", "custom.unique_for must be 0 to %lld seconds",
                         (long long)FAKTORY_UNIQUE_MAX_S);
    }
    return true;
}

static bool read_at(struct faktory_job *job, struct err *err)
{
    struct err why = ERR_INIT;
    if (str_absent(job->at) || job->at.len == 0) {
        job->at = STR_NONE;
        return true;
    }
    if (!time_parse(job->at, &job->at_ms, &why)) {
        return err_field(err, "at", "invalid timestamp for 'at': '" STR_FMT "'",
                         (int)MIN(job->at.len, (size_t)FAKTORY_ECHO_MAX), job->at.ptr);
    }
    job->at_ms = MAX(job->at_ms, 1); /* 0 means none */
    return true;
}

static bool check_job(const struct faktory_job *job, struct err *err)
{
    if (job->jid.len < FAKTORY_JID_MIN) {
        return err_field(err, "jid", "jobs must have a reasonable jid parameter");
    }
    if (job->jid.len > FAKTORY_JID_MAX) {
        return err_field(err, "jid", "jobs must have a reasonable jid parameter: at most %d bytes",
                         FAKTORY_JID_MAX);
    }
    if (job->jobtype.len == 0) {
        return err_field(err, "jobtype", "jobs must have a jobtype parameter");
    }
    if (str_absent(job->args)) {
        return err_field(err, "args", "jobs must have an args parameter");
    }
    if (job->reserve_for > FAKTORY_RESERVE_MAX_S) {
        return err_field(err, "reserve_for", "jobs cannot be reserved for more than one day");
    }
    if (job->retry > INT32_MAX) {
        return err_field(err, "retry", "retry must be at most %d", INT32_MAX);
    }
    return faktory_queue_ok(job->queue) ||
           err_field(err, "queue", "queue names must match [a-zA-Z0-9._-]+");
}

bool faktory_read_job(struct str text, struct arena *arena, struct faktory_job *out,
                      struct err *err)
{
    *out = (struct faktory_job){.retry = FAKTORY_RETRIES, .queue = STR(FAKTORY_QUEUE_DEFAULT)};
    if (!read_object(text, job_fields, ARRAY_LEN(job_fields), arena, out, err)) {
        return false;
    }
    out->queue = out->queue.len == 0 ? STR(FAKTORY_QUEUE_DEFAULT) : out->queue;
    out->reserve_for = MAX(out->reserve_for, 0);
    return check_job(out, err) && read_at(out, err) && read_custom(out, arena, err);
}

bool faktory_read_origin(struct str text, struct arena *arena, struct faktory_job *out)
{
    struct err err = ERR_INIT;
    return read_object(text, job_fields, ARRAY_LEN(job_fields), arena, out, &err);
}

bool faktory_read_jobs(struct str text, struct arena *arena, struct faktory_jobs *out,
                       struct err *err)
{
    struct json json;
    *out = (struct faktory_jobs){0};
    json_start(&json, text, arena);
    if (json_peek(&json) != JSON_ARRAY || !json_enter_array(&json, err)) {
        return err_set(err, ERR_INVALID, "invalid JSON: an array of jobs is needed");
    }
    while (json_item(&json, err)) {
        if (json_peek(&json) != JSON_OBJECT) {
            return err_set(err, ERR_INVALID, "invalid JSON: every job must be an object");
        }
        struct str *job = ARENA_PUSH(arena, out->at, out->count);
        if (!json_raw(&json, job, err)) {
            break;
        }
    }
    return (json_ok(&json) && json_end(&json, err)) || err_wrap(err, "invalid JSON");
}

/* ---- ACK and FAIL ---- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Trimmed, cut between two characters; "unknown" when nothing is left. */
static struct str cut_text(struct str text, size_t max)
{
    while (text.len > 0 && is_blank(text.ptr[0])) {
        text = str_from(text, 1);
    }
    while (text.len > 0 && is_blank(text.ptr[text.len - 1])) {
        text.len--;
    }
    if (text.len > max) {
        text.len = max;
        while (text.len > 0 && ((unsigned char)text.ptr[text.len] & 0xC0) == 0x80) {
            text.len--;
        }
    }
    return text.len == 0 ? STR("unknown") : text;
}

/* The first lines, as many as fit. */
static struct str cut_backtrace(struct str array, size_t max, struct arena *arena)
{
    struct json json;
    struct str line;
    SCOPED(buf_fini) struct buf out = BUF_INIT(SIZE_MAX / 2);
    json_start(&json, array, arena);
    buf_char(&out, '[');
    bool more = json_enter_array(&json, NULL);
    for (size_t n = 0; more && n < FAKTORY_BACKTRACE_MAX; n++) {
        more = json_item(&json, NULL) && json_raw(&json, &line, NULL);
        if (!more || out.len + line.len + 2 > max) {
            break;
        }
        buf_c(&out, n > 0 ? "," : "");
        buf_str(&out, line);
    }
    buf_char(&out, ']');
    return arena_str(arena, buf_view(&out));
}

static const struct field fail_fields[] = {
    FIELD(struct faktory_fail, jid, TEXT),
    FIELD(struct faktory_fail, message, TEXT),
    FIELD(struct faktory_fail, errtype, TEXT),
    FIELD(struct faktory_fail, backtrace, TEXTS),
};

bool faktory_read_fail(struct str text, size_t text_max, struct arena *arena,
                       struct faktory_fail *out, struct err *err)
{
    *out = (struct faktory_fail){0};
    if (!read_object(text, fail_fields, ARRAY_LEN(fail_fields), arena, out, err)) {
        return false;
    }
    if (out->jid.len == 0) {
        return err_field(err, "jid", "missing JID");
    }
    out->message = cut_text(out->message, FAKTORY_MESSAGE_MAX);
    out->errtype = cut_text(out->errtype, FAKTORY_ERRTYPE_MAX);
    if (!str_absent(out->backtrace)) {
        out->backtrace = cut_backtrace(out->backtrace, text_max, arena);
    }
    return true;
}

bool faktory_read_ack(struct str text, struct arena *arena, struct str *jid, struct err *err)
{
    struct json json;
    struct str key, value;
    struct err why = ERR_INIT;
    *jid = STR_NONE;
    json_start(&json, text, arena);
    bool ok = json_enter_object(&json, &why);
    while (ok && json_member(&json, &key, &why)) {
        ok = json_str(&json, &value, &why);
        *jid = ok && str_is(key, "jid") ? value : *jid;
    }
    return (ok && json_ok(&json) && json_end(&json, &why) && jid->len > 0) ||
           err_set(err, ERR_INVALID, "invalid ACK " STR_FMT,
                   (int)MIN(text.len, (size_t)FAKTORY_ECHO_MAX), text.ptr);
}

/* ---- The others ---- */

static const struct field beat_fields[] = {
    FIELD(struct faktory_beat, wid, TEXT),
    FIELD(struct faktory_beat, current_state, TEXT),
    FIELD(struct faktory_beat, rss_kb, NUMBER),
};

bool faktory_read_beat(struct str text, struct arena *arena, struct faktory_beat *out,
                       struct err *err)
{
    *out = (struct faktory_beat){0};
    return read_object(text, beat_fields, ARRAY_LEN(beat_fields), arena, out, err) &&
           (out->wid.len > 0 || err_field(err, "wid", "BEAT needs a wid"));
}

static const struct field track_fields[] = {
    FIELD(struct faktory_track, jid, TEXT),
    FIELD(struct faktory_track, desc, TEXT),
    FIELD(struct faktory_track, reserve_until, TEXT),
    FIELD(struct faktory_track, percent, NUMBER),
};

bool faktory_read_track(struct str text, struct arena *arena, struct faktory_track *out,
                        struct err *err)
{
    *out = (struct faktory_track){.percent = -1};
    return read_object(text, track_fields, ARRAY_LEN(track_fields), arena, out, err) &&
           (out->jid.len > 0 || err_field(err, "jid", "missing JID")) &&
           (out->percent <= 100 || err_field(err, "percent", "percent must be 0 to 100"));
}

struct filter_in {
    struct str jids, regexp, jobtype;
};
static const struct field filter_fields[] = {
    FIELD(struct filter_in, jids, TEXTS),
    FIELD(struct filter_in, regexp, TEXT),
    FIELD(struct filter_in, jobtype, TEXT),
};

struct mutate_in {
    struct str cmd, target, filter;
};
static const struct field mutate_fields[] = {
    FIELD(struct mutate_in, cmd, TEXT),
    FIELD(struct mutate_in, target, TEXT),
    FIELD(struct mutate_in, filter, OBJECT),
};

static bool word_of(struct str text, const char *const *words, size_t count, int *out)
{
    for (size_t i = 0; i < count; i++) {
        if (str_is(text, words[i])) {
            *out = (int)i;
            return true;
        }
    }
    return false;
}

static bool read_filter(struct str text, struct arena *arena, struct faktory_change *out,
                        struct err *err)
{
    struct filter_in in = {0};
    struct json json;
    if (str_absent(text)) {
        return true;
    }
    if (!read_object(text, filter_fields, ARRAY_LEN(filter_fields), arena, &in, err)) {
        return err_wrap(err, "filter");
    }
    out->regexp = in.regexp.len > 0 ? in.regexp : STR_NONE;
    out->jobtype = in.jobtype.len > 0 ? in.jobtype : STR_NONE;
    if (!str_absent(in.jids)) {
        json_start(&json, in.jids, arena);
        bool more = json_enter_array(&json, NULL);
        while (more && json_item(&json, NULL)) {
            struct str *jid = ARENA_PUSH(arena, out->jids, out->jids_count);
            more = json_str(&json, jid, NULL);
        }
    }
    out->filtered = out->jids_count > 0 || !str_absent(out->regexp) || !str_absent(out->jobtype);
    return true;
}

bool faktory_read_mutate(struct str text, struct arena *arena, struct faktory_change *out,
                         struct err *err)
{
    static const char *const cmds[] = {"clear", "kill", "discard", "requeue"};
    static const char *const targets[] = {"scheduled", "retries", "dead"};
    struct mutate_in in = {0};
    int cmd = 0, target = 0;
    *out = (struct faktory_change){0};
    if (!read_object(text, mutate_fields, ARRAY_LEN(mutate_fields), arena, &in, err)) {
        return false;
    }
    if (!word_of(in.cmd, cmds, ARRAY_LEN(cmds), &cmd)) {
        return err_field(err, "cmd", "unknown mutate operation");
    }
    if (!word_of(in.target, targets, ARRAY_LEN(targets), &target)) {
        return err_field(err, "target", "invalid target for mutation command");
    }
    out->cmd = (enum faktory_mutate)cmd;
    out->target = (enum faktory_set)target;
    return read_filter(in.filter, arena, out, err);
}
