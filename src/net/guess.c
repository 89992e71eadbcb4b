/* net/guess.c: slows down whoever guesses at a secret. See guess.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/guess.h"

static struct guess_peer *find(struct guess *guess, uint64_t peer)
{
    for (size_t i = 0; i < GUESS_PEERS_MAX; i++) {
        if (guess->peers[i].wrong > 0 && guess->peers[i].peer == peer) {
            return &guess->peers[i];
        }
    }
    return NULL;
}

/* An empty place, or that of the peer whose last wrong guess is longest ago. */
static struct guess_peer *find_place(struct guess *guess)
{
    struct guess_peer *place = &guess->peers[0];
    for (size_t i = 1; i < GUESS_PEERS_MAX && place->wrong > 0; i++) {
        struct guess_peer *other = &guess->peers[i];
        place = other->wrong == 0 || other->last_ms < place->last_ms ? other : place;
    }
    return place;
}

int64_t guess_wait_ms(const struct guess *guess, uint64_t peer, int64_t now_ms)
{
    const struct guess_peer *known = find((struct guess *)guess, peer);
    return known == NULL ? 0 : MAX(known->until_ms - now_ms, (int64_t)0);
}

void guess_wrong(struct guess *guess, uint64_t peer, int64_t now_ms)
{
    struct guess_peer *known = find(guess, peer);
    if (known == NULL || now_ms - known->last_ms >= GUESS_FORGOTTEN_MS) {
        known = known == NULL ? find_place(guess) : known;
        *known = (struct guess_peer){.peer = peer};
    }
    known->wrong =
        MIN(known->wrong + 1, 2u * GUESS_FREE); /* longer than the longest wait by then */
    known->last_ms = now_ms;
    if (known->wrong > GUESS_FREE) {
        int64_t wait_ms = GUESS_WAIT_MIN_MS << (known->wrong - GUESS_FREE - 1);
        known->until_ms = now_ms + MIN(wait_ms, GUESS_WAIT_MAX_MS);
    }
}

void guess_right(struct guess *guess, uint64_t peer)
{
    struct guess_peer *known = find(guess, peer);
    if (known != NULL) {
        *known = (struct guess_peer){0};
    }
}
