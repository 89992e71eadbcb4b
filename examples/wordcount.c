/* examples/wordcount.c: a run function that counts lines, words and bytes of its payload.
 *
 *     cc -shared -fPIC -O2 -o wordcount.so examples/wordcount.c -I include
 *     errand serve --handlers ./wordcount.so
 *
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errand/handler.h>
#include <stdio.h>

#define CHUNK 65536 /* bytes between two looks at the abort signal */

struct counts {
    size_t lines, words, bytes;
    int in_word;
};

static void count(struct counts *counts, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        int blank = isspace((unsigned char)text[i]);
        counts->lines += text[i] == '\n';
        counts->words += !blank && !counts->in_word;
        counts->in_word = !blank;
    }
    counts->bytes += length;
}

static int wordcount(errand_task *task)
{
    size_t length;
    const char *text = errand_payload(task, &length);
    struct counts counts = {0, 0, 0, 0};
    char result[128];

    if (text == NULL) {
        return errand_fail(task, "no_payload", "there is nothing to count", 0);
    }
    while (counts.bytes < length) {
        size_t rest = length - counts.bytes;
        if (errand_aborted(task)) {
            return 1; /* nothing to clean up: the task is cancelled, timed out or given back */
        }
        count(&counts, text + counts.bytes, rest < CHUNK ? rest : CHUNK);
        errand_progress(task, 100.0 * (double)counts.bytes / (double)length, "counting");
    }
    int n = snprintf(result, sizeof result, "{\"lines\":%zu,\"words\":%zu,\"bytes\":%zu}",
                     counts.lines, counts.words, counts.bytes);
    return errand_result(task, result, (size_t)n);
}

int errand_register(errand_registry *registry)
{
    return errand_add(registry, "wordcount", wordcount);
}
