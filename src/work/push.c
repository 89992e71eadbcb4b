/* work/push.c: tasks that are done by others: what is claimed for them, and libcurl on the loop.
 *
 * One claimer for all. It asks for the types of the hosts that have room, and for no more tasks
 * than the fullest of them has room for, so that no answer can overfill a host. A host that takes
 * its last places thus makes one small claim; from then on it is left out, and the others' claims
 * are large again.
 *
 * Curl is told of the sockets that have something to say and of no others, so a waking costs the
 * same with five requests under way and with five hundred.
 *
 * Thread: the workers'. Keeps: G4 (one line for all types that can be pushed now), G8.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "cloud/dispatch.h"
#include "task/reserved.h"
#include "work/push_parts.h"

#define IDLE_MIN 100 /* so many connections may stay open for the next request, at least */

/* ---- What is claimed ---- */

/* Tasks run under the first name. A claim that leaves out full hosts is made under the second:
 * what the first one asked for last is what this server pushes, and a task of a full host waits
 * for a busy worker, not for one that nobody has seen. */
static const struct str runner = {"errand:push:1", 13}, chooser = {"errand:push:2", 13};

static bool wants(struct claimer *claimer, struct command_claim *claim)
{
    struct push *push = claimer->work->push;
    struct str *types = arena_array(&claimer->arena, struct str, push->targets_count);
    struct str *workers = arena_array(&claimer->arena, struct str, push->targets_count);
    size_t count = 0, concurrency = push->concurrency, per_host = push->per_host;
    size_t max = concurrency > claimer->held ? MIN(concurrency - claimer->held, CLAIM_MAX) : 0;
    for (size_t i = 0; i < push->hosts_count; i++) {
        size_t busy = push->hosts[i].under_way, room = per_host > busy ? per_host - busy : 0;
        push->hosts[i].asked_for = room > 0;
        max = room > 0 ? MIN(max, room) : max;
    }
    for (size_t i = 0; i < push->targets_count; i++) {
        if (push->targets[i].host->asked_for) {
            workers[count] = runner;
            types[count++] = push->targets[i].type;
        }
    }
    claim->worker = count == push->targets_count ? runner : chooser;
    claim->workers = workers;
    claim->types = types;
    claim->types_count = count;
    claim->max = max;
    return count > 0 && max > 0;
}

void workforce_set_push(struct workforce *work, const struct push_settings *settings)
{
    struct push *push = work->push;
    if (push != NULL) {
        push->concurrency = settings->concurrency;
        push->per_host = MIN(settings->per_host, settings->concurrency);
        push->allow_private = settings->allow_private;
    }
}

const struct executor by_push = {
    .wants = wants, .start = push_request_start, .abort = push_request_close};

/* Tasks of the Cloud Tasks API go to any host: their queues say how many at once, and here is room
 * for as many as for all others. */
static bool wants_cloud(struct claimer *claimer, struct command_claim *claim)
{
    static const struct str type = {RESERVED_CLOUD_TYPE, sizeof RESERVED_CLOUD_TYPE - 1};
    size_t most = claimer->work->push->concurrency;
    claim->worker = STR(CLOUD_WORKER);
    claim->types = &type;
    claim->types_count = 1;
    claim->max = MIN(most - MIN(claimer->held, most), CLAIM_MAX);
    return claim->max > 0 && claimer->work->push->cloud_awake;
}

const struct executor by_cloud = {
    .wants = wants_cloud, .start = push_cloud_start, .abort = push_request_close};

/* ---- Curl on the loop ---- */

/* A socket of curl's. */
struct watched {
    uv_poll_t poll;
    struct push *push;
    curl_socket_t fd;
    int events; /* that curl waits for, in libuv's words */
};

