/* cli/bench_loop.c: many keep-alive connections on one epoll loop. See bench.h.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench.h"
#include "wire/uri.h"

#define EVENTS_MAX 256
#define READ_STEP  (64 * KIB)

/* ---- Opening ---- */

static bool connect_file(struct str path, int *fd, struct err *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, STR_FMT, STR_ARG(path));
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return (*fd >= 0 && connect(*fd, (struct sockaddr *)&to, sizeof to) == 0) ||
           err_set(err, ERR_UNAVAILABLE, "connect to unix:%s: %s", to.sun_path, strerror(errno));
}

static bool connect_to(const struct bench_server *server, int *fd, struct err *err)
{
    char host[URI_HOST_MAX + 1], port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    if (!str_absent(server->socket)) {
        return connect_file(server->socket, fd, err);
    }
    snprintf(host, sizeof host, STR_FMT, STR_ARG(server->host));
    snprintf(port, sizeof port, "%d", server->port);
    int code = getaddrinfo(host, port, &hints, &found);
    if (code != 0) {
        return err_set(err, ERR_UNAVAILABLE, "%s: %s", host, gai_strerror(code));
    }
    *fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = *fd >= 0 && connect(*fd, found->ai_addr, found->ai_addrlen) == 0;
    freeaddrinfo(found);
    return ok || err_set(err, ERR_UNAVAILABLE, "connect to %s:%s: %s", host, port, strerror(errno));
}

static bool open_lane(struct bench *bench, struct lane *lane, bool worker, struct err *err)
{
    int yes = 1;
    *lane = (struct lane){.fd = -1,
                          .worker = worker,
                          .out = BUF_INIT(BENCH_ANSWER_MAX),
                          .in = BUF_INIT(BENCH_ANSWER_MAX),
                          .body = BUF_INIT(BENCH_ANSWER_MAX),
                          .arena = ARENA_INIT};
    http_reader_init(&lane->parser, false, BENCH_ANSWER_MAX);
    lane->tasks = mem_zero(bench->plan->batch * sizeof *lane->tasks);
    const struct bench_plan *plan = bench->plan;
    if (!connect_to(worker ? &plan->worker_server : &plan->server, &lane->fd, err) ||
        (plan->faktory && !faktory_greet(lane->fd, worker, err))) {
        return false;
    }
    setsockopt(lane->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = lane};
    return epoll_ctl(bench->poll, EPOLL_CTL_ADD, lane->fd, &event) == 0 ||
           err_set(err, ERR_INTERNAL, "epoll: %s", strerror(errno));
}

static void close_lane(struct lane *lane)
{
    if (lane->fd >= 0) {
        close(lane->fd);
    }
    buf_fini(&lane->out);
    buf_fini(&lane->in);
    buf_fini(&lane->body);
    arena_fini(&lane->arena);
    http_parser_fini(&lane->parser);
    mem_free(lane->tasks);
}

static void close_all(struct bench *bench)
{
    for (size_t i = 0; i < bench->lanes_count; i++) {
        close_lane(&bench->lanes[i]);
    }
    mem_free(bench->lanes);
    buf_fini(&bench->head);
    buf_fini(&bench->padding);
    close(bench->poll);
    close(bench->timer);
}

/* What every request and every payload has. */
static void write_texts(struct bench *bench)
{
    static const size_t around = sizeof "{\"us\":0123456789012,\"pad\":\"\"}" - 1;
    const struct bench_plan *plan = bench->plan;
    buf_printf(&bench->head, "Host: " STR_FMT ":%d\r\nContent-Type: application/json\r\n",
               STR_ARG(plan->server.host), plan->server.port);
    if (!str_absent(plan->token)) {
        buf_printf(&bench->head, "Authorization: Bearer " STR_FMT "\r\n", STR_ARG(plan->token));
    }
    for (size_t i = around; i < plan->payload; i++) {
        buf_char(&bench->padding, 'x');
    }
}

static bool open_all(struct bench *bench, struct err *err)
{
    size_t wanted = bench->plan->producers + bench->plan->workers;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    bench->lanes = mem_zero(wanted * sizeof *bench->lanes);
    bench->poll = epoll_create1(EPOLL_CLOEXEC);
    bench->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    write_texts(bench);
    if (epoll_ctl(bench->poll, EPOLL_CTL_ADD, bench->timer, &event) != 0) {
        return err_set(err, ERR_INTERNAL, "epoll: %s", strerror(errno));
    }
    while (bench->lanes_count < wanted) {
        struct lane *lane = &bench->lanes[bench->lanes_count++];
        /* Workers first: they are to wait when the first task comes. */
        if (!open_lane(bench, lane, bench->lanes_count <= bench->plan->workers, err)) {
            return false;
        }
    }
    return true;
}

