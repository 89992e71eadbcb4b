/* cli/completion.c: what the shell offers behind `errand`.
 *
 * The shells' scripts are a line each: they ask `errand completion words`, which reads the same
 * tables as the parser does and, where a word is a task, a queue or a type, asks the server. A
 * server that does not answer offers nothing; a completion never complains.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/help.h"
#include "task/task.h"

/* clang-format off */
static const char *const scripts[][2] = {
    {"bash",
     "# bash completion of errand; written by: errand completion bash\n"
     "_errand() {\n"
     "    local current=\"${COMP_WORDS[COMP_CWORD]}\" IFS=$'\\n'\n"
     "    case \"$current\" in\n"
     "    @*) COMPREPLY=($(compgen -P @ -f -- \"${current#@}\")) ;;\n"
     "    *) COMPREPLY=($(compgen -W \"$(errand completion words -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\" -- \"$current\")) ;;\n"
     "    esac\n"
     "}\n"
     "complete -o default -F _errand errand\n"},
    {"zsh",
     "#compdef errand\n"
     "# zsh completion of errand; written by: errand completion zsh\n"
     "_errand() {\n"
     "    local -a found\n"
     "    found=(\"${(@f)$(errand completion words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
     "    compadd -a found || _files\n"
     "}\n"
     "_errand \"$@\"\n"},
    {"fish",
     "# fish completion of errand; written by: errand completion fish\n"
     "complete -c errand -a '(errand completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'\n"},
};
/* clang-format on */

/* ---- What is offered: a line each, if it begins as the word does ---- */

static void offer(struct str word, struct str candidate)
{
    if (str_starts(candidate, word)) {
        printf(STR_FMT "\n", STR_ARG(candidate));
    }
}

/* The first or second words of commands; those of a group once. */
static void offer_verbs(struct str group, struct str word)
{
    struct str last = STR("");
    for (size_t i = 0; verbs[i] != NULL; i++) {
        struct str second = str_of(verbs[i]->name), first = str_cut(&second, ' ');
        if (str_absent(group) && !str_eq(first, last)) {
            offer(word, first);
        } else if (!str_absent(group) && str_eq(first, group) && !str_absent(second)) {
            offer(word, second);
        }
        last = first;
    }
}

static void offer_options(const struct verb *verb, struct str word)
{
    char name[64];
    for (const struct option *option = verb->options; option->name != NULL; option++) {
        snprintf(name, sizeof name, "--%s", option->name);
        offer(word, str_of(name));
    }
    offer(word, STR("--help"));
}

/* The values of a member in a list that the server has, each once in a row. */
static void offer_listed(const struct remote_options *from, const char *path, const char *list,
                         const char *member, struct str word)
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct json json;
    struct str answer, item, last = STR("");
    if (!remote_open(&remote, from, NULL) ||
        !remote_call(&remote, "GET", str_of(path), STR_NONE, &answer, NULL)) {
        return;
    }
    json_start(&json, list == NULL ? answer : json_find(answer, list, &remote.arena),
               &remote.arena);
    if (!json_enter_array(&json, NULL)) {
        return;
    }
    while (remote_item(&json, &item)) {
        struct str value = json_find_str(item, member, &remote.arena);
        if (!str_absent(value) && !str_eq(value, last)) {
            offer(word, value);
            last = value;
        }
    }
}

/* What stands for an argument: by its name in the help, and the command's group. */
static void offer_argument(const struct remote_options *from, struct str group, struct str argument,
                           struct str word)
{
    static const struct {
        const char *group, *argument, *path, *list, *member;
    } known[] = {
        {"schedule", "ID", "/api/schedules?limit=100", NULL, "id"},
        {"team", "ID", "/api/teams?limit=100", NULL, "teamId"},
        {"documents", "ID", "/api/documents?locked=true", NULL, "documentId"},
        {NULL, "ID", "/api/tasks?limit=100", NULL, "id"},
        {NULL, "QUEUE", "/api/queues", NULL, "name"},
        {NULL, "Q", "/api/queues", NULL, "name"},
        {NULL, "WORKER", "/api/workers", "workers", "id"},
        {NULL, "TYPE", "/api/tasks?limit=100", NULL, "taskType"},
        {NULL, "T", "/api/tasks?limit=100", NULL, "taskType"},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (str_is(argument, known[i].argument) &&
            (known[i].group == NULL || str_is(group, known[i].group))) {
            offer_listed(from, known[i].path, known[i].list, known[i].member, word);
            return;
        }
    }
}

