/* deliver/save.c: one record in a batch. See save.h.
 *
 * SPDX-License-Identifier: MIT */
#include "deliver/save.h"

bool deliver_load(struct batch *batch, struct record_load *load)
{
    struct err err = ERR_INIT;
    struct tx *tx = guest_tx(batch);
    if (tx == NULL) {
        return false;
    }
    if (!tx_records_load(tx, load, 1, guest_arena(batch), &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    return true;
}

bool deliver_save(struct batch *batch, const struct record *record)
{
    struct err err = ERR_INIT;
    struct tx *tx = guest_tx(batch);
    struct record_save save = {.record = record};
    if (tx == NULL) {
        return false;
    }
    if (!tx_records_save(tx, &save, 1, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    guest_wrote(batch);
    if (!save.applied) {
        guest_lost(batch);
    }
    return save.applied;
}