/* ---- Speaking ---- */

static void fail(struct bench *bench, const char *what)
{
    if (bench->err.kind == ERR_NONE) {
        err_set(&bench->err, ERR_UNAVAILABLE, "%s", what);
    }
}

static void write_some(struct bench *bench, struct lane *lane)
{
    struct str rest = str_from(buf_view(&lane->out), lane->out_at);
    ssize_t sent = send(lane->fd, rest.ptr, rest.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        fail(bench, strerror(errno));
        return;
    }
    lane->out_at += sent > 0 ? (size_t)sent : 0;
    bool more = lane->out_at < lane->out.len;
    if (lane->want_write != more) {
        struct epoll_event event = {.events = EPOLLIN | (more ? EPOLLOUT : 0u), .data.ptr = lane};
        lane->want_write = more;
        epoll_ctl(bench->poll, EPOLL_CTL_MOD, lane->fd, &event);
    }
    if (!more) {
        buf_clear(&lane->out);
        lane->out_at = 0;
    }
}

/* Lets the lane say what it has to say next, into `out`. */
static enum lane_step say_next(struct bench *bench, struct lane *lane, int64_t now_us)
{
    enum lane_step step =
        lane->worker ? worker_next(bench, lane, now_us) : producer_next(bench, lane, now_us);
    if (step == LANE_SPEAK) {
        bench->busy++;
        bench->result->requests++;
    } else if (step == LANE_REST && !link_in_list(&lane->resting)) {
        list_append(&bench->resting, &lane->resting);
    } else if (step == LANE_LEAVE && lane->sent_count == 0 && !lane->gone) {
        lane->gone = true;
        bench->left++;
    }
    return step;
}

/* As much as may be under way. */
static void speak(struct bench *bench, struct lane *lane, int64_t now_us)
{
    size_t depth = lane->worker ? 1 : bench->plan->depth;
    while (lane->sent_count < depth && say_next(bench, lane, now_us) == LANE_SPEAK) {
    }
    if (lane->out.len > lane->out_at && !lane->want_write) {
        write_some(bench, lane);
    }
}

/* ---- Hearing ---- */

static void heard(struct bench *bench, struct lane *lane)
{
    int64_t now_us = clock_real_mono_us();
    bench->busy--;
    lane->sent_count--;
    if (lane->worker && !bench->plan->faktory) {
        worker_hears(bench, lane, now_us);
    } else if (!lane->worker) {
        producer_hears(bench, lane, now_us);
    }
    bool usable = lane->response.keep_alive;
    buf_clear(&lane->body);
    arena_clear(&lane->arena);
    if (!usable) {
        fail(bench, "the server closes its connections; is it stopping?");
        return;
    }
    speak(bench, lane, now_us);
}

static void read_replies(struct bench *bench, struct lane *lane)
{
    while (lane->in_at < lane->in.len && faktory_hears(bench, lane)) {
        if (lane->replies == 0) {
            heard(bench, lane);
        }
    }
    buf_cut_front(&lane->in, lane->in_at);
    lane->in_at = 0;
}

/* Reads what there is of the answers. */
static void read_answers(struct bench *bench, struct lane *lane)
{
    if (bench->plan->faktory) {
        read_replies(bench, lane);
        return;
    }
    enum http_step step = HTTP_GOT_PIECE;
    while (step == HTTP_GOT_HEAD || step == HTTP_GOT_PIECE ||
           (step == HTTP_DONE && lane->in_at < lane->in.len)) {
        struct str piece = STR_NONE, rest = str_from(buf_view(&lane->in), lane->in_at);
        size_t used = 0;
        step = http_read(&lane->parser, rest, &lane->arena, &lane->response, &piece, &used,
                         &bench->err);
        /* Only workers look into good answers; errors are kept for the report. */
        if (step == HTTP_GOT_PIECE && (lane->worker || lane->response.status / 100 != 2)) {
            buf_str(&lane->body, piece);
        }
        lane->in_at += used;
        if (step == HTTP_DONE) {
            heard(bench, lane);
        }
    }
    if (lane->in_at == lane->in.len) {
        buf_clear(&lane->in);
        lane->in_at = 0;
    }
}

