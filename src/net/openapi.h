/* net/openapi.h: the description of the API, from the same table that dispatches.
 *
 * Paths come from route.c, schemas from openapi_schemas.json beside it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_OPENAPI_H
#define ERRAND_NET_OPENAPI_H

#include "base/buf.h"

void openapi_write(struct buf *buf, struct str version); /* OpenAPI 3.1 */

#endif
