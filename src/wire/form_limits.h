/* wire/form_limits.h: what a value of a form must be, for those who read one.
 *
 * Each answers whether a value keeps the limits of its row; if not, `why` says what it must be:
 * "must be from 0 to 100".
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_FORM_LIMITS_H
#define ERRAND_WIRE_FORM_LIMITS_H

#include "base/nearest.h"
#include "wire/form.h"

#define FORM_WHY_MAX   240
#define FORM_TIME_RULE "must be a time such as 2027-03-01T09:00:00Z (RFC 3339)"
#define FORM_ID_RULE   "must be an id (a UUID)"

bool form_text_fits(const struct form_row *row, struct str text, char why[static FORM_WHY_MAX]);
bool form_number_fits(const struct form_row *row, int64_t value, char why[static FORM_WHY_MAX]);
bool form_amount_fits(const struct form_row *row, double value, char why[static FORM_WHY_MAX]);
bool form_texts_fit(const struct form_row *row, const struct str *at, size_t count,
                    char why[static FORM_WHY_MAX]);

/* Whether null unsets it, for a request of that use. Of a member of an inner object FORM_NULL says
 * it of the object. */
bool form_can_unset(const struct form_row *row, unsigned use);

/* The word of that number; a gap has none. */
bool form_word_of_number(const struct form_row *row, struct str text, int *out);
/* "must be one of A, B": the opening and all words. Returns false. */
bool form_say_words(const struct form_row *row, const char *opening, char why[static FORM_WHY_MAX]);

void form_store_number(const struct form_row *row, int64_t value, void *at); /* I32, I64, SIZE */

/* Names that stand in the object `outer` ("": the whole): rows that are read under `use`, and inner
 * objects that hold such rows, by their own name. */
void form_offer(const struct form *form, unsigned use, struct str outer, struct nearest *nearest);
/* Returns false; the refusal says what may have been meant. */
bool form_refuse_unknown(struct json *json, const struct nearest *nearest, struct err *err);

#endif
