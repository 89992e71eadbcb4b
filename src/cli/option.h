/* cli/option.h: one option parser for every command, driven by the command's table.
 *
 * The same table is read by the parser, by --help, by the man page, by the shell's completion and
 * by the request that a client command sends, so none of them can forget an option.
 *
 * Texts that come out point into argv, so they are NUL-terminated and live as long as the process.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_OPTION_H
#define ERRAND_CLI_OPTION_H

#include "cli/value.h"
#include "wire/json.h"

enum option_takes {
    OPTION_FLAG,  /* bool: nothing follows */
    OPTION_VALUE, /* what the rule says: --name VALUE or --name=VALUE */
    OPTION_MAYBE, /* struct option_maybe: --name or --name=VALUE */
    OPTION_MANY,  /* struct option_many: may be given again */
};

struct option {
    const char *name;     /* without dashes; NULL ends the table */
    const char *argument; /* how help calls its value; NULL for a flag */
    const char *help;     /* a phrase, lower case, no full stop */
    enum option_takes takes;
    struct value_rule rule;
    size_t at;         /* where in the command's struct the value goes */
    char letter;       /* its short name: -j 4, -j4; 0: none */
    const char *field; /* what the server calls it; NULL: it is not sent as it is */
};

#define OPTION_MANY_MAX 64
struct option_many {
    struct str at[OPTION_MANY_MAX];
    size_t count;
};

struct option_maybe {
    bool given;
    struct str value; /* absent when only the name was given */
};

/* The right half of a row: {"doc", "ID", "…", OPTION_TEXT(struct push, document)}, */
#define OPTION_SET(type, member)  .takes = OPTION_FLAG, .at = offsetof(type, member)
#define OPTION_TEXT(type, member) .takes = OPTION_VALUE, .at = offsetof(type, member)
#define OPTION_LIST(type, member) .takes = OPTION_MANY, .at = offsetof(type, member)
#define OPTION_NUMBER(type, member, low, high)                                                     \
    OPTION_TEXT(type, member), .rule = {.kind = VALUE_NUMBER, .least = (low), .most = (high)}
#define OPTION_SIZE(type, member, low, high)                                                       \
    OPTION_TEXT(type, member), .rule = {.kind = VALUE_SIZE, .least = (low), .most = (high)}
#define OPTION_DURATION(type, member) OPTION_TEXT(type, member), .rule = {.kind = VALUE_DURATION}
#define OPTION_TIME(type, member)     OPTION_TEXT(type, member), .rule = {.kind = VALUE_TIME}
#define OPTION_PAST(type, member)     OPTION_TEXT(type, member), .rule = {.kind = VALUE_PAST}
#define OPTION_WALL(type, member)     OPTION_TEXT(type, member), .rule = {.kind = VALUE_WALL}
#define OPTION_CAPITALS(type, member) OPTION_TEXT(type, member), .rule = {.kind = VALUE_CAPITALS}
#define OPTION_REAL(type, member)     OPTION_TEXT(type, member), .rule = {.kind = VALUE_REAL}
#define OPTION_CHOICE(type, member, list)                                                          \
    OPTION_TEXT(type, member), .rule = {.kind = VALUE_CHOICE, .choices = (list)}
#define OPTION_PERHAPS(type, member) .takes = OPTION_MAYBE, .at = offsetof(type, member)
#define OPTION_END                                                                                 \
    {                                                                                              \
        .name = NULL                                                                               \
    }

/* What stands between the options. */
#define WORDS_MAX 64
struct words {
    struct str at[WORDS_MAX];
    size_t count;
};

/* Reads argv[0…argc-1]. Options and words may be mixed; after "--" all are words; "-" is a word.
 * `--help` and `-h` are known everywhere: *help says so and the rest is then not looked at. */
MUST_CHECK bool option_parse(const struct option *options, int argc, char **argv, void *target,
                             struct words *words, bool *help, struct err *err);

/* The words from `first` on as the sentence that they are, if it came unquoted. */
struct str words_join(const struct words *words, size_t first, struct arena *arena);

/* ---- What is sent of them: every option with a `field` that was given ----
 *
 * Texts and lists that are absent, flags that are not set and negative numbers were not given. */
void option_put_json(const struct option *options, const void *from, struct json_writer *w);
void option_put_query(const struct option *options, const void *from, struct buf *path);

#endif