static void end_requests(struct push *push)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(push->multi, &left)) != NULL) {
        push_request_done(message->easy_handle, message->data.result);
    }
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct watched *watched = poll->data;
    int running, what = ((events & UV_READABLE) != 0 ? CURL_CSELECT_IN : 0) |
                        ((events & UV_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0) |
                        (status < 0 ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(watched->push->multi, watched->fd, what, &running);
    if (status < 0 && !uv_is_closing((uv_handle_t *)poll)) {
        uv_poll_start(poll, watched->events, on_ready); /* libuv has let go of it */
    }
    end_requests(watched->push);
}

static void free_watched(uv_handle_t *handle)
{
    mem_free(handle->data);
}

static struct watched *watch(struct push *push, curl_socket_t fd)
{
    struct watched *watched = mem_new(struct watched);
    if (uv_poll_init(&push->work->loop, &watched->poll, fd) != 0) {
        mem_free(watched);
        return NULL;
    }
    watched->push = push;
    watched->fd = fd;
    watched->poll.data = watched;
    curl_multi_assign(push->multi, fd, watched);
    return watched;
}

/* `known` is what was assigned to the socket: NULL the first time that curl speaks of it. */
static int on_interest(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct push *push = arg;
    struct watched *watched = known;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watched != NULL) {
            curl_multi_assign(push->multi, fd, NULL);
            uv_close((uv_handle_t *)&watched->poll, free_watched);
        }
        return 0;
    }
    if (watched == NULL && (watched = watch(push, fd)) == NULL) {
        return -1;
    }
    watched->events = ((what & CURL_POLL_IN) != 0 ? UV_READABLE : 0) |
                      ((what & CURL_POLL_OUT) != 0 ? UV_WRITABLE : 0);
    return uv_poll_start(&watched->poll, watched->events, on_ready) == 0 ? 0 : -1;
}

static void on_time(uv_timer_t *timer)
{
    struct push *push = timer->data;
    int running;
    curl_multi_socket_action(push->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    end_requests(push);
}

static int on_timer(CURLM *multi, long in_ms, void *arg)
{
    struct push *push = arg;
    (void)multi;
    if (in_ms < 0) {
        uv_timer_stop(&push->timer);
    } else {
        uv_timer_start(&push->timer, on_time, (uint64_t)in_ms, 0);
    }
    return 0;
}

/* ---- Life ---- */

bool push_open(struct workforce *work, const struct push_settings *settings,
               struct claimer *claimer, struct claimer *cloud, struct err *err)
{
    struct push *push = arena_new(&work->arena, struct push);
    push->work = work;
    push->claimer = claimer;
    push->cloud = cloud;
    push->concurrency = settings->concurrency;
    push->per_host = MIN(settings->per_host, settings->concurrency);
    push->allow_private = settings->allow_private;
    if (settings->concurrency < 1 || settings->concurrency > PUSH_CONCURRENCY_MAX ||
        settings->per_host < 1) {
        return err_set(err, ERR_INVALID, "[push] concurrency is 1 to %d, per_host at least 1",
                       PUSH_CONCURRENCY_MAX);
    }
    if (!push_targets_read(push, settings, err)) {
        return false;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        (push->multi = curl_multi_init()) == NULL) {
        return err_set(err, ERR_INTERNAL, "libcurl does not start");
    }
    uv_timer_init(&work->loop, &push->timer);
    push->timer.data = push;
    work->push = push;
    /* Those in use count too: with fewer than may be under way each request would dial anew. */
    curl_multi_setopt(push->multi, CURLMOPT_MAXCONNECTS,
                      (long)MAX(2 * push->concurrency, IDLE_MIN));
    curl_multi_setopt(push->multi, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl_multi_setopt(push->multi, CURLMOPT_SOCKETDATA, push);
    curl_multi_setopt(push->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(push->multi, CURLMOPT_TIMERDATA, push);
    return true;
}

struct claimer *push_cloud_claimer(const struct push *push)
{
    return push->cloud;
}

void push_cloud_wake(struct push *push)
{
    push->cloud_awake = true;
    claimer_look(push->cloud);
}

void push_close(struct push *push)
{
    if (push != NULL) {
        curl_multi_cleanup(push->multi);
        uv_close((uv_handle_t *)&push->timer, NULL);
    }
}
