/* net/guess.h: slows down whoever guesses at a secret.
 *
 * Tokens are 32 random bytes and need no such thing; a secret that a person chose does. A peer may
 * be wrong a few times in a row; from then on each wrong guess makes it wait, twice as long each
 * time, and while it waits its secret is not even looked at, so that a right one tells it nothing.
 * Other peers are not held up by it. A right secret, or a while without a wrong one, clears it.
 *
 * Thread: net loop. Time is given in.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_GUESS_H
#define ERRAND_NET_GUESS_H

#include "base/def.h"

#define GUESS_FREE         20               /* wrong ones in a row before a peer has to wait */
#define GUESS_WAIT_MIN_MS  (2 * SECOND_MS)  /* after the first one more */
#define GUESS_WAIT_MAX_MS  MINUTE_MS        /* nobody waits longer */
#define GUESS_FORGOTTEN_MS (10 * MINUTE_MS) /* after its last wrong one a peer begins anew */
#define GUESS_PEERS_MAX    256 /* remembered at once; the quietest is forgotten first */

struct guess {
    struct guess_peer {
        uint64_t peer;  /* a hash of its address */
        unsigned wrong; /* 0: nobody is remembered here */
        int64_t last_ms, until_ms;
    } peers[GUESS_PEERS_MAX];
};

/* How long this peer still has to wait; 0: it may try. */
int64_t guess_wait_ms(const struct guess *guess, uint64_t peer, int64_t now_ms);
void guess_wrong(struct guess *guess, uint64_t peer, int64_t now_ms);
void guess_right(struct guess *guess, uint64_t peer);

#endif
