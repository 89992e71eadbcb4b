/* queue/journal.c: what an operator is told of the engine's work. See journal.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/journal.h"

#include "base/log.h"
#include "wire/id.h"

void journal_failed(struct journal *journal, const struct task *task, int64_t mono_ms)
{
    char id[TASK_ID_TEXT];
    if (mono_ms / SECOND_MS != journal->second) {
        if (journal->left_out > 0) {
            log_warn("%u more tasks failed for good", journal->left_out);
        }
        journal->second = mono_ms / SECOND_MS;
        journal->told = journal->left_out = 0;
    }
    if (journal->told == JOURNAL_FAILED_MAX) {
        journal->left_out++;
        return;
    }
    journal->told++;
    const struct log_fact facts[] = {
        {"taskId", id_text(task->id, id), 0},
        {"taskType", task->type, 0},
        {"queue", task->queue, 0},
        {"attempt", STR_NONE, task->attempt},
        {"outcome", str_of(task_outcome_name(task->outcome)), 0},
        {.name = NULL},
    };
    log_facts(LOG_WARN, facts, "a task failed for good");
}

void journal_commit(struct journal *journal, int64_t took_ms, size_t tasks)
{
    if (took_ms >= JOURNAL_SLOW_MS) {
        journal->slow_commits++;
        const struct log_fact facts[] = {
            {"ms", STR_NONE, took_ms}, {"tasks", STR_NONE, (int64_t)tasks}, {.name = NULL}};
        log_facts(LOG_WARN, facts, "a slow commit");
    }
}

void journal_recovered(size_t live, size_t running)
{
    if (live > 0) {
        const struct log_fact facts[] = {{"live", STR_NONE, (int64_t)live},
                                         {"running", STR_NONE, (int64_t)running},
                                         {.name = NULL}};
        log_facts(LOG_INFO, facts, "recovered from the store");
    }
}
