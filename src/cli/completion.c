/* cli/completion.c: what the shell offers behind `errand`, written from the tables.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/help.h"

static bool first_of_group(size_t at, struct str *group)
{
    struct str rest = str_of(verbs[at]->name);
    *group = str_cut(&rest, ' ');
    for (size_t i = 0; i < at; i++) {
        struct str other = str_of(verbs[i]->name);
        if (str_eq(str_cut(&other, ' '), *group)) {
            return false;
        }
    }
    return true;
}

static void put_groups(FILE *out)
{
    struct str group;
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (first_of_group(i, &group)) {
            fprintf(out, "%s" STR_FMT, i == 0 ? "" : " ", STR_ARG(group));
        }
    }
}

/* "queues": the words that may follow, "set pause …". */
static void put_seconds(struct str group, FILE *out)
{
    for (size_t i = 0; verbs[i] != NULL; i++) {
        struct str rest = str_of(verbs[i]->name);
        if (str_eq(str_cut(&rest, ' '), group) && !str_absent(rest)) {
            fprintf(out, " " STR_FMT, STR_ARG(rest));
        }
    }
}

static void put_options(const struct verb *verb, FILE *out)
{
    fprintf(out, "    \"%s\") words=\"--help", verb->name);
    for (const struct option *option = verb->options; option->name != NULL; option++) {
        fprintf(out, " --%s", option->name);
    }
    fputs("\" ;;\n", out);
}

void completion_bash(FILE *out)
{
    struct str group;
    fputs("# bash completion of errand; written by: errand completion bash\n"
          "_errand() {\n"
          "    local current=\"${COMP_WORDS[COMP_CWORD]}\" words=\"\" verb=\"${COMP_WORDS[1]}\"\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W \"",
          out);
    put_groups(out);
    fputs("\" -- \"$current\"))\n        return\n    fi\n"
          "    case \"$verb ${COMP_WORDS[2]}\" in\n",
          out);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (strchr(verbs[i]->name, ' ') != NULL) {
            fprintf(out, "    \"%s\") [ \"$COMP_CWORD\" -gt 2 ] && verb=\"%s\" ;;\n",
                    verbs[i]->name, verbs[i]->name);
        }
    }
    fputs("    esac\n    case \"$verb\" in\n", out);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        put_options(verbs[i], out);
    }
    fputs("    esac\n    if [ \"$COMP_CWORD\" -eq 2 ]; then\n        case \"$verb\" in\n", out);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (first_of_group(i, &group)) {
            fprintf(out, "        " STR_FMT ") words=\"$words", STR_ARG(group));
            put_seconds(group, out);
            fputs("\" ;;\n", out);
        }
    }
    fputs("        esac\n    fi\n"
          "    case \"$current\" in\n"
          "    @*) COMPREPLY=($(compgen -P @ -f -- \"${current#@}\")) ;;\n"
          "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
          "    esac\n}\n"
          "complete -o default -F _errand errand\n",
          out);
}

static enum exit_status run_completion(const void *options, const struct words *words)
{
    (void)options;
    if (!str_is(words->at[0], "bash")) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_INVALID, "completion is there for bash");
        return verb_usage(&err);
    }
    completion_bash(stdout);
    return EXIT_OK;
}

static const struct option completion_options[] = {OPTION_END};

const struct verb completion_verb = {
    .name = "completion",
    .arguments = "bash",
    .summary = "write completions for the shell",
    .about = "Writes a script that teaches bash the commands and options of errand.",
    .examples = "# for this shell\nsource <(errand completion bash)\n"
                "# for every shell\nerrand completion bash > /etc/bash_completion.d/errand",
    .options = completion_options,
    .words_min = 1,
    .words_max = 1,
    .run = run_completion,
};