static void read_some(struct bench *bench, struct lane *lane)
{
    char *room = buf_room(&lane->in, READ_STEP);
    ssize_t got = room == NULL ? 0 : recv(lane->fd, room, READ_STEP, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        fail(bench, got == 0 ? "the server closed a connection" : strerror(errno));
        return;
    }
    buf_used(&lane->in, (size_t)got);
    read_answers(bench, lane);
}

/* ---- Time ---- */

/* Producers whose time has come speak; the timer is set for the next. */
static void wake_resting(struct bench *bench)
{
    int64_t now_us = clock_real_mono_us(), due_us;
    while ((due_us = bench_due_us(bench, now_us)) <= now_us || due_us == INT64_MAX) {
        struct link *first = list_first(&bench->resting);
        if (first == NULL) {
            return;
        }
        list_remove(first);
        speak(bench, HOLDER(first, struct lane, resting), now_us);
    }
    if (!list_empty(&bench->resting)) {
        struct itimerspec at = {.it_value = {due_us / 1000000, due_us % 1000000 * 1000}};
        timerfd_settime(bench->timer, TFD_TIMER_ABSTIME, &at, NULL);
    }
}

static bool finished(const struct bench *bench)
{
    const struct bench_plan *plan = bench->plan;
    if (plan->producers == 0 || plan->workers == 0) {
        return bench->left == bench->lanes_count;
    }
    return bench->left >= plan->producers && bench->result->completed >= bench->result->created;
}

/* Long polls are answered though nothing comes: what was created has gone elsewhere. */
static bool stalled(const struct bench *bench)
{
    return bench->left >= bench->plan->producers && bench->plan->wait &&
           clock_real_mono_us() - bench->last_us > BENCH_SILENCE_MS * 1000;
}

static void handle(struct bench *bench, const struct epoll_event *event)
{
    struct lane *lane = event->data.ptr;
    uint64_t ticks;
    if (lane == NULL) {
        if (read(bench->timer, &ticks, sizeof ticks) < 0) {
            return; /* set anew meanwhile */
        }
    } else if ((event->events & EPOLLOUT) != 0) {
        write_some(bench, lane);
    } else {
        read_some(bench, lane);
    }
}

static void loop(struct bench *bench)
{
    struct epoll_event events[EVENTS_MAX];
    for (size_t i = 0; i < bench->lanes_count; i++) {
        speak(bench, &bench->lanes[i], clock_real_mono_us());
    }
    wake_resting(bench);
    while (!finished(bench) && bench->err.kind == ERR_NONE) {
        int n = epoll_wait(bench->poll, events, EVENTS_MAX, (int)BENCH_SILENCE_MS);
        if (n == 0) {
            fail(bench, "the server has not answered for 20 seconds");
        }
        for (int i = 0; i < n && bench->err.kind == ERR_NONE; i++) {
            handle(bench, &events[i]);
        }
        if (!list_empty(&bench->resting)) {
            wake_resting(bench);
        }
        if (stalled(bench)) {
            fail(bench, "tasks were created that no worker got in 20 seconds");
        }
    }
}

/* Adds this process's CPU time so far, `sign` times. */
static void add_cpu(struct bench_result *result, int sign)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    result->user_us += sign * ((int64_t)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec);
    result->system_us += sign * ((int64_t)usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec);
}

bool bench_run(const struct bench_plan *plan, struct bench_result *result, struct err *err)
{
    SCOPED(close_all)
    struct bench bench = {.plan = plan,
                          .result = result,
                          .head = BUF_INIT(8 * KIB),
                          .padding = BUF_INIT(16 * MIB),
                          .poll = -1,
                          .timer = -1,
                          .err = ERR_INIT};
    list_init(&bench.resting);
    if (!open_all(&bench, err)) {
        return false;
    }
    add_cpu(result, -1);
    bench.start_us = bench.last_us = clock_real_mono_us();
    loop(&bench);
    int64_t end_us = plan->workers > 0 ? bench.last_us : clock_real_mono_us();
    result->wall_us = end_us - bench.start_us;
    add_cpu(result, 1);
    if (bench.err.kind != ERR_NONE) {
        *err = bench.err;
        return false;
    }
    return true;
}
