/* tests/wire/test_redact.c: claims about what is hidden, and what is not.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "wire/redact.h"

struct check {
    const char *before, *after; /* NULL: the same */
};

static void check_all(const struct check *checks, size_t count,
                      void (*redact)(struct buf *, const struct redact_keys *, struct str))
{
    struct redact_keys keys;
    struct err err = ERR_INIT;
    CHECK_OK(redact_parse(STR(REDACT_DEFAULT), &keys, &err));
    for (size_t i = 0; i < count; i++) {
        SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
        const struct check *check = &checks[i];
        redact(&out, &keys, str_of(check->before));
        CHECK_STR(buf_view(&out), check->after == NULL ? check->before : check->after);
    }
}

TEST(keys_are_a_list_with_limits)
{
    struct redact_keys keys;
    struct err err = ERR_INIT;
    CHECK_OK(redact_parse(STR(" a ,, b,"), &keys, &err));
    CHECK_EQ(keys.count, 2);
    CHECK_STR(keys.at[1], "b");
    CHECK_OK(redact_parse(STR(""), &keys, &err));
    CHECK_EQ(keys.count, 0);
    SCOPED(buf_fini) struct buf many = BUF_INIT(KIB);
    for (int i = 0; i <= REDACT_KEYS_MAX; i++) {
        buf_c(&many, "k,");
    }
    CHECK(!redact_parse(buf_view(&many), &keys, &err));
}

TEST(in_a_text_the_value_of_a_key_is_hidden)
{
    static const struct check checks[] = {
        {"password=hunter2", "password=•••"},
        {"login password=hunter2 ok", "login password=••• ok"},
        {"PassWord = hunter2, then", "PassWord = •••, then"},
        {"?a=1&token=abc&b=2", "?a=1&token=•••&b=2"},
        {"--secret=x)", "--secret=•••)"},
        {"password=\"two words\" ok", "password=\"•••\" ok"},
        {"password='a\"b' ok", "password='•••' ok"},
        {"{\"password\":\"a b\",\"user\":\"x\"}", "{\"password\":\"•••\",\"user\":\"x\"}"},
        {"{\"Token\" : 12345}", "{\"Token\" : •••}"},
        {"{\"token\": {\"a\": [1]}, \"b\": 2}", "{\"token\": •••, \"b\": 2}"},
        {"{'secret': 'x'}", "{'secret': '•••'}"},
        {"say {\\\"password\\\":\\\"x y\\\",1}", "say {\\\"password\\\":\\\"•••\\\",1}"},
        {"Authorization: Bearer abc.def ok", "Authorization: ••• ok"},
        {"authorization=Basic dXNlcg==", "authorization=•••"},
        {"\"authorization\": \"Bearer abc\"", "\"authorization\": \"•••\""},
        {"token=a token=b", "token=••• token=•••"},
        {"password=\"never closed", "password=\"•••"},
        {"token=ü&x", "token=•••&x"},
    };
    check_all(checks, ARRAY_LEN(checks), redact_text);
}

TEST(in_a_text_everything_else_stays)
{
    static const struct check checks[] = {
        {"", NULL},
        {"password", NULL},
        {"password=", NULL},
        {"the password is wrong", NULL},
        {"passwords=3 mytoken=4 token_count=5 secretary: yes", NULL},
        {"\"token\", \"secret\"", NULL},
        {"a=b; c:d", NULL},
    };
    check_all(checks, ARRAY_LEN(checks), redact_text);
}

TEST(in_json_keys_count_in_any_case_and_depth_of_what_came_from_outside)
{
    static const struct check checks[] = {
        {"{\"payload\":{\"password\":\"x\",\"a\":[{\"TOKEN\":[1,{}]}]},\"token\":\"y\"}",
         "{\"payload\":{\"password\":\"•••\",\"a\":[{\"TOKEN\":\"•••\"}]},\"token\":\"y\"}"},
        {"[{\"id\":\"1\",\"result\": { \"Secret\" : null , \"b\":1e3}}]",
         "[{\"id\":\"1\",\"result\": { \"Secret\" : \"•••\" , \"b\":1e3}}]"},
        {"{\"metadata\":{\"pass\\u0077ord\":1}}", "{\"metadata\":{\"pass\\u0077ord\":\"•••\"}}"},
        {"{\"attempts\":[{\"log\":[\"password=x\",\"fine\"]}]}",
         "{\"attempts\":[{\"log\":[\"password=•••\",\"fine\"]}]}"},
        {"{\"error\":{\"code\":\"c\",\"message\":\"bad token=abc\",\"detail\":{\"token\":1}}}",
         "{\"error\":{\"code\":\"c\",\"message\":\"bad "
         "token=•••\",\"detail\":{\"token\":\"•••\"}}}"},
        {"{\"payload\":\"{\\\"password\\\":\\\"x\\\"}\"}",
         "{\"payload\":\"{\\\"password\\\":\\\"•••\\\"}\"}"},
        {"{\"payload\":[1,\"token=x\",{\"a\":\"secret=y\"}],\"queue\":\"token=z\"}",
         "{\"payload\":[1,\"token=•••\",{\"a\":\"secret=•••\"}],\"queue\":\"token=z\"}"},
        {"{\"payloadBase64\":\"cGFzc3dvcmQ9eA==\"}",
         "{\"payloadBase64\":\"cGFzc3dvcmQ94oCi4oCi4oCi\"}"},
        {"{\"payloadBase64\":\"AAEC/w==\",\"payload\":1}", NULL},
        {"{\"payload\":{\"a\":\"\\u00e9\\/\", \"b\":-0.0} , \"tags\":[\"token=x\"]}", NULL},
        {"[]", NULL},
        {"\"password=x\"", NULL},
    };
    check_all(checks, ARRAY_LEN(checks), redact_json);
}
