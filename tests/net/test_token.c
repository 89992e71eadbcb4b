/* tests/net/test_token.c: claims about tokens and the file they live in.
 *
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/token.h"
#include "net/token_file.h"
#include "test.h"

#define NOW_MS INT64_C(1800000000000)

struct bench {
    char folder[32];
    char path[48];
    struct rand rand;
    struct clock clock;
};

static void bench_open(struct bench *bench)
{
    strcpy(bench->folder, "/tmp/errand-token-XXXXXX");
    CHECK(mkdtemp(bench->folder) != NULL);
    snprintf(bench->path, sizeof bench->path, "%s/tokens", bench->folder);
    rand_init(&bench->rand);
    clock_init_by_hand(&bench->clock, NOW_MS);
}

static void bench_close(struct bench *bench)
{
    char lock[64];
    snprintf(lock, sizeof lock, "%s.lock", bench->path);
    unlink(bench->path);
    unlink(lock);
    CHECK_EQ(rmdir(bench->folder), 0); /* nothing else was left behind */
}

static void create(struct bench *bench, enum role role, const char *user, char *text)
{
    struct token made;
    struct err err = ERR_INIT;
    CHECK_OK(token_create(bench->folder, &(struct token_order){.role = role, .user = str_of(user)},
                          NOW_MS, &bench->rand, &made, text, &err));
}

