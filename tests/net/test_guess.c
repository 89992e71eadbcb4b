/* tests/net/test_guess.c: whoever guesses at a secret is slowed down, and nobody else.
 *
 * SPDX-License-Identifier: MIT */
#include "net/guess.h"
#include "test.h"

#define ANN UINT64_C(1)
#define BOB UINT64_C(2)

static int64_t guess_often(struct guess *guess, uint64_t peer, size_t count, int64_t now_ms)
{
    for (size_t i = 0; i < count; i++) {
        now_ms += guess_wait_ms(guess, peer, now_ms);
        guess_wrong(guess, peer, now_ms);
    }
    return now_ms;
}

TEST(a_few_wrong_guesses_are_free)
{
    struct guess guess = {0};
    guess_often(&guess, ANN, GUESS_FREE, 1000);
    CHECK_EQ(guess_wait_ms(&guess, ANN, 1000), 0);
    guess_wrong(&guess, ANN, 1000);
    CHECK_EQ(guess_wait_ms(&guess, ANN, 1000), GUESS_WAIT_MIN_MS);
    CHECK_EQ(guess_wait_ms(&guess, BOB, 1000), 0);
}

TEST(each_further_one_waits_twice_as_long_up_to_a_limit)
{
    struct guess guess = {0};
    int64_t now_ms = guess_often(&guess, ANN, GUESS_FREE + 2, 1000);
    CHECK_EQ(guess_wait_ms(&guess, ANN, now_ms), 2 * GUESS_WAIT_MIN_MS);
    CHECK_EQ(guess_wait_ms(&guess, ANN, now_ms + 2 * GUESS_WAIT_MIN_MS), 0);
    now_ms = guess_often(&guess, ANN, 1000, now_ms);
    CHECK_EQ(guess_wait_ms(&guess, ANN, now_ms), GUESS_WAIT_MAX_MS);
}

TEST(the_right_one_or_a_while_of_silence_begins_anew)
{
    struct guess guess = {0};
    int64_t now_ms = guess_often(&guess, ANN, GUESS_FREE + 3, 1000);
    guess_right(&guess, ANN);
    CHECK_EQ(guess_wait_ms(&guess, ANN, now_ms), 0);
    now_ms = guess_often(&guess, ANN, GUESS_FREE + 3, now_ms);
    now_ms += GUESS_FORGOTTEN_MS;
    guess_wrong(&guess, ANN, now_ms);
    CHECK_EQ(guess_wait_ms(&guess, ANN, now_ms), 0);
}

TEST(many_peers_take_no_more_room_and_the_newest_are_remembered)
{
    struct guess guess = {0};
    guess_often(&guess, ANN, GUESS_FREE + 1, 1000);
    for (uint64_t peer = 100; peer < 100 + GUESS_PEERS_MAX; peer++) {
        guess_often(&guess, peer, GUESS_FREE + 1, 2000 + (int64_t)peer);
    }
    CHECK_EQ(guess_wait_ms(&guess, ANN, 2000), 0); /* forgotten */
    for (uint64_t peer = 100; peer < 100 + GUESS_PEERS_MAX; peer++) {
        CHECK(guess_wait_ms(&guess, peer, 2400) > 0);
    }
}
