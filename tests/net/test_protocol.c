/* tests/net/test_protocol.c: claims about connections that speak something else than HTTP.
 *
 * SPDX-License-Identifier: MIT */
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/protocol.h"
#include "stand.h"
#include "test.h"

/* Says "hello", then every line back. "later" is owed until the test pays; "bye" ends it. */
struct parrot {
    struct aviary *aviary;
    struct connection *connection;
    bool known, owes;
};
struct aviary {
    struct parrot *last;
    int halves, gone;
};

static void *parrot_begin(void *arg, struct connection *connection)
{
    struct aviary *aviary = ((struct stand *)arg)->user;
    struct parrot *parrot = mem_new(struct parrot);
    *parrot = (struct parrot){.aviary = aviary, .connection = connection};
    aviary->last = parrot;
    connection_say(connection, STR("hello\n"));
    return parrot;
}

static size_t parrot_take(void *session, struct str input)
{
    struct parrot *parrot = session;
    const char *end = memchr(input.ptr, '\n', input.len);
    if (end == NULL) {
        return 0;
    }
    struct str line = {input.ptr, (size_t)(end - input.ptr) + 1};
    parrot->known = true;
    if (str_is(line, "bye\n")) {
        connection_hang_up(parrot->connection);
    } else if (str_is(line, "later\n")) {
        parrot->owes = true;
        connection_owes(parrot->connection, true);
    } else {
        connection_say(parrot->connection, line);
    }
    return line.len;
}

static bool parrot_full(const void *session)
{
    return ((const struct parrot *)session)->owes;
}

static bool parrot_known(const void *session)
{
    return ((const struct parrot *)session)->known;
}

static void parrot_half(void *session)
{
    ((struct parrot *)session)->aviary->halves++;
}

static void parrot_gone(void *session)
{
    ((struct parrot *)session)->aviary->gone++;
    mem_free(session);
}

static void pay(struct parrot *parrot)
{
    parrot->owes = false;
    connection_say(parrot->connection, STR("paid\n"));
    connection_owes(parrot->connection, false);
}

static const struct protocol parrots = {.begin = parrot_begin,
                                        .take = parrot_take,
                                        .full = parrot_full,
                                        .known = parrot_known,
                                        .half = parrot_half,
                                        .gone = parrot_gone};

#define PARROTS(stand, ...)                                                                        \
    struct aviary aviary = {0};                                                                    \
    STAND(stand, __VA_ARGS__, .protocol = &parrots);                                               \
    stand.user = &aviary

TEST(the_server_speaks_first_and_answers_line_by_line)
{
    PARROTS(stand, .idle_timeout_ms = 0);
    CLIENT(client, &stand);
    CHECK(client_sees(&client, "hello\n"));
    client_say(&client, "one\ntwo\nthr");
    CHECK(client_sees(&client, "one\ntwo\n"));
    client_say(&client, "ee\n");
    CHECK(client_sees(&client, "three\n"));
}

TEST(what_comes_behind_an_answer_that_is_owed_waits_for_it)
{
    PARROTS(stand, .idle_timeout_ms = 0);
    CLIENT(client, &stand);
    client_say(&client, "later\nnext\n");
    while (aviary.last == NULL || !aviary.last->owes) {
        client_read_some(&client);
    }
    CHECK_EQ(client_count(&client, "next"), 0);
    CHECK(server_busy(stand.server));
    pay(aviary.last);
    CHECK(client_sees(&client, "paid\nnext\n"));
    CHECK(!server_busy(stand.server));
}

TEST(who_stops_sending_still_gets_what_is_owed_and_then_the_end)
{
    PARROTS(stand, .idle_timeout_ms = 0);
    CLIENT(client, &stand);
    client_say(&client, "later\nnext\nhalf a li");
    shutdown(client.fd, SHUT_WR);
    stand_step_until(&stand, &aviary.halves, 1);
    CHECK_EQ(aviary.gone, 0);
    pay(aviary.last);
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "hello\npaid\nnext\n"), 1);
    CHECK_EQ(aviary.gone, 1);
}

TEST(a_session_may_hang_up_and_what_follows_is_not_read)
{
    PARROTS(stand, .idle_timeout_ms = 0);
    CLIENT(client, &stand);
    client_say(&client, "one\nbye\ntwo\n");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "one\n"), 1);
    CHECK_EQ(client_count(&client, "two"), 0);
}

TEST(who_does_not_say_who_he_is_in_time_is_cut_off_without_a_word)
{
    PARROTS(stand, .head_timeout_ms = 20);
    CLIENT(client, &stand);
    client_say(&client, "no end of a line");
    client_read_end(&client);
    CHECK_STR(buf_view(&client.in), "hello\n");
}

TEST(a_session_ends_with_its_server)
{
    PARROTS(stand, .idle_timeout_ms = 0);
    CLIENT(client, &stand);
    CHECK(client_sees(&client, "hello\n"));
    server_stop(stand.server);
    CHECK_EQ(aviary.gone, 1);
}
