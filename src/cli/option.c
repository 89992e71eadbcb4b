/* cli/option.c: one option parser for every command. See option.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/option.h"

#include "base/nearest.h"
#include "wire/uri.h"

/* ---- Reading ---- */

static const struct option *find_option(const struct option *options, struct str name)
{
    for (const struct option *option = options; option->name != NULL; option++) {
        if (str_is(name, option->name)) {
            return option;
        }
    }
    return NULL;
}

static const struct option *find_letter(const struct option *options, struct str word)
{
    for (const struct option *option = options; option->name != NULL; option++) {
        if (word.len > 1 && word.ptr[0] == '-' && option->letter == word.ptr[1]) {
            return option;
        }
    }
    return NULL;
}

static bool refuse_unknown(const struct option *options, struct str name, struct err *err)
{
    struct nearest nearest = nearest_begin(name);
    for (const struct option *option = options; option->name != NULL; option++) {
        nearest_offer(&nearest, str_of(option->name));
    }
    if (!str_absent(nearest.best)) {
        return err_set(err, ERR_INVALID,
                       "unknown option --" STR_FMT "; did you mean --" STR_FMT "?", STR_ARG(name),
                       STR_ARG(nearest.best));
    }
    return err_set(err, ERR_INVALID, "unknown option --" STR_FMT, STR_ARG(name));
}

static bool store_value(const struct option *option, struct str value, void *target,
                        struct err *err)
{
    static const struct value_rule text = {.kind = VALUE_TEXT};
    void *at = (char *)target + option->at;
    struct option_many *many = at;
    bool ok = true;
    switch (option->takes) {
    case OPTION_FLAG:
        *(bool *)at = true;
        break;
    case OPTION_VALUE:
        ok = value_read(&option->rule, value, at, err);
        break;
    case OPTION_MAYBE:
        *(struct option_maybe *)at = (struct option_maybe){true, value};
        break;
    case OPTION_MANY:
        ok = many->count < OPTION_MANY_MAX
                 ? value_read(&text, value, &many->at[many->count++], err)
                 : err_set(err, ERR_INVALID, "may be given at most %d times", OPTION_MANY_MAX);
        break;
    }
    return ok || err_wrap(err, "--%s", option->name);
}

/* The value that belongs to an option: behind its '=', or the next word. */
static bool find_value(const struct option *option, struct str after, int argc, char **argv, int *i,
                       struct str *value, struct err *err)
{
    *value = after;
    if (option->takes == OPTION_FLAG && !str_absent(after)) {
        return err_set(err, ERR_INVALID, "--%s takes no value", option->name);
    }
    if (option->takes == OPTION_FLAG || option->takes == OPTION_MAYBE || !str_absent(after)) {
        return true;
    }
    if (*i + 1 >= argc) {
        return err_set(err, ERR_INVALID, "--%s needs a value: --%s %s", option->name, option->name,
                       option->argument);
    }
    *value = str_of(argv[++*i]);
    return true;
}

static bool parse_option(const struct option *options, int argc, char **argv, int *i, void *target,
                         struct err *err)
{
    struct str after = str_from(str_of(argv[*i]), 2), value;
    struct str name = str_cut(&after, '=');
    const struct option *option = find_option(options, name);
    if (option == NULL) {
        return refuse_unknown(options, name, err);
    }
    return find_value(option, after, argc, argv, i, &value, err) &&
           store_value(option, value, target, err);
}

static bool add_word(struct words *words, struct str word, struct err *err)
{
    if (words->count == WORDS_MAX) {
        return err_set(err, ERR_INVALID, "more than %d arguments", WORDS_MAX);
    }
    words->at[words->count++] = word;
    return true;
}

static bool parse_word(struct words *words, struct str word, struct err *err)
{
    int64_t number;
    /* A negative number is a word: `errand push t -5` has a payload. */
    if (word.len > 1 && word.ptr[0] == '-' && !str_i64(word, &number)) {
        return err_set(err, ERR_INVALID, "unknown option " STR_FMT "; options begin with --",
                       STR_ARG(word));
    }
    return add_word(words, word, err);
}

