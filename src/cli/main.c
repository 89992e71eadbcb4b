/* cli/main.c: finds the verb, reads its options, runs it.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "cli/help.h"
#include "cli/verb.h"

static bool check_words(const struct verb *verb, const struct words *words, struct err *err)
{
    if (words->count < verb->words_min) {
        return err_set(err, ERR_INVALID, "arguments are missing: errand %s %s", verb->name,
                       verb->arguments);
    }
    if (words->count > verb->words_max) {
        struct str extra = words->at[verb->words_max];
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is one argument too many: errand %s %s",
                       STR_ARG(extra), verb->name, verb->arguments);
    }
    return true;
}

/* What could not be read as options may have asked for JSON all the same. */
static enum exit_status refuse(const struct verb *verb, int argc, char **argv,
                               const struct err *err)
{
    bool json = false;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        json = json || strcmp(argv[i], "--json") == 0;
    }
    enum exit_status status = verb_usage_as(json, err);
    if (!json) {
        fprintf(stderr, "see: errand %s --help\n", verb->name);
    }
    return status;
}

static enum exit_status run(const struct verb *verb, int argc, char **argv)
{
    SCOPED(mem_free_at) void *options = mem_zero(MAX(verb->size, 1u));
    struct words words;
    struct err err = ERR_INIT;
    bool help;
    if (verb->defaults != NULL) {
        memcpy(options, verb->defaults, verb->size);
    }
    if (!option_parse(verb->options, argc, argv, options, &words, &help, &err)) {
        return refuse(verb, argc, argv, &err);
    }
    if (help) {
        help_verb_text(verb, stdout);
        return EXIT_OK;
    }
    return check_words(verb, &words, &err) ? verb_run(verb, options, &words)
                                           : refuse(verb, argc, argv, &err);
}

/* "errand tokn", or "errand token creat": then both words are what was meant. */
static enum exit_status refuse_verb(int argc, char **argv)
{
    SCOPED(buf_fini) struct buf said = BUF_INIT(KIB);
    bool group = false;
    for (const struct verb *const *verb = verbs; *verb != NULL; verb++) {
        struct str name = str_of((*verb)->name);
        group = group || str_is(str_cut(&name, ' '), argv[0]);
    }
    buf_printf(&said, "%s%s%s", argv[0], group && argc > 1 ? " " : "",
               group && argc > 1 ? argv[1] : "");
    struct nearest nearest = nearest_begin(buf_view(&said));
    for (const struct verb *const *verb = verbs; *verb != NULL; verb++) {
        struct str name = str_of((*verb)->name);
        nearest_offer(&nearest, name);
        nearest_offer(&nearest, str_cut(&name, ' '));
    }
    fprintf(stderr, "errand: \"%s\" is not a command", buf_c_text(&said));
    if (!str_absent(nearest.best)) {
        fprintf(stderr, "; did you mean " STR_FMT "?", STR_ARG(nearest.best));
    }
    fputs("\n", stderr);
    fprintf(stderr, "see: errand %s\n", group ? argv[0] : "help");
    return EXIT_USAGE;
}

static enum exit_status dispatch(int argc, char **argv)
{
    int used = 0;
    struct str first = str_of(argc > 0 ? argv[0] : NULL);
    if (str_absent(first)) {
        help_overview(stderr);
        return EXIT_USAGE;
    }
    if (str_is(first, "--version")) {
        puts("errand " ERRAND_VERSION);
        return EXIT_OK;
    }
    if (str_is(first, "--help") || str_is(first, "-h")) {
        help_overview(stdout);
        return EXIT_OK;
    }
    const struct verb *verb = verb_find(argc, argv, &used);
    bool asked = argc > 1 && (str_is(str_of(argv[1]), "--help") || str_is(str_of(argv[1]), "-h"));
    if (verb == NULL && (argc == 1 || asked) && help_group(first, asked ? stdout : stderr)) {
        return asked ? EXIT_OK : EXIT_USAGE;
    }
    return verb == NULL ? refuse_verb(argc, argv) : run(verb, argc - used, argv + used);
}

int main(int argc, char **argv)
{
    enum exit_status status = dispatch(argc - 1, argv + 1);
    /* What could not be written was not said. */
    if (fflush(stdout) != 0 && status == EXIT_OK) {
        perror("errand: standard output");
        status = EXIT_FAILED;
    }
    return (int)status;
}
