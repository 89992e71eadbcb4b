/* tests/work/endpoint.c: an HTTP server that says what it was told to say. See endpoint.h.
 *
 * SPDX-License-Identifier: MIT */
#include "endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "test.h"

#define REQUEST_MAX (4 * MIB)
#define HELD_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\"held\""

/* ---- Lines ---- */

static void hang_up(struct endpoint *e, struct endpoint_line *line)
{
    if (line->held) {
        e->held--;
        e->left++;
    }
    close(line->fd);
    buf_fini(&line->in);
    line->fd = -1;
}

static void say(struct endpoint_line *line, const char *text)
{
    size_t len = strlen(text), at = 0;
    fcntl(line->fd, F_SETFL, 0); /* a long answer may fill the pipe: it is waited for */
    while (at < len) {
        ssize_t n = send(line->fd, text + at, len - at, MSG_NOSIGNAL);
        if (n <= 0) {
            break; /* the other side has heard enough */
        }
        at += (size_t)n;
    }
    fcntl(line->fd, F_SETFL, O_NONBLOCK);
}

static const struct endpoint_row *find_row(const struct endpoint *e, struct str head)
{
    str_cut(&head, ' ');
    struct str path = str_cut(&head, ' ');
    for (size_t i = 0; i < e->rows_count; i++) {
        if (str_is(path, e->rows[i].path)) {
            return &e->rows[i];
        }
    }
    return NULL;
}

static void answer(struct endpoint *e, struct endpoint_line *line, struct str head)
{
    const struct endpoint_row *row = find_row(e, head);
    if (row == NULL) {
        line->held = true;
        e->held++;
        e->most_held = MAX(e->most_held, e->held);
        return;
    }
    if (row->answer != NULL) {
        say(line, row->answer);
    }
    if (row->answer == NULL || row->hang_up) {
        hang_up(e, line);
    }
}

static size_t body_length(struct endpoint_request request)
{
    uint64_t length = 0;
    struct str text = endpoint_header(request, "Content-Length");
    return !str_absent(text) && str_u64(text, &length) ? (size_t)length : 0;
}

/* One request that has come in whole; false: not yet. */
static bool take_request(struct endpoint *e, struct endpoint_line *line)
{
    struct str in = buf_view(&line->in);
    const char *end = memmem(in.ptr, in.len, "\r\n\r\n", 4);
    if (end == NULL) {
        return false;
    }
    struct endpoint_request request = {.head = {in.ptr, (size_t)(end - in.ptr)}};
    size_t length = body_length(request), whole = request.head.len + 4 + length;
    if (in.len < whole || e->requests_count == ENDPOINT_MAX) {
        return false;
    }
    request.body = arena_str(&e->arena, (struct str){end + 4, length});
    request.head = arena_str(&e->arena, request.head);
    e->requests[e->requests_count++] = request;
    buf_cut_front(&line->in, whole);
    answer(e, line, request.head);
    return true;
}

static void hear(struct endpoint *e, struct endpoint_line *line)
{
    char *room = buf_room(&line->in, 64 * KIB);
    ssize_t n = room == NULL ? 0 : recv(line->fd, room, 64 * KIB, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        hang_up(e, line);
        return;
    }
    buf_used(&line->in, (size_t)n);
    while (line->fd >= 0 && take_request(e, line)) {
    }
}

/* ---- The thread ---- */

static void let_in(struct endpoint *e)
{
    int fd = accept4(e->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        return;
    }
    e->connections++;
    size_t at = 0;
    while (at < e->lines_count && e->lines[at].fd >= 0) {
        at++;
    }
    assert_true(at < ENDPOINT_MAX);
    e->lines_count = MAX(e->lines_count, at + 1);
    e->lines[at] = (struct endpoint_line){.fd = fd, .in = BUF_INIT(REQUEST_MAX)};
}

static void answer_held(struct endpoint *e)
{
    for (size_t i = 0; i < e->lines_count && e->release > 0; i++) {
        struct endpoint_line *line = &e->lines[i];
        if (line->fd >= 0 && line->held) {
            line->held = false;
            e->held--;
            e->release--;
            say(line, HELD_ANSWER);
        }
    }
}

static size_t fill(const struct endpoint *e, struct pollfd *polls)
{
    polls[0] = (struct pollfd){.fd = e->waker[0], .events = POLLIN};
    polls[1] = (struct pollfd){.fd = e->listener, .events = POLLIN};
    for (size_t i = 0; i < e->lines_count; i++) {
        polls[i + 2] = (struct pollfd){.fd = e->lines[i].fd, .events = POLLIN};
    }
    return e->lines_count;
}