/* The value of an option: one of a few words, or what the server knows. */
static void offer_value(const struct remote_options *from, const struct option *option,
                        struct str word)
{
    struct str choices = str_of(option->rule.choices);
    struct str field = str_of(option->field == NULL ? "" : option->field);
    while (!str_absent(choices)) {
        offer(word, str_cut(&choices, '|'));
    }
    for (enum task_state state = 0; str_is(field, "state") && state < TASK_STATES; state++) {
        offer(word, str_of(task_state_name(state)));
    }
    for (int i = TASK_CRITICAL; str_is(field, "priority") && i >= TASK_LOW; i--) {
        offer(word, str_of(task_priority_name((enum task_priority)i)));
    }
    if (str_is(field, "queue") || str_is(field, "taskType")) {
        offer_argument(from, STR(""), str_of(option->argument), word);
    } else if (str_is(field, "documentId")) {
        offer_argument(from, STR("documents"), STR("ID"), word);
    }
}

/* ---- Where the word stands ---- */

static const struct option *takes_value(const struct verb *verb, struct str word)
{
    for (const struct option *option = verb->options; option->name != NULL; option++) {
        if (str_starts(word, STR("--")) && str_is(str_from(word, 2), option->name) &&
            (option->takes == OPTION_VALUE || option->takes == OPTION_MANY)) {
            return option;
        }
    }
    return NULL;
}

/* The name of the argument that a further word would be: "ID" of "[ID]..." */
static struct str argument_at(const struct verb *verb, size_t place)
{
    struct str rest = str_of(verb->arguments), name = STR_NONE;
    for (size_t i = 0; i <= place && !str_absent(rest); i++) {
        name = str_cut(&rest, ' ');
    }
    while (name.len > 0 && strchr("[.]", name.ptr[name.len - 1]) != NULL) {
        name.len--;
    }
    return str_starts(name, STR("[")) ? str_from(name, 1) : name;
}

static void complete(struct words *words)
{
    struct remote_options from = {.json = true};
    struct str word = words->count == 0 ? STR("") : words->at[words->count - 1];
    size_t before = words->count == 0 ? 0 : words->count - 1, given = 0;
    char *argv[2] = {NULL, NULL};
    int used = 0;
    for (size_t i = 0; i < before && i < 2; i++) {
        argv[i] = (char *)words->at[i].ptr; /* words are argv's own texts */
    }
    if (before == 0) {
        offer_verbs(STR_NONE, word);
        return;
    }
    if (before == 1) {
        offer_verbs(words->at[0], word);
    }
    const struct verb *verb = verb_find((int)MIN(before, 2u), argv, &used);
    if (verb == NULL) {
        return;
    }
    const struct option *pending = NULL;
    for (size_t i = (size_t)used; i < before; i++) {
        bool value = pending != NULL;
        pending = value ? NULL : takes_value(verb, words->at[i]);
        given += !value && !str_starts(words->at[i], STR("-"));
        if (value && i > 0 && str_is(words->at[i - 1], "--url")) {
            from.url = words->at[i];
        }
    }
    struct str rest = str_of(verb->name), group = str_cut(&rest, ' ');
    if (pending != NULL) {
        offer_value(&from, pending, word);
    } else if (str_starts(word, STR("-"))) {
        offer_options(verb, word);
    } else {
        bool many = str_ends(str_of(verb->arguments), STR("..."));
        offer_argument(&from, group, argument_at(verb, many ? 0 : given), word);
    }
}

static enum exit_status run_completion(const void *options, const struct words *words)
{
    struct err err = ERR_INIT;
    (void)options;
    if (str_is(words->at[0], "words")) {
        struct words typed = {.count = words->count - 1};
        memcpy(typed.at, words->at + 1, typed.count * sizeof typed.at[0]);
        complete(&typed);
        return EXIT_OK;
    }
    for (size_t i = 0; words->count == 1 && i < ARRAY_LEN(scripts); i++) {
        if (str_is(words->at[0], scripts[i][0])) {
            fputs(scripts[i][1], stdout);
            return EXIT_OK;
        }
    }
    err_set(&err, ERR_INVALID, "completion is there for bash, zsh and fish");
    return verb_usage(&err);
}

static const struct option completion_options[] = {OPTION_END};

const struct verb completion_verb = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .summary = "write completions for the shell",
    .about =
        "Writes a script that teaches the shell the commands and options of errand; ids,\n"
        "states, queues, types and workers are completed from the server. Packages install it.",
    .examples = "# for this shell\nsource <(errand completion bash)\n"
                "# for every shell\nerrand completion bash > /etc/bash_completion.d/errand",
    .options = completion_options,
    .words_min = 1,
    .words_max = WORDS_MAX,
    .run = run_completion,
};
