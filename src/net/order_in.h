/* net/order_in.h: one order while it is read: the fields themselves, and what was given beside
 * them.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_ORDER_IN_H
#define ERRAND_NET_ORDER_IN_H

#include "net/fields.h"
#include "queue/queue.h"

#define DEPENDS_MAX       1000  /* ids and names in one dependsOn */
#define DEPENDS_TOTAL_MAX 20000 /* in one request */
#define REF_MAX           256   /* bytes of a name inside a request */

struct order_in {
    struct order order;
    size_t payload_max;
    bool has_scheduled, has_payload, has_document;
    struct str children; /* raw JSON, read after the parent's other fields; absent: none */
    struct str ref;      /* its name for other orders of the request */
    struct texts depends;
};

extern const struct fields order_fields; /* into a struct order_in */

void order_begin(struct order_in *in, size_t payload_max);
MUST_CHECK bool order_check(const struct order_in *in, struct err *err);

#endif