static void write_file(struct bench *bench, const char *text)
{
    int fd = open(bench->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

#define BENCH(name)                                                                                \
    SCOPED(bench_close) struct bench name;                                                         \
    bench_open(&name)

TEST(a_token_is_a_prefix_and_43_letters_of_base64url)
{
    BENCH(bench);
    char one[TOKEN_TEXT], two[TOKEN_TEXT];
    create(&bench, ROLE_READ, NULL, one);
    create(&bench, ROLE_READ, NULL, two);
    CHECK(strncmp(one, "errand_", 7) == 0);
    CHECK_EQ(strlen(one), 50);
    CHECK_EQ(strspn(one, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), 50);
    CHECK(strcmp(one, two) != 0);
}

TEST(once_there_was_a_token_one_is_needed_until_the_book_is_closed)
{
    BENCH(bench);
    char text[TOKEN_TEXT];
    struct token_book *book;
    struct err err = ERR_INIT;
    CHECK_OK(token_book_open(bench.folder, &bench.clock, &book, &err));
    CHECK(!token_book_on(book, 1));
    create(&bench, ROLE_ADMIN, NULL, text);
    CHECK(token_book_on(book, 2));
    write_file(&bench, ""); /* revoked, or emptied by somebody */
    CHECK_EQ(token_book_count(book, 3), 0);
    CHECK(token_book_on(book, 3));
    unlink(bench.path);
    CHECK(token_book_on(book, 4));
    token_book_close(book);
    CHECK_OK(token_book_open(bench.folder, &bench.clock, &book, &err));
    CHECK(!token_book_on(book, 5));
    token_book_close(book);
}

TEST(a_token_of_the_fleet_that_nobody_asked_for_still_counts)
{
    BENCH(bench);
    struct token_book *book;
    struct token token;
    char text[TOKEN_TEXT];
    struct err err = ERR_INIT;
    CHECK_OK(token_book_open(bench.folder, &bench.clock, &book, &err));
    CHECK_OK(token_make(&(struct token_order){.role = ROLE_ADMIN}, NOW_MS, &bench.rand, &token,
                        text, &err));
    token_book_share(book, &token, 1);
    token_book_share(book, NULL, 0); /* revoked before the loop looked */
    CHECK(token_book_on(book, 1));
    token_book_close(book);
}

TEST(a_token_is_found_in_the_book_with_its_role_and_user)
{
    BENCH(bench);
    char reader[TOKEN_TEXT], worker[TOKEN_TEXT];
    create(&bench, ROLE_READ, NULL, reader);
    create(&bench, ROLE_WORK, "ada", worker);
    struct token_book *book;
    struct token_who who;
    struct err err = ERR_INIT;
    CHECK_OK(token_book_open(bench.folder, &bench.clock, &book, &err));
    CHECK_EQ(token_book_count(book, 1), 2);
    CHECK(token_check(book, 1, str_of(worker), &who, &err));
    CHECK_EQ(who.role, ROLE_WORK);
    CHECK_STR(str_of(who.user), "ada");
    CHECK(token_check(book, 1, str_of(reader), &who, &err));
    CHECK_EQ(who.role, ROLE_READ);
    CHECK_STR(str_of(who.user), "");
    worker[20] ^= 1;
    CHECK(!token_check(book, 1, str_of(worker), &who, &err));
    CHECK(!token_check(book, 1, STR(""), &who, &err));
    token_book_close(book);
}

TEST(the_file_is_the_owners_alone_and_holds_no_token)
{
    BENCH(bench);
    char text[TOKEN_TEXT], content[512] = "";
    umask(0);
    create(&bench, ROLE_ADMIN, NULL, text);
    struct stat st;
    CHECK_EQ(stat(bench.path, &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0600);
    int fd = open(bench.path, O_RDONLY);
    CHECK(read(fd, content, sizeof content - 1) > 0);
    close(fd);
    CHECK(strstr(content, text) == NULL);
    CHECK(strstr(content, text + 7) == NULL);
    CHECK(strstr(content, "\tadmin\t\t2027-01-15T08:00:00.000Z\n") != NULL);
}

TEST(a_book_notices_tokens_made_and_revoked_beside_it)
{
    BENCH(bench);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    char text[TOKEN_TEXT];
    struct token_book *book;
    struct token_who who;
    struct token *tokens;
    size_t count;
    struct err err = ERR_INIT;
    CHECK_OK(token_book_open(bench.folder, &bench.clock, &book, &err));
    CHECK_EQ(token_book_count(book, 1), 0);
    create(&bench, ROLE_PRODUCE, NULL, text);
    CHECK_EQ(token_book_count(book, 1), 0); /* looked at once per tick */
    CHECK_EQ(token_book_count(book, 2), 1);
    CHECK(token_check(book, 2, str_of(text), &who, &err));

    CHECK_OK(token_list(bench.folder, &arena, &tokens, &count, &err));
    CHECK_EQ(count, 1);
    CHECK_STR(str_of(tokens[0].id), who.id);
    CHECK_EQ(tokens[0].created_ms, NOW_MS);
    CHECK_OK(token_revoke(bench.folder, str_of(tokens[0].id), &err));
    CHECK(!token_check(book, 3, str_of(text), &who, &err));
    CHECK_EQ(token_book_count(book, 3), 0);
    token_book_close(book);
}

TEST(revoking_an_unknown_token_says_so)
{
    BENCH(bench);
    char text[TOKEN_TEXT];
    struct err err = ERR_INIT;
    create(&bench, ROLE_READ, NULL, text);
    CHECK(!token_revoke(bench.folder, STR("0badc0de"), &err));
    CHECK_EQ(err.kind, ERR_NOT_FOUND);
}

TEST(a_user_that_would_break_the_file_is_refused)
{
    BENCH(bench);
    char text[TOKEN_TEXT];
    struct token made;
    struct err err = ERR_INIT;
    CHECK(!token_create(bench.folder, &(struct token_order){.role = ROLE_READ, .user = STR("a\tb")},
                        NOW_MS, &bench.rand, &made, text, &err));
    CHECK_STR(str_of(err.field), "user");
}

TEST(a_broken_file_stops_the_start_and_changes_nothing_later)
{
    BENCH(bench);
    char text[TOKEN_TEXT];
    struct token_book *book;
    struct token_who who;
    struct err err = ERR_INIT;
    create(&bench, ROLE_READ, NULL, text);
    CHECK_OK(token_book_open(bench.folder, &bench.clock, &book, &err));
    write_file(&bench, "this is no token\n");
    CHECK(token_check(book, 2, str_of(text), &who, &err));
    token_book_close(book);
    CHECK(!token_book_open(bench.folder, &bench.clock, &book, &err));
    CHECK_STR(str_of(err.text), "line 1 of the file tokens is not a token");
}

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(a_line_whose_user_ends_early_is_no_token)
{
    struct token token;
    CHECK(token_line_parse(STR("ab\t" HASH "\twork\tann\t2027-01-15T08:00:00Z"), &token));
    CHECK(!token_line_parse(STR("ab\t" HASH "\twork\t\0ann\t2027-01-15T08:00:00Z"), &token));
    CHECK(!token_line_parse(STR("a\0\t" HASH "\twork\tann\t2027-01-15T08:00:00Z"), &token));
}

TEST(a_fleets_tokens_count_beside_those_of_the_folder)
{
    BENCH(bench);
    struct err err = ERR_INIT;
    struct token_book *book = NULL;
    struct token_who who;
    struct token shared[2] = {{.role = ROLE_NONE}}; /* the first one was not understood */
    char own[TOKEN_TEXT], fleet[TOKEN_TEXT];
    create(&bench, ROLE_READ, NULL, own);
    CHECK_OK(token_make(&(struct token_order){.role = ROLE_WORK, .user = STR("ann")}, NOW_MS,
                        &bench.rand, &shared[1], fleet, &err));
    CHECK_OK(token_book_open(bench.folder, &bench.clock, &book, &err));
    CHECK(!token_check(book, 1, str_of(fleet), &who, &err));
    token_book_share(book, shared, 1);
    token_book_share(book, shared, 2); /* the later one holds, whether the first was seen or not */
    CHECK_EQ(token_book_count(book, 1), 3);
    CHECK(token_check(book, 1, str_of(fleet), &who, &err) && who.role == ROLE_WORK);
    CHECK_STR(str_of(who.user), "ann");
    CHECK(token_check(book, 1, str_of(own), &who, &err) && who.role == ROLE_READ);
    token_book_share(book, NULL, 0);
    CHECK(!token_check(book, 1, str_of(fleet), &who, &err));
    CHECK_EQ(token_book_count(book, 1), 1);
    token_book_share(book, shared, 2); /* never looked at */
    token_book_close(book);
}

TEST(a_token_that_has_expired_is_refused_and_says_so)
{
    BENCH(bench);
    char text[TOKEN_TEXT];
    struct token_book *book;
    struct token_who who;
    struct token made;
    struct err err = ERR_INIT;
    struct token_order order = {
        .role = ROLE_WORK, .name = STR("resizer"), .expires_ms = NOW_MS + 1000};
    CHECK_OK(token_create(bench.folder, &order, NOW_MS, &bench.rand, &made, text, &err));
    CHECK_OK(token_book_open(bench.folder, &bench.clock, &book, &err));
    clock_set(&bench.clock, NOW_MS + 999);
    CHECK_OK(token_check(book, 1, str_of(text), &who, &err));
    clock_set(&bench.clock, NOW_MS + 1000);
    CHECK(!token_check(book, 1, str_of(text), &who, &err));
    CHECK_EQ(err.kind, ERR_DENIED);
    CHECK_STR(str_of(err.text), "this token expired at 2027-01-15T08:00:01.000Z");
    CHECK(token_book_on(book, 1)); /* nobody comes in without one now */
    token_book_close(book);
    order.expires_ms = NOW_MS;
    CHECK(!token_create(bench.folder, &order, NOW_MS, &bench.rand, &made, text, &err));
    CHECK_STR(str_of(err.field), "expires");
}

TEST(a_name_and_an_expiry_are_two_columns_more)
{
    struct token token;
    SCOPED(buf_fini) struct buf line = BUF_INIT(KIB);
    CHECK(token_line_parse(STR("ab\t" HASH "\twork\tann\t2027-01-15T08:00:00.000Z\tci\t"), &token));
    CHECK_STR(str_of(token.name), "ci");
    CHECK_EQ(token.expires_ms, 0);
    token_line_write(&line, &token);
    CHECK_STR(buf_view(&line), "ab\t" HASH "\twork\tann\t2027-01-15T08:00:00.000Z\tci\t");
    CHECK(token_line_parse(
        STR("ab\t" HASH "\twork\t\t2027-01-15T08:00:00Z\t\t2027-01-16T08:00:00Z"), &token));
    CHECK_EQ(token.expires_ms - token.created_ms, DAY_MS);
    CHECK(!token_line_parse(STR("ab\t" HASH "\twork\t\t2027-01-15T08:00:00Z\tci\tsoon"), &token));
    CHECK(!token_line_parse(STR("ab\t" HASH "\twork\t\t2027-01-15T08:00:00Z\tci\t\t"), &token));
}

TEST(every_loops_book_hears_of_the_fleets_tokens)
{
    BENCH(bench);
    struct err err = ERR_INIT;
    struct token_book *books[3] = {NULL};
    struct token_who who;
    struct token shared[2];
    char texts[2][TOKEN_TEXT], own[TOKEN_TEXT];
    for (size_t i = 0; i < ARRAY_LEN(shared); i++) {
        CHECK_OK(token_make(&(struct token_order){.role = ROLE_WORK}, NOW_MS, &bench.rand,
                            &shared[i], texts[i], &err));
    }
    CHECK_OK(token_book_open(bench.folder, &bench.clock, &books[0], &err));
    token_book_share(books[0], shared, 1);
    CHECK_OK(token_book_follow(books[0], &books[1], &err)); /* it knows what was shared before */
    CHECK(token_check(books[0], 1, str_of(texts[0]), &who, &err));
    CHECK_OK(token_book_follow(books[0], &books[2], &err));
    for (size_t i = 0; i < ARRAY_LEN(books); i++) {
        CHECK(token_check(books[i], 1, str_of(texts[0]), &who, &err));
    }

    token_book_share(books[0], &shared[1], 1);
    create(&bench, ROLE_READ, NULL, own);
    for (size_t i = ARRAY_LEN(books); i-- > 0;) {
        CHECK(!token_check(books[i], 2, str_of(texts[0]), &who, &err));
        CHECK(token_check(books[i], 2, str_of(texts[1]), &who, &err));
        CHECK(token_check(books[i], 2, str_of(own), &who, &err));
        token_book_close(books[i]);
    }
}
