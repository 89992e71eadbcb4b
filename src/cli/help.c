/* cli/help.c: `errand help`, and --help of every verb. See help.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include "cli/config.h"

struct help {
    bool man;
};

void help_overview(FILE *out)
{
    fputs("errand: a durable task queue and scheduler\n\nUsage: errand COMMAND [OPTIONS]\n\n", out);
    for (const struct verb *const *verb = verbs; *verb != NULL; verb++) {
        fprintf(out, "  %-16s  %s\n", (*verb)->name, (*verb)->summary);
    }
    fputs("\nerrand COMMAND --help explains one; errand help config lists the settings.\n"
          "Client commands find the server by --url or ERRAND_URL (default\n"
          "http://127.0.0.1:8001) and send --token or ERRAND_TOKEN.\n"
          "Exit status: 0 ok, 1 failure, 2 wrong usage.\n",
          out);
}

static void option_left(const struct option *option, char *out, size_t size)
{
    bool maybe = option->takes == OPTION_MAYBE;
    char letter[8] = "";
    if (option->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    if (option->argument == NULL) {
        snprintf(out, size, "%s--%s", letter, option->name);
    } else {
        snprintf(out, size, "%s--%s%s%s%s", letter, option->name, maybe ? "[=" : " ",
                 option->argument, maybe ? "]" : "");
    }
}

static void list_options(const struct option *options, FILE *out)
{
    char left[64];
    for (const struct option *option = options; option->name != NULL; option++) {
        option_left(option, left, sizeof left);
        fprintf(out, "  %-22s  %s\n", left, option->help);
    }
    fprintf(out, "  %-22s  %s\n", "--help", "this text");
}

static void list_examples(const char *examples, FILE *out)
{
    struct str rest = str_of(examples);
    fputs("\nExamples:\n", out);
    while (!str_absent(rest)) {
        struct str line = str_cut(&rest, '\n');
        if (line.len > 0) {
            fprintf(out, "  " STR_FMT "\n", STR_ARG(line));
        }
    }
}

bool help_group(struct str word, FILE *out)
{
    bool any = false;
    for (const struct verb *const *verb = verbs; *verb != NULL; verb++) {
        struct str second = str_of((*verb)->name);
        if (str_eq(str_cut(&second, ' '), word) && !str_absent(second)) {
            fputs(any ? "" : "\nCommands:\n", out);
            fprintf(out, "  errand %-20s  %s\n", (*verb)->name, (*verb)->summary);
            any = true;
        }
    }
    return any;
}

void help_verb_text(const struct verb *verb, FILE *out)
{
    /* Behind "--" there are no options any more. */
    bool first = str_starts(str_of(verb->arguments), STR("--"));
    fprintf(out, "Usage: errand %s%s%s%s%s\n\n%s\n\nOptions:\n", verb->name,
            first ? " [OPTIONS]" : "", verb->arguments[0] ? " " : "", verb->arguments,
            first ? "" : " [OPTIONS]", verb->about);
    list_options(verb->options, out);
    if (verb->examples != NULL) {
        list_examples(verb->examples, out);
    }
    help_group(str_of(verb->name), out);
}

void help_settings(FILE *out)
{
    char name[CONFIG_NAME_MAX];
    const char *section = "";
    fputs(
        "# errand.conf: every setting with its default and its environment variable.\n"
        "# Later wins: defaults, the file, the environment, flags.\n"
        "# A comment is a line of its own, or stands behind a value and white space. Quotes keep\n"
        "# what looks like one: password = \"a # b\"\n",
        out);
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *setting = &settings[i];
        if (strcmp(section, setting->section) != 0) {
            section = setting->section;
            fprintf(out, "\n[%s]\n", section);
        }
        config_variable(setting, name);
        fprintf(out, "# %s (%s)\n%s%s = %s\n", setting->help, name,
                setting->fallback == NULL ? "; " : "", setting->key,
                setting->fallback == NULL ? "" : setting->fallback);
    }
}

/* ---- The verb ---- */

static enum exit_status help_about(const struct words *words)
{
    char *argv[2] = {NULL, NULL};
    int used, argc = (int)MIN(words->count, 2u);
    for (int i = 0; i < argc; i++) {
        argv[i] = (char *)words->at[i].ptr; /* words are argv's own texts */
    }
    const struct verb *verb = verb_find(argc, argv, &used);
    if (verb == NULL && help_group(words->at[0], stdout)) {
        return EXIT_OK;
    }
    if (verb == NULL) {
        fprintf(stderr, "errand: there is no help about \"%s\"; see: errand help\n", argv[0]);
        return EXIT_USAGE;
    }
    help_verb_text(verb, stdout);
    return EXIT_OK;
}

static enum exit_status run_help(const void *options, const struct words *words)
{
    const struct help *help = options;
    if (help->man) {
        man_page(stdout);
    } else if (words->count == 0) {
        help_overview(stdout);
    } else if (str_is(words->at[0], "config")) {
        help_settings(stdout);
    } else {
        return help_about(words);
    }
    return EXIT_OK;
}

static const struct option help_options[] = {
    {"man", NULL, "write the manual page, errand.1", OPTION_SET(struct help, man)},
    OPTION_END,
};

const struct verb help_verb = {
    .name = "help",
    .arguments = "[COMMAND | config]",
    .summary = "explain a command, or all settings",
    .about = "Explains one command, or lists all of them. \"errand help config\" lists every\n"
             "setting of errand.conf with its default.",
    .examples = "# what push can do\nerrand help push\n# a file to start from\nerrand help config "
                "> errand.conf",
    .options = help_options,
    .size = sizeof(struct help),
    .words_max = 2,
    .run = run_help,
};
