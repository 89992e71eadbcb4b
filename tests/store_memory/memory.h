/* tests/store_memory/memory.h: the store that is only memory, and its bad days, for tests and
 * simulations.
 *
 * A disk holds what was committed and outlives the stores opened on it, one after the other:
 * closing a store and opening the disk again is a restart. A fault makes the next commit go wrong
 * in one of the ways a real one can.
 *
 * Thread: as store.h says; faults are set by the engine's thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_STORE_MEMORY_MEMORY_H
#define ERRAND_TESTS_STORE_MEMORY_MEMORY_H

#include "store/store.h"

struct memory_disk;

struct memory_disk *memory_disk_new(void);
void memory_disk_free(struct memory_disk *disk); /* its store must be closed; NULL is welcome */

/* Refused while another store has it open. The disk stays the caller's. */
MUST_CHECK bool memory_disk_open(struct memory_disk *disk, struct store **out, struct err *err);

/* A store on a disk of its own, which ends with it. */
struct store *memory_store_new(void);

struct memory_disk *memory_store_disk(struct store *store);

enum memory_fault {
    MEMORY_FINE,
    MEMORY_FULL,         /* ERR_UNAVAILABLE: nothing happened, the next one works */
    MEMORY_CRASH_BEFORE, /* ERR_FATAL, nothing of it is kept; the store can only be closed */
    MEMORY_CRASH_AFTER,  /* ERR_FATAL, but all of it is kept: the answer was lost */
};
void memory_disk_fail_next(struct memory_disk *disk, enum memory_fault fault);

/* Who holds a document by what was committed; TASK_ID_NONE: nobody. */
struct task_id memory_disk_holder(const struct memory_disk *disk, struct str document);

#endif