static void serve(struct endpoint *e, const struct pollfd *polls, size_t lines)
{
    char pokes[64];
    if (polls[0].revents != 0 && read(e->waker[0], pokes, sizeof pokes) < 0) {
        return;
    }
    for (size_t i = 0; i < lines; i++) {
        if (polls[i + 2].revents != 0 && e->lines[i].fd >= 0) {
            hear(e, &e->lines[i]);
        }
    }
    if (polls[1].revents != 0) {
        let_in(e);
    }
    answer_held(e);
    pthread_cond_broadcast(&e->changed);
}

static void *run(void *arg)
{
    struct endpoint *e = arg;
    SCOPED(mem_free_at) struct pollfd *polls = mem_array(NULL, ENDPOINT_MAX + 2, sizeof *polls);
    pthread_mutex_lock(&e->lock);
    while (!e->stop) {
        size_t lines = fill(e, polls);
        pthread_mutex_unlock(&e->lock);
        poll(polls, lines + 2, -1);
        pthread_mutex_lock(&e->lock);
        serve(e, polls, lines);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- Life ---- */

void endpoint_open(struct endpoint *e, const struct endpoint_row *rows, size_t rows_count)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    memset(e, 0, sizeof *e);
    e->rows = rows;
    e->rows_count = rows_count;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
    e->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(e->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(e->listener, 1024), 0);
    assert_int_equal(getsockname(e->listener, (struct sockaddr *)&address, &len), 0);
    e->port = ntohs(address.sin_port);
    assert_int_equal(pipe2(e->waker, O_CLOEXEC), 0);
    assert_int_equal(pthread_create(&e->thread, NULL, run, e), 0);
}

static void wake(struct endpoint *e)
{
    assert_int_equal(write(e->waker[1], "", 1), 1);
}

void endpoint_close(struct endpoint *e)
{
    pthread_mutex_lock(&e->lock);
    e->stop = true;
    pthread_mutex_unlock(&e->lock);
    wake(e);
    pthread_join(e->thread, NULL);
    for (size_t i = 0; i < e->lines_count; i++) {
        if (e->lines[i].fd >= 0) {
            hang_up(e, &e->lines[i]);
        }
    }
    close(e->listener);
    close(e->waker[0]);
    close(e->waker[1]);
    arena_fini(&e->arena);
}

/* ---- Looking ---- */

void endpoint_release(struct endpoint *e, size_t count)
{
    pthread_mutex_lock(&e->lock);
    e->release += count;
    pthread_mutex_unlock(&e->lock);
    wake(e);
}

static void until(struct endpoint *e, const size_t *number, size_t want)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += ENDPOINT_PATIENCE_S;
    pthread_mutex_lock(&e->lock);
    int failed = 0;
    while (*number != want && failed == 0) {
        failed = pthread_cond_timedwait(&e->changed, &e->lock, &limit);
    }
    pthread_mutex_unlock(&e->lock);
    assert_int_equal(failed, 0);
}

void endpoint_until_held(struct endpoint *e, size_t count)
{
    until(e, &e->held, count);
}

void endpoint_until_left(struct endpoint *e, size_t count)
{
    until(e, &e->left, count);
}

static size_t look(struct endpoint *e, const size_t *number)
{
    pthread_mutex_lock(&e->lock);
    size_t now = *number;
    pthread_mutex_unlock(&e->lock);
    return now;
}

size_t endpoint_most_held(struct endpoint *e)
{
    return look(e, &e->most_held);
}

size_t endpoint_connections(struct endpoint *e)
{
    return look(e, &e->connections);
}

size_t endpoint_requests(struct endpoint *e)
{
    return look(e, &e->requests_count);
}

struct endpoint_request endpoint_request(struct endpoint *e, size_t number)
{
    assert_true(number < endpoint_requests(e));
    return e->requests[number];
}

struct str endpoint_header(struct endpoint_request request, const char *name)
{
    struct str head = request.head;
    while (!str_absent(head)) {
        struct str line = str_cut(&head, '\n');
        line.len -= str_ends(line, STR("\r")) ? 1 : 0;
        struct str key = str_cut(&line, ':');
        if (str_eq_nocase(key, str_of(name)) && !str_absent(line)) {
            return str_trim(line);
        }
    }
    return STR_NONE;
}
