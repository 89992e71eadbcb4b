/* cli/option.c: one option parser for every command. See option.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/option.h"

static const struct option *find_option(const struct option *options, struct str name)
{
    for (const struct option *option = options; option->name != NULL; option++) {
        if (str_is(name, option->name)) {
            return option;
        }
    }
    return NULL;
}

static const struct option *find_letter(const struct option *options, char letter)
{
    for (const struct option *option = options; option->name != NULL; option++) {
        if (option->letter == letter) {
            return option;
        }
    }
    return NULL;
}

static bool refuse_unknown(const struct option *options, struct str name, struct err *err)
{
    struct guess guess = guess_begin(name);
    for (const struct option *option = options; option->name != NULL; option++) {
        guess_offer(&guess, option->name);
    }
    if (guess.best != NULL) {
        return err_set(err, ERR_INVALID, "unknown option --" STR_FMT "; did you mean --%s?",
                       STR_ARG(name), guess.best);
    }
    return err_set(err, ERR_INVALID, "unknown option --" STR_FMT, STR_ARG(name));
}

static bool add_one(struct option_many *many, struct str value, struct err *err)
{
    if (many->count == OPTION_MANY_MAX) {
        return err_set(err, ERR_INVALID, "may be given at most %d times", OPTION_MANY_MAX);
    }
    return value_read(&(struct value_rule){.kind = VALUE_TEXT}, value, &many->at[many->count++],
                      err);
}

static bool store_value(const struct option *option, struct str value, void *target,
                        struct err *err)
{
    void *at = (char *)target + option->at;
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
        ok = add_one(at, value, err);
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

/* -q mail, -qmail: what stands behind the letter is its value, or else the next word. */
static bool parse_letter(const struct option *option, int argc, char **argv, int *i, void *target,
                         struct err *err)
{
    struct str after = str_from(str_of(argv[*i]), 2), value;
    return find_value(option, after.len > 0 ? after : STR_NONE, argc, argv, i, &value, err) &&
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
        const struct option *short_one =
            word.len > 1 && word.ptr[0] == '-' ? find_letter(options, word.ptr[1]) : NULL;
        if (only_words) {
            ok = add_word(words, word, err);
        } else if (str_is(word, "--")) {
            only_words = true;
        } else if (str_is(word, "--help") || str_is(word, "-h")) {
            *help = true;
        } else if (str_starts(word, STR("--"))) {
            ok = parse_option(options, argc, argv, &i, target, err);
        } else if (short_one != NULL) {
            ok = parse_letter(short_one, argc, argv, &i, target, err);
        } else {
            ok = parse_word(words, word, err);
        }
    }
    return ok;
}
