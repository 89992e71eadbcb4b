/* base/nearest.h: the name that somebody meant who wrote another one.
 *
 *     struct nearest nearest = nearest_begin(word);
 *     nearest_offer(&nearest, name);                  for each name that there is
 *     if (!str_absent(nearest.best)) …                "did you mean …?"
 *
 * Near is what differs by a typing mistake or two, by case, by hyphens and underscores
 * (`max_retries`), and a name of which the word is a part (`type` of `taskType`).
 *
 * Pure. SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_NEAREST_H
#define ERRAND_BASE_NEAREST_H

#include "base/str.h"

struct nearest {
    struct str word;
    struct str best; /* absent: none is near */
    size_t distance;
};

struct nearest nearest_begin(struct str word);
void nearest_offer(struct nearest *nearest, struct str name); /* borrowed, as `best` may be it */

#endif