bool option_parse(const struct option *options, int argc, char **argv, void *target,
                  struct words *words, bool *help, struct err *err)
{
    bool only_words = false, ok = true;
    *words = (struct words){.count = 0};
    *help = false;
    for (int i = 0; ok && !*help && i < argc; i++) {
        struct str word = str_of(argv[i]);
        const struct option *short_one = find_letter(options, word);
        if (only_words) {
            ok = add_word(words, word, err);
        } else if (str_is(word, "--")) {
            only_words = true;
        } else if (str_is(word, "--help") || str_is(word, "-h")) {
            *help = true;
        } else if (str_starts(word, STR("--"))) {
            ok = parse_option(options, argc, argv, &i, target, err);
        } else if (short_one != NULL) {
            /* -q mail, -qmail: its value stands behind the letter, or else is the next word. */
            struct str behind = word.len > 2 ? str_from(word, 2) : STR_NONE, value;
            ok = find_value(short_one, behind, argc, argv, &i, &value, err) &&
                 store_value(short_one, value, target, err);
        } else {
            ok = parse_word(words, word, err);
        }
    }
    return ok;
}

struct str words_join(const struct words *words, size_t first, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    for (size_t i = first; i < words->count; i++) {
        buf_c(&text, i > first ? " " : "");
        buf_str(&text, words->at[i]);
    }
    return arena_str(arena, buf_view(&text));
}

/* ---- Sending ---- */

static void put_number(struct json_writer *w, const struct option *option, const void *at)
{
    if (option->rule.kind == VALUE_REAL) {
        if (*(const double *)at >= 0) {
            json_put_f64(w, option->field, *(const double *)at);
        }
    } else if (*(const int64_t *)at >= 0) {
        json_put_i64(w, option->field, *(const int64_t *)at);
    }
}

void option_put_json(const struct option *options, const void *from, struct json_writer *w)
{
    for (const struct option *option = options; option->name != NULL; option++) {
        const void *at = (const char *)from + option->at;
        const struct option_many *many = at;
        if (option->field == NULL) {
            continue;
        }
        if (option->takes == OPTION_FLAG && *(const bool *)at) {
            json_put_bool(w, option->field, true);
        } else if (option->takes == OPTION_VALUE && !value_is_text(option->rule.kind)) {
            put_number(w, option, at);
        } else if (option->takes == OPTION_VALUE && !str_absent(*(const struct str *)at)) {
            SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
            value_send(&option->rule, *(const struct str *)at, &text);
            json_put_str(w, option->field, buf_view(&text));
        } else if (option->takes == OPTION_MANY && many->count > 0) {
            json_put_array(w, option->field);
            for (size_t i = 0; i < many->count; i++) {
                json_add_str(w, many->at[i]);
            }
            json_close_array(w);
        }
    }
}

/* Parameters are texts and whole numbers; no list has others. */
void option_put_query(const struct option *options, const void *from, struct buf *path)
{
    for (const struct option *option = options; option->name != NULL; option++) {
        const void *at = (const char *)from + option->at;
        bool text = value_is_text(option->rule.kind);
        if (option->field == NULL || option->takes != OPTION_VALUE ||
            option->rule.kind == VALUE_REAL ||
            (text ? str_absent(*(const struct str *)at) : *(const int64_t *)at < 0)) {
            continue;
        }
        buf_c(path, path->len == 0 || memchr(path->ptr, '?', path->len) == NULL ? "?" : "&");
        buf_printf(path, "%s=", option->field);
        if (text) {
            SCOPED(buf_fini) struct buf said = BUF_INIT(MIB);
            value_send(&option->rule, *(const struct str *)at, &said);
            uri_encode(path, buf_view(&said));
        } else {
            buf_i64(path, *(const int64_t *)at);
        }
    }
}
