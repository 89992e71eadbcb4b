/* base/nearest.c: the name that somebody meant who wrote another one. See nearest.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/nearest.h"

#include "base/def.h"

#define WORD_MAX   40 /* longer words get no guess */
#define MISTAKES   2  /* of typing, forgiven */
#define PART_LEAST 3  /* letters of a word that is taken for a part of a name */

/* Small letters without what people write between words. */
struct plain {
    char text[WORD_MAX];
    size_t len;
};

static struct plain plain_of(struct str word)
{
    struct plain plain = {.len = 0};
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if (c != '-' && c != '_' && c != ' ') {
            plain.text[plain.len++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        }
    }
    return plain;
}

static size_t distance(const struct plain *a, const struct plain *b)
{
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= b->len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a->len; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b->len; j++) {
            size_t replaced = corner + (a->text[i - 1] != b->text[j - 1]);
            corner = row[j];
            row[j] = MIN(replaced, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[b->len];
}

struct nearest nearest_begin(struct str word)
{
    return (struct nearest){.word = word, .best = STR_NONE, .distance = MISTAKES + 1};
}

void nearest_offer(struct nearest *nearest, struct str name)
{
    if (nearest->word.len > WORD_MAX || name.len > WORD_MAX) {
        return;
    }
    struct plain word = plain_of(nearest->word), other = plain_of(name);
    bool begins =
        word.len >= 2 && word.len < other.len && memcmp(other.text, word.text, word.len) == 0;
    bool inside = word.len >= PART_LEAST && word.len < other.len &&
                  memmem(other.text, other.len, word.text, word.len) != NULL;
    size_t far = distance(&word, &other);
    far = begins || inside ? MIN(far, 1u) : far;
    if (far < nearest->distance &&
        3 * far < 2 * MIN(word.len, other.len)) { /* short words are near to all */
        nearest->best = name;
        nearest->distance = far;
    }
}
