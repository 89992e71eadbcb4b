/* cli/man.c: the manual page errand.1, written from the tables. See help.h.
 *
 * docs/man/errand.1 is this output; a test compares the two.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/config.h"
#include "cli/help.h"

/* A line of roff: a leading dot or quote, a backslash and a hyphen would mean something else. */
static void put_text(struct str text, FILE *out)
{
    if (text.len > 0 && (text.ptr[0] == '.' || text.ptr[0] == '\'')) {
        fputs("\\&", out);
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\\') {
            fputs("\\e", out);
        } else if (c == '-') {
            fputs("\\-", out);
        } else {
            fputc(c, out);
        }
    }
}

static void put_c(const char *text, FILE *out)
{
    put_text(str_of(text), out);
}

static void put_lines(const char *lines, FILE *out)
{
    struct str rest = str_of(lines);
    while (!str_absent(rest)) {
        struct str line = str_cut(&rest, '\n');
        if (line.len == 0) {
            fputs(".PP", out);
        }
        put_text(line, out);
        fputc('\n', out);
    }
}

static void put_option(const struct option *option, FILE *out)
{
    fputs(".TP\n", out);
    if (option->letter != 0) {
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    }
    fputs("\\fB\\-\\-", out);
    put_c(option->name, out);
    fputs("\\fR", out);
    if (option->argument != NULL) {
        bool maybe = option->takes == OPTION_MAYBE;
        fputs(maybe ? "[=\\fI" : " \\fI", out);
        put_c(option->argument, out);
        fputs(maybe ? "\\fR]" : "\\fR", out);
    }
    fputc('\n', out);
    put_c(option->help, out);
    fputc('\n', out);
}

static void put_verb(const struct verb *verb, FILE *out)
{
    fputs(".SS \"errand ", out);
    put_c(verb->name, out);
    fprintf(out, "%s", verb->arguments[0] ? " " : "");
    put_c(verb->arguments, out);
    fputs("\"\n", out);
    put_lines(verb->about, out);
    for (const struct option *option = verb->options; option->name != NULL; option++) {
        put_option(option, out);
    }
    if (verb->examples != NULL) {
        fputs(".PP\n.nf\n.RS 4\n", out);
        put_lines(verb->examples, out);
        fputs(".RE\n.fi\n", out);
    }
}

static void put_setting(const struct setting *setting, FILE *out)
{
    char name[CONFIG_NAME_MAX];
    config_variable(setting, name);
    fprintf(out, ".TP\n%s%s%s\\fB", setting->section[0] ? "[" : "", setting->section,
            setting->section[0] ? "] " : "");
    put_c(setting->key, out);
    fputs("\\fR", out);
    if (setting->fallback != NULL) {
        fputs(" = ", out);
        put_c(setting->fallback, out);
    }
    fputc('\n', out);
    put_c(setting->help, out);
    fprintf(out, " (%s)\n", name);
}

void man_page(FILE *out)
{
    fputs(
        ".\\\" Written by: errand help --man\n"
        ".TH ERRAND 1 \"\" \"errand " ERRAND_VERSION "\" \"Errand manual\"\n"
        ".SH NAME\nerrand \\- a durable task queue and scheduler in one binary\n"
        ".SH SYNOPSIS\n.B errand\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n"
        ".SH DESCRIPTION\n"
        "\\fBerrand serve\\fR keeps tasks in one SQLite file and hands them to workers over HTTP.\n"
        "The other commands speak to such a server, or look after its data.\n"
        ".SH COMMANDS\n",
        out);
    for (const struct verb *const *verb = verbs; *verb != NULL; verb++) {
        put_verb(*verb, out);
    }
    fputs(".SH CONFIGURATION\n"
          "\\fIerrand.conf\\fR in the working directory, or the file given by \\-\\-config: lines\n"
          "\\(dqkey = value\\(dq under [section] headings; the keys without one stand at the top.\n"
          "Each setting has an environment variable. Later wins: defaults, the file, the\n"
          "environment, flags.\n",
          out);
    for (size_t i = 0; i < settings_count; i++) {
        put_setting(&settings[i], out);
    }
    fputs(".SH ENVIRONMENT\n.TP\n.B ERRAND_URL\nthe server client commands speak to\n"
          ".TP\n.B ERRAND_TOKEN\nthe bearer token they send\n"
          ".TP\n.B ERRAND_CACERT\nthe authorities they trust for https\n"
          ".TP\n.B NO_COLOR\nno colours on a terminal\n"
          ".SH \"EXIT STATUS\"\n0 ok, 1 failure, 2 wrong usage.\n",
          out);
}
