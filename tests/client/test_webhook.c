/* tests/client/test_webhook.c: signatures by Standard Webhooks.
 *
 * SPDX-License-Identifier: MIT */
#include "client/webhook.h"
#include "test.h"

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define ID     "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define BODY   "{\"test\": 2432232314}"
#define SIGNED "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

static struct str sign(const char *secrets, struct arena *arena)
{
    struct err err = ERR_INIT;
    struct webhook_keys keys;
    SCOPED(buf_fini) struct buf out = BUF_INIT(KIB);
    CHECK_OK(webhook_read_keys(str_of(secrets), arena, &keys, &err));
    webhook_sign(&keys, STR(ID), 1614265330, STR(BODY), &out);
    return arena_str(arena, buf_view(&out));
}

TEST(the_signature_is_that_of_the_standard)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(sign(SECRET, &arena), SIGNED);
}

TEST(while_a_secret_is_replaced_each_of_them_signs)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct str both = sign("  whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA " SECRET, &arena);
    struct str first = str_cut(&both, ' ');
    CHECK(str_starts(first, STR("v1,")));
    CHECK(!str_is(first, SIGNED));
    CHECK_STR(both, SIGNED);
}

TEST(without_a_secret_nothing_is_signed)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(sign(NULL, &arena), "");
}

TEST(what_is_no_secret_is_refused_without_being_shown)
{
    static const char *const bad[] = {
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_",
        "whsec_SECRET!!",
        "whsk_MfKQ9r8G",
        SECRET " " SECRET " " SECRET " " SECRET " " SECRET,
    };
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct webhook_keys keys;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        CHECK(!webhook_read_keys(str_of(bad[i]), &arena, &keys, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
        CHECK(strstr(err.text, "MfKQ") == NULL && strstr(err.text, "SECRET") == NULL);
    }
}
