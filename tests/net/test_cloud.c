/* tests/net/test_cloud.c: the Cloud Tasks API over real sockets, with a clock that is wound by
 * hand.
 *
 * Nobody sends requests here: a worker outside claims the tasks and ends their attempts as a push
 * would, so that every attempt is at a known time.
 *
 * SPDX-License-Identifier: MIT */
#include "net/cloud.h"
#include "rig.h"
#include "test.h"

#define PLACE "/v2/projects/p/locations/l"
#define QUEUE PLACE "/queues/q"
#define NAME  "projects/p/locations/l/queues/q"
#define URL   "'httpRequest':{'url':'https://example.com/'}"

#define CLOUD(name)                                                                                \
    RIG(name);                                                                                     \
    make_queue(&name, "")

static void make_queue(struct rig *rig, const char *settings)
{
    CHECK_EQ(
        rig_ask(rig, "POST " PLACE "/queues", rig_printf(rig, "{'name':'" NAME "'%s}", settings)),
        200);
}

/* Its short name. */
static const char *make_task(struct rig *rig, const char *fields)
{
    CHECK_EQ(rig_ask(rig, "POST " QUEUE "/tasks", rig_printf(rig, "{'task':{" URL "%s}}", fields)),
             200);
    struct str name = rig_text(rig, "name");
    return rig_printf(rig, STR_FMT, STR_ARG(str_from(name, sizeof NAME "/tasks/" - 1)));
}

static int look_at(struct rig *rig, const char *task)
{
    return rig_ask(rig, rig_printf(rig, "GET " QUEUE "/tasks/%s", task), "");
}

static void check_google(struct rig *rig, int status, const char *name, const char *text)
{
    CHECK_EQ(rig->status, status);
    CHECK_STR(rig_raw(rig, "error.code"), rig_printf(rig, "%d", status));
    CHECK_STR(rig_text(rig, "error.status"), name);
    CHECK(text == NULL || rig_has(rig, text));
}

static void wind_ms(struct rig *rig, int64_t ms)
{
    CHECK_EQ(
        rig_ask(rig, "POST /api/test/clock", rig_printf(rig, "{'advanceMs':%lld}", (long long)ms)),
        200);
}

/* An attempt as a push would make it; status 0: there is no answer. */
static struct rig_claimed claim(struct rig *rig)
{
    CHECK_EQ(rig_ask(rig, "POST /api/claim", "{'workerId':'w','queues':['p/l/q']}"), 200);
    struct str id = rig_text(rig, "tasks.0.id"), lease = rig_text(rig, "tasks.0.lease");
    return (struct rig_claimed){rig_printf(rig, STR_FMT, STR_ARG(id)),
                                rig_printf(rig, STR_FMT, STR_ARG(lease))};
}

static void end(struct rig *rig, struct rig_claimed claimed, int status)
{
    const char *verb = status / 100 == 2 ? "complete" : "fail";
    const char *body =
        status / 100 == 2 ? "{'lease':'%s'}"
        : status == 0     ? "{'lease':'%s','error':{'code':'unreachable','message':'refused'}}"
                      : "{'lease':'%s','error':{'code':'e','message':'m','detail':{'status':%d}}}";
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    struct str rest = str_of(body), before = str_cut(&rest, '%');
    buf_str(&text, before);
    buf_c(&text, claimed.lease);
    rest = str_from(rest, 1);
    if (status / 100 != 2 && status != 0) {
        buf_str(&text, str_cut(&rest, '%'));
        buf_printf(&text, "%d", status);
        rest = str_from(rest, 1);
    }
    buf_str(&text, rest);
    CHECK_EQ(
        rig_ask(rig, rig_printf(rig, "POST /api/tasks/%s/%s", claimed.id, verb), buf_c_text(&text)),
        200);
}

static void attempt(struct rig *rig, int status)
{
    end(rig, claim(rig), status);
}

/* ---- Queues ---- */

TEST(a_new_queue_has_its_standards)
{
    CLOUD(rig);
    CHECK_STR(rig.body, "{\"name\":\"" NAME "\",\"rateLimits\":{\"maxDispatchesPerSecond\":500,"
                        "\"maxBurstSize\":100,\"maxConcurrentDispatches\":1000},\"retryConfig\":{"
                        "\"maxAttempts\":100,\"minBackoff\":\"0.100s\",\"maxBackoff\":\"3600s\","
                        "\"maxDoublings\":16},\"state\":\"RUNNING\"}");
    CHECK(str_starts(rig.head, STR("HTTP/1.1 200")));
    CHECK_EQ(rig_ask(&rig, "GET " QUEUE "?$alt=json%3Benum-encoding=int", ""), 200);
    CHECK_STR(rig_raw(&rig, "state"), "1");
    rig_ask(&rig, "POST " PLACE "/queues", "{'name':'" NAME "'}");
    check_google(&rig, 409, "ALREADY_EXISTS", "'Queue already exists'");
    rig_ask(&rig, "GET " PLACE "/queues/other?", "");
    check_google(&rig, 404, "NOT_FOUND", "Queue does not exist. If you just created");
}

TEST(limits_of_a_queue_are_those_of_errands_own)
{
    CLOUD(rig);
    CHECK_EQ(rig_ask(&rig, "GET /api/queues/p%2Fl%2Fq", ""), 200);
    CHECK_STR(rig_raw(&rig, "maxConcurrent"), "1000");
    CHECK_STR(rig_raw(&rig, "ratePerSecond"), "500");
    CHECK_STR(rig_raw(&rig, "burst"), "100");
    CHECK_EQ(rig_ask(&rig, "PUT /api/queues/p%2Fl%2Fq", "{'maxConcurrent':7}"), 200);
    CHECK_EQ(rig_ask(&rig, "POST /api/queues/p%2Fl%2Fq/pause", ""), 200);
    CHECK_EQ(rig_ask(&rig, "GET " QUEUE, ""), 200);
    CHECK_STR(rig_raw(&rig, "rateLimits.maxConcurrentDispatches"), "7");
    CHECK_STR(rig_text(&rig, "state"), "PAUSED");
    CHECK_EQ(rig_ask(&rig, "POST " QUEUE ":resume", "{}"), 200);
    CHECK_STR(rig_text(&rig, "state"), "RUNNING");
}

TEST(a_patch_changes_what_its_mask_names_and_makes_what_is_missing)
{
    CLOUD(rig);
    CHECK_EQ(rig_ask(&rig,
                     "PATCH " QUEUE
                     "?updateMask=rate_limits.max_dispatches_per_second%2CretryConfig",
                     "{'rateLimits':{'maxDispatchesPerSecond':'1','maxConcurrentDispatches':3},"
                     "'retry_config':{'max_attempts':5,'min_backoff':'10s','maxBackoff':null}}"),
             200);
    CHECK_STR(rig_raw(&rig, "rateLimits.maxDispatchesPerSecond"), "1");
    CHECK_STR(rig_raw(&rig, "rateLimits.maxBurstSize"), "10");
    CHECK_STR(rig_raw(&rig, "rateLimits.maxConcurrentDispatches"), "1000");
    CHECK_STR(rig_raw(&rig, "retryConfig"),
              "{\"maxAttempts\":5,\"minBackoff\":\"10s\",\"maxBackoff\":\"3600s\","
              "\"maxDoublings\":16}");
    /* The client sends the text "" where nothing is set. */
    CHECK_EQ(rig_ask(&rig, "PATCH " QUEUE "?updateMask=retry_config.max_attempts", "''"), 200);
    CHECK_STR(rig_raw(&rig, "retryConfig.maxAttempts"), "100");
    CHECK_STR(rig_text(&rig, "retryConfig.minBackoff"), "10s");
    CHECK_EQ(rig_ask(&rig, "PATCH " QUEUE, "{'rateLimits':{'maxConcurrentDispatches':3}}"), 200);
    CHECK_STR(rig_raw(&rig, "rateLimits.maxDispatchesPerSecond"), "500");
    CHECK_STR(rig_raw(&rig, "rateLimits.maxConcurrentDispatches"), "3");
    CHECK_STR(rig_text(&rig, "retryConfig.minBackoff"), "0.100s");
    CHECK_EQ(rig_ask(&rig, "PATCH " PLACE "/queues/new?updateMask=retryConfig",
                     "{'retryConfig':{'maxAttempts':-1}}"),
             200);
    CHECK_STR(rig_raw(&rig, "retryConfig.maxAttempts"), "-1");
    rig_ask(&rig, "PATCH " QUEUE "?updateMask=rate_limits.colour", "{}");
    check_google(&rig, 400, "INVALID_ARGUMENT", "rate_limits.colour");
}

TEST(wrong_settings_are_refused_in_the_words_that_people_look_for)
{
    static const char *const wrong[][2] = {
        {"'rateLimits':{'maxDispatchesPerSecond':501}",
         "RateLimits.maxDispatchesPerSecond must be less than or equal to 500."},
        {"'rateLimits':{'maxDispatchesPerSecond':-1}",
         "RateLimits.maxDispatchesPerSecond cannot be negative."},
        {"'rateLimits':{'maxConcurrentDispatches':5001}",
         "RateLimits.maxConcurrentDispatches must be less than or equal to 5000."},
        {"'retryConfig':{'maxAttempts':-2}",
         "RetryConfig.maxAttempts must be greater or equal to -1."},
        {"'retryConfig':{'maxDoublings':-1}", "RetryConfig.maxDoublings cannot be negative."},
        {"'retryConfig':{'minBackoff':'7200s'}",
         "RetryConfig.minBackoff must be less than or equal to RetryConfig.maxBackoff."},
        {"'retryConfig':{'minBackoff':'-1s'}", "retryConfig.minBackoff must not be negative"},
        {"'retryConfig':{'minBackoff':5}", "retryConfig.minBackoff"},
        {"'colour':1", "colour is not a known field"},
    };
    RIG(rig);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        rig_ask(&rig, "POST " PLACE "/queues",
                rig_printf(&rig, "{'name':'" NAME "',%s}", wrong[i][0]));
        check_google(&rig, 400, "INVALID_ARGUMENT", wrong[i][1]);
    }
    static const char *const names[] = {"", "q", "projects/p/locations/l/queues/a_b",
                                        NAME "/tasks/t"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        rig_ask(&rig, "POST " PLACE "/queues", rig_printf(&rig, "{'name':'%s'}", names[i]));
        check_google(&rig, 400, "INVALID_ARGUMENT", "Queue name must be formatted");
    }
    rig_ask(&rig, "POST " PLACE "/queues", "{'name':'projects/p/locations/x/queues/q'}");
    check_google(&rig, 400, "INVALID_ARGUMENT", "must begin with the parent");
    CHECK_EQ(rig_ask(&rig, "GET " PLACE "/queues", ""), 200);
    CHECK_STR(rig.body, "{\"queues\":[]}");
    rig_ask(&rig, "GET /v2/nothing", "");
    check_google(&rig, 404, "NOT_FOUND", NULL);
    rig_ask(&rig, "GET " PLACE "/queues?colour=1", "");
    check_google(&rig, 400, "INVALID_ARGUMENT", "colour");
}

TEST(queues_are_listed_by_name_in_pages)
{
    RIG(rig);
    static const char *const names[] = {"c", "a", "d", "b"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        rig_ask(&rig, rig_printf(&rig, "PATCH " PLACE "/queues/%s", names[i]), "{}");
    }
    CHECK_EQ(rig_ask(&rig, "POST " PLACE "/queues/c:pause", ""), 200);
    CHECK_EQ(rig_ask(&rig, "GET " PLACE "/queues?pageSize=3", ""), 200);
    CHECK_STR(rig_text(&rig, "queues.0.name"), "projects/p/locations/l/queues/a");
    CHECK_STR(rig_text(&rig, "queues.2.name"), "projects/p/locations/l/queues/c");
    CHECK_STR(rig_text(&rig, "nextPageToken"), "c");
    CHECK_EQ(rig_ask(&rig, "GET " PLACE "/queues?page_size=3&page_token=c", ""), 200);
    CHECK_STR(rig_text(&rig, "queues.0.name"), "projects/p/locations/l/queues/d");
    CHECK(str_absent(rig_raw(&rig, "nextPageToken")));
    CHECK_EQ(rig_ask(&rig, "GET " PLACE "/queues?filter=state%3A%20PAUSED", ""), 200);
    CHECK_STR(rig_text(&rig, "queues.0.name"), "projects/p/locations/l/queues/c");
    CHECK(str_absent(rig_raw(&rig, "queues.1")));
    rig_ask(&rig, "GET " PLACE "/queues?filter=colour", "");
    check_google(&rig, 400, "INVALID_ARGUMENT", "filter");
    CHECK_EQ(rig_ask(&rig, "GET /v1/projects/p/locations", ""), 200);
    CHECK_STR(rig.body,
              "{\"locations\":[{\"name\":\"projects/p/locations/l\",\"locationId\":\"l\"}]}");
}

/* ---- Making tasks ---- */

TEST(a_task_is_an_ordinary_one_with_its_request_beside_it)
{
    CLOUD(rig);
    CHECK_EQ(
        rig_ask(
            &rig, "POST " QUEUE "/tasks?$alt=json%3Benum-encoding=int",
            "{'task':{'httpRequest':{'headers':{'Content-Type':'application/json','Host':'x'},"
            "'url':'https://example.com/tasks?x=1','httpMethod':4,"
            "'body':'eyJoZWxsbyI6InfDtnJsZCJ9'},'scheduleTime':'2027-03-01T10:00:00.123456+00:30',"
            "'dispatchDeadline':'20.5s'},'responseView':2}"),
        200);
    CHECK_STR(rig_raw(&rig, "httpRequest"),
              "{\"url\":\"https://example.com/tasks?x=1\",\"httpMethod\":4,\"headers\":{"
              "\"Content-Type\":\"application/json\",\"User-Agent\":\"Google-Cloud-Tasks\"},"
              "\"body\":\"eyJoZWxsbyI6InfDtnJsZCJ9\"}");
    CHECK_STR(rig_text(&rig, "scheduleTime"), "2027-03-01T09:30:00.123Z");
    CHECK_STR(rig_text(&rig, "createTime"), "2027-03-01T09:00:00Z");
    CHECK_STR(rig_text(&rig, "dispatchDeadline"), "20.500s");
    CHECK_STR(rig_raw(&rig, "dispatchCount"), "0");
    CHECK_STR(rig_raw(&rig, "view"), "2");
    const char *name = rig_printf(&rig, STR_FMT, STR_ARG(rig_text(&rig, "name")));
    CHECK_EQ(rig_ask(&rig, "GET /api/tasks?queue=p/l/q", ""), 200);
    CHECK_STR(rig_text(&rig, "0.externalId"), name);
    CHECK_STR(rig_text(&rig, "0.taskType"), "cloudtasks");
    CHECK_STR(rig_text(&rig, "0.state"), "SCHEDULED");
    CHECK_STR(rig_raw(&rig, "0.timeoutMs"), "20500");
    CHECK_STR(rig_raw(&rig, "0.maxRetries"), "99");
    CHECK_STR(rig_raw(&rig, "0.payload"), "{\"hello\":\"w\xc3\xb6rld\"}");
    CHECK_STR(rig_text(&rig, "0.metadata.httpRequest.url"), "https://example.com/tasks?x=1");
    rig_ask(&rig, "POST /api/tasks", "{'taskType':'cloudtasks'}");
    rig_check_error(&rig, 400, "invalid_argument", "taskType");
}

TEST(a_wrong_task_is_refused_and_nothing_is_left_behind)
{
    static const char *const wrong[][2] = {
        {"", "HttpRequest.url is required."},
        {"'httpRequest':{}", "HttpRequest.url is required."},
        {"'httpRequest':{'url':'ftp://x/'}",
         "HttpTarget.url must start with 'http://' or 'https://'."},
        {"'httpRequest':{'url':'http://'}", "HttpRequest.url"},
        {"'httpRequest':{'url':'http://u:p@example.com/'}", "HttpRequest.url"},
        {"'httpRequest':{'url':'http://127.0.0.1/'}", "allow_private"},
        {"'httpRequest':{'url':'http://[::1]:80/'}", "allow_private"},
        {"'httpRequest':{'url':'http://169.254.169.254/'}", "HttpRequest.url"},
        {"'httpRequest':{'url':'http://x/','httpMethod':'GET','body':'aGk='}", "HttpRequest.body"},
        {"'httpRequest':{'url':'http://x/','httpMethod':'FETCH'}", "httpMethod"},
        {"'httpRequest':{'url':'http://x/','body':'a'}", "base64"},
        {"'httpRequest':{'url':'http://x/','headers':{'a b':'c'}}", "headers.a b"},
        {"'httpRequest':{'url':'http://x/','oidcToken':{'serviceAccountEmail':'a@b'}}",
         "oidcToken is not supported"},
        {"'httpRequest':{'url':'http://x/','oauthToken':{}}", "oauthToken is not supported"},
        {"'appEngineHttpRequest':{'relativeUri':'/'}", "appEngineHttpRequest is not supported"},
        {URL ",'dispatchDeadline':'14.9s'", "Task.dispatchDeadline must be between [15s, 30m]."},
        {URL ",'dispatchDeadline':'1801s'", "Task.dispatchDeadline must be between [15s, 30m]."},
        {URL ",'scheduleTime':'tomorrow'", "scheduleTime"},
        {URL ",'name':'x'", "Task name must be formatted"},
        {URL ",'name':'" NAME "/tasks/a.b'", "Task ID \\\"a.b\\\" can contain only letters"},
        {URL ",'name':'projects/p/locations/l/queues/r/tasks/t'",
         "The queue name from request ('" NAME "') must be the same as the queue name in the named "
         "task ('projects/p/locations/l/queues/r')."},
        {URL ",'colour':1", "colour"},
    };
    CLOUD(rig);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        rig_ask(&rig, "POST " QUEUE "/tasks", rig_printf(&rig, "{'task':{%s}}", wrong[i][0]));
        CHECK_EQ(rig.status, 400);
        CHECK_STR(rig_text(&rig, "error.status"), "INVALID_ARGUMENT");
        CHECK(memmem(rig.body.ptr, rig.body.len, wrong[i][1], strlen(wrong[i][1])) != NULL);
    }
    rig_ask(&rig, "POST " PLACE "/queues/none/tasks", "{'task':{" URL "}}");
    check_google(&rig, 404, "NOT_FOUND", "Queue does not exist.");
    CHECK_EQ(rig_ask(&rig, "GET /api/tasks", ""), 200);
    CHECK_STR(rig.body, "[]");
}

TEST(a_name_is_used_once_until_its_tombstone_is_over)
{
    CLOUD(rig);
    const char *body = "{'task':{'name':'" NAME "/tasks/t'," URL "}}";
    make_task(&rig, ",'name':'" NAME "/tasks/t'");
    rig_ask(&rig, "POST " QUEUE "/tasks", body);
    check_google(&rig, 409, "ALREADY_EXISTS", "Requested entity already exists");
    attempt(&rig, 200);
    CHECK_EQ(look_at(&rig, "t"), 404);
    CHECK(rig_has(&rig, "existed recently"));
    wind_ms(&rig, RIG_TOMBSTONE_MS - 1);
    rig_ask(&rig, "POST " QUEUE "/tasks", body);
    check_google(&rig, 409, "ALREADY_EXISTS", NULL);
    wind_ms(&rig, 1);
    CHECK_EQ(look_at(&rig, "t"), 404);
    CHECK(rig_has(&rig, "Requested entity was not found."));
    CHECK_EQ(rig_ask(&rig, "POST " QUEUE "/tasks", body), 200);
    CHECK_EQ(look_at(&rig, "t"), 200);
}

TEST(a_queue_that_was_made_anew_knows_no_old_names)
{
    CLOUD(rig);
    make_task(&rig, ",'name':'" NAME "/tasks/t'");
    CHECK_EQ(rig_ask(&rig, "POST " QUEUE ":pause", ""), 200);
    CHECK_EQ(rig_ask(&rig, "DELETE " QUEUE, ""), 200);
    CHECK_STR(rig.body, "{}");
    rig_ask(&rig, "DELETE " QUEUE, "");
    check_google(&rig, 404, "NOT_FOUND", "Requested entity was not found.");
    rig_ask(&rig, "POST " QUEUE "/tasks", "{'task':{" URL "}}");
    check_google(&rig, 404, "NOT_FOUND", "Queue does not exist.");
    CHECK_EQ(rig_ask(&rig, "GET /api/tasks", ""), 200);
    CHECK_STR(rig_text(&rig, "0.state"), "CANCELLED");
    CHECK_STR(rig_text(&rig, "0.cancelReason"), "queue deleted");
    make_queue(&rig, "");
    CHECK_STR(rig_text(&rig, "state"), "RUNNING");
    CHECK_EQ(look_at(&rig, "t"), 404);
    make_task(&rig, ",'name':'" NAME "/tasks/t'");
    CHECK_EQ(look_at(&rig, "t"), 200);
}

/* ---- Attempts ---- */

TEST(the_queue_says_when_a_task_is_tried_again)
{
    static const int waits_s[] = {10, 20, 40, 80, 160, 240, 300, 300};
    RIG(rig);
    make_queue(&rig, ",'retryConfig':{'minBackoff':'10s','maxBackoff':'300s','maxDoublings':3}");
    const char *task = make_task(&rig, "");
    int64_t now_ms = RIG_START_MS;
    for (size_t i = 0; i < ARRAY_LEN(waits_s); i++) {
        attempt(&rig, 503);
        CHECK_EQ(look_at(&rig, task), 200);
        now_ms += waits_s[i] * SECOND_MS;
        SCOPED(buf_fini) struct buf at = BUF_INIT(64);
        cloud_time_write(&at, now_ms);
        CHECK_STR(rig_text(&rig, "scheduleTime"), buf_c_text(&at));
        CHECK_STR(rig_raw(&rig, "dispatchCount"), rig_printf(&rig, "%zu", i + 1));
        wind_ms(&rig, waits_s[i] * SECOND_MS);
    }
    /* Another setting holds for what waits already. */
    CHECK_EQ(rig_ask(&rig, "PATCH " QUEUE "?updateMask=retryConfig.maxAttempts",
                     "{'retryConfig':{'maxAttempts':3}}"),
             200);
    attempt(&rig, 503);
    CHECK_EQ(look_at(&rig, task), 404);
    CHECK_EQ(rig_ask(&rig, "GET /api/tasks?state=FAILED", ""), 200);
    CHECK_STR(rig_raw(&rig, "0.attempt"), "9");
}

TEST(attempts_are_told_with_their_times_and_answers)
{
    CLOUD(rig);
    const char *task = make_task(&rig, ",'scheduleTime':'2027-03-01T09:00:10Z'");
    wind_ms(&rig, 12 * SECOND_MS);
    struct rig_claimed running = claim(&rig);
    CHECK_EQ(look_at(&rig, task), 200);
    CHECK_STR(rig_raw(&rig, "lastAttempt"), "{\"scheduleTime\":\"2027-03-01T09:00:10Z\","
                                            "\"dispatchTime\":\"2027-03-01T09:00:12Z\"}");
    CHECK_STR(rig_raw(&rig, "firstAttempt"), "{\"dispatchTime\":\"2027-03-01T09:00:12Z\"}");
    wind_ms(&rig, SECOND_MS);
    end(&rig, running, 500);
    CHECK_EQ(look_at(&rig, task), 200);
    CHECK_STR(
        rig_raw(&rig, "lastAttempt"),
        "{\"scheduleTime\":\"2027-03-01T09:00:10Z\",\"dispatchTime\":\"2027-03-01T09:00:12Z\","
        "\"responseTime\":\"2027-03-01T09:00:13Z\",\"responseStatus\":{\"code\":13,"
        "\"message\":\"INTERNAL(13): HTTP status code 500\"}}");
    CHECK_STR(rig_raw(&rig, "responseCount"), "1");
    wind_ms(&rig, SECOND_MS);
    attempt(&rig, 0);
    CHECK_EQ(look_at(&rig, task), 200);
    CHECK_STR(rig_raw(&rig, "responseCount"), "1");
    CHECK_STR(rig_raw(&rig, "dispatchCount"), "2");
    CHECK_STR(rig_text(&rig, "lastAttempt.responseStatus.message"), "UNAVAILABLE(14): refused");
    CHECK_STR(rig_raw(&rig, "firstAttempt"), "{\"dispatchTime\":\"2027-03-01T09:00:12Z\"}");
    wind_ms(&rig, SECOND_MS);
    (void)claim(&rig);
    wind_ms(&rig, CLOUD_DEADLINE_MS);
    CHECK_EQ(rig_ask(&rig, "GET /api/tasks", ""), 200);
    CHECK_STR(rig_raw(&rig, "0.attempt"), "3");
}

TEST(attempts_and_time_must_both_be_over)
{
    RIG(rig);
    make_queue(&rig, ",'retryConfig':{'maxAttempts':2,'maxRetryDuration':'25s','minBackoff':'10s',"
                     "'maxBackoff':'10s'}");
    const char *task = make_task(&rig, "");
    for (int i = 0; i < 3; i++) { /* at 0, 10 and 20 s: twice has passed, 25 s have not */
        attempt(&rig, 500);
        CHECK_EQ(look_at(&rig, task), 200);
        wind_ms(&rig, 10 * SECOND_MS);
    }
    attempt(&rig, 500);
    CHECK_EQ(look_at(&rig, task), 404);
    CHECK_EQ(rig_ask(&rig, "GET /api/tasks?state=FAILED", ""), 200);
    CHECK_STR(rig_raw(&rig, "0.attempt"), "4");
}

TEST(a_retry_by_hand_begins_anew_and_keeps_the_name)
{
    RIG(rig);
    make_queue(&rig, ",'retryConfig':{'maxAttempts':1}");
    make_task(&rig, ",'name':'" NAME "/tasks/t'");
    struct rig_claimed claimed = claim(&rig);
    end(&rig, claimed, 500);
    CHECK_EQ(look_at(&rig, "t"), 404);
    wind_ms(&rig, RIG_TOMBSTONE_MS / 2);
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/retry", claimed.id), ""), 200);
    CHECK_EQ(look_at(&rig, "t"), 200);
    wind_ms(&rig, RIG_TOMBSTONE_MS);
    rig_ask(&rig, "POST " QUEUE "/tasks", "{'task':{'name':'" NAME "/tasks/t'," URL "}}");
    check_google(&rig, 409, "ALREADY_EXISTS", NULL);
}

/* ---- Pausing, purging, deleting, running ---- */

TEST(a_paused_queue_takes_tasks_and_sends_none_not_even_retries)
{
    CLOUD(rig);
    make_task(&rig, "");
    attempt(&rig, 500);
    CHECK_EQ(rig_ask(&rig, "POST " QUEUE ":pause", "{}"), 200);
    make_task(&rig, "");
    wind_ms(&rig, HOUR_MS);
    CHECK_EQ(rig_ask(&rig, "POST /api/claim", "{'workerId':'w','queues':['p/l/q'],'max':9}"), 200);
    CHECK_STR(rig.body, "{\"tasks\":[]}");
    CHECK_EQ(rig_ask(&rig, "POST " QUEUE ":resume", "{}"), 200);
    CHECK_EQ(rig_ask(&rig, "POST /api/claim", "{'workerId':'w','queues':['p/l/q'],'max':9}"), 200);
    CHECK(!str_absent(rig_raw(&rig, "tasks.1")));
}

TEST(a_purge_takes_what_is_there_and_lets_what_runs_end)
{
    CLOUD(rig);
    make_task(&rig, "");
    struct rig_claimed good = claim(&rig);
    const char *running = make_task(&rig, "");
    struct rig_claimed bad = claim(&rig);
    const char *waiting = make_task(&rig, ",'scheduleTime':'2027-04-01T00:00:00Z'");
    CHECK_EQ(rig_ask(&rig, "POST " QUEUE ":purge", "{}"), 200);
    CHECK_STR(rig_text(&rig, "purgeTime"), "2027-03-01T09:00:00Z");
    const char *later = make_task(&rig, "");
    CHECK_EQ(look_at(&rig, waiting), 404);
    CHECK_EQ(look_at(&rig, running), 404);
    CHECK_EQ(look_at(&rig, later), 200);
    CHECK_EQ(rig_ask(&rig, "GET " QUEUE "/tasks", ""), 200);
    CHECK(str_absent(rig_raw(&rig, "tasks.1")));
    end(&rig, good, 200);
    CHECK_STR(rig_text(&rig, "state"), "COMPLETED");
    end(&rig, bad, 500);
    CHECK_STR(rig_text(&rig, "state"), "CANCELLED");
    CHECK_STR(rig_text(&rig, "cancelReason"), "purged");
    attempt(&rig, 500);
    CHECK_EQ(look_at(&rig, later), 200);
}

TEST(a_task_is_deleted_whatever_it_does)
{
    CLOUD(rig);
    const char *waiting = make_task(&rig, ",'scheduleTime':'2027-04-01T00:00:00Z'");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "DELETE " QUEUE "/tasks/%s", waiting), ""), 200);
    CHECK_STR(rig.body, "{}");
    rig_ask(&rig, rig_printf(&rig, "DELETE " QUEUE "/tasks/%s", waiting), "");
    check_google(&rig, 404, "NOT_FOUND", "existed recently");
    const char *running = make_task(&rig, "");
    struct rig_claimed claimed = claim(&rig);
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "DELETE " QUEUE "/tasks/%s", running), ""), 200);
    CHECK_EQ(look_at(&rig, running), 404);
    rig_ask(&rig, rig_printf(&rig, "POST " QUEUE "/tasks/%s:run", running), "{}");
    check_google(&rig, 404, "NOT_FOUND", NULL);
    end(&rig, claimed, 500);
    CHECK_STR(rig_text(&rig, "state"), "CANCELLED");
    CHECK_STR(rig_text(&rig, "cancelReason"), "deleted");
    rig_ask(&rig, "DELETE " QUEUE "/tasks/never", "");
    check_google(&rig, 404, "NOT_FOUND", "Requested entity was not found.");
}

TEST(a_task_that_is_run_is_due_now)
{
    CLOUD(rig);
    const char *task = make_task(&rig, ",'scheduleTime':'2027-04-01T00:00:00Z'");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST " QUEUE "/tasks/%s:run", task),
                     "{'responseView':'FULL'}"),
             200);
    CHECK_STR(rig_text(&rig, "scheduleTime"), "2027-03-01T09:00:00Z");
    CHECK_STR(rig_text(&rig, "view"), "FULL");
    attempt(&rig, 500);
    CHECK_EQ(look_at(&rig, task), 200);
    CHECK_STR(rig_text(&rig, "scheduleTime"), "2027-03-01T09:00:00.100Z");
    rig_ask(&rig, "POST " QUEUE "/tasks/never:run", "");
    check_google(&rig, 404, "NOT_FOUND", NULL);
}

/* ---- Lists ---- */

TEST(tasks_are_listed_in_pages_with_or_without_bodies)
{
    CLOUD(rig);
    SCOPED(buf_fini) struct buf body = BUF_INIT(MIB);
    for (int i = 0; i < 5; i++) {
        buf_clear(&body);
        buf_printf(&body, "{'task':{'httpRequest':{'url':'https://example.com/%d','body':'", i);
        for (int j = 0; j < (i == 3 ? 5000 : 1); j++) {
            buf_c(&body, "aGk5");
        }
        buf_c(&body, "'}}}");
        CHECK_EQ(rig_ask(&rig, "POST " QUEUE "/tasks", buf_c_text(&body)), 200);
    }
    CHECK_EQ(rig_ask(&rig, "GET " QUEUE "/tasks?pageSize=2&responseView=FULL", ""), 200);
    CHECK_STR(rig_text(&rig, "tasks.0.httpRequest.url"), "https://example.com/4");
    CHECK_EQ(rig_text(&rig, "tasks.1.httpRequest.body").len, 20000);
    CHECK(str_absent(rig_raw(&rig, "tasks.2")));
    const char *next = rig_printf(&rig, STR_FMT, STR_ARG(rig_text(&rig, "nextPageToken")));
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET " QUEUE "/tasks?pageToken=%s", next), ""), 200);
    CHECK_STR(rig_text(&rig, "tasks.0.httpRequest.url"), "https://example.com/2");
    CHECK_STR(rig_text(&rig, "tasks.2.httpRequest.url"), "https://example.com/0");
    CHECK(str_absent(rig_raw(&rig, "tasks.0.httpRequest.body")));
    CHECK(str_absent(rig_raw(&rig, "nextPageToken")));
    rig_ask(&rig, "GET " QUEUE "/tasks?pageToken=x", "");
    check_google(&rig, 400, "INVALID_ARGUMENT", "pageToken");
    rig_ask(&rig, "GET " QUEUE "/tasks?pageSize=-1", "");
    check_google(&rig, 400, "INVALID_ARGUMENT", "pageSize");
    rig_ask(&rig, "GET " PLACE "/queues/none/tasks", "");
    check_google(&rig, 404, "NOT_FOUND", "Queue does not exist.");
}

/* ---- Google's own limits ---- */

TEST(without_googles_limits_a_task_may_be_set_years_ahead)
{
    CLOUD(rig);
    const char *task = make_task(&rig, ",'scheduleTime':'2031-03-01T09:00:00Z'");
    wind_ms(&rig, 366 * DAY_MS);
    CHECK_EQ(look_at(&rig, task), 200);
}

TEST(with_googles_limits_a_task_is_set_30_days_ahead_and_lives_31)
{
    SCOPED(rig_close) struct rig rig;
    rig_open_google(&rig);
    make_queue(&rig, ",'retryConfig':{'minBackoff':'600000s','maxBackoff':'600000s'}");
    rig_ask(&rig, "POST " QUEUE "/tasks",
            "{'task':{" URL ",'scheduleTime':'2027-03-31T09:00:00.001Z'}}");
    check_google(&rig, 400, "INVALID_ARGUMENT",
                 "Schedule time must be no more than 720h in the future.");
    const char *far = make_task(&rig, ",'scheduleTime':'2027-03-31T09:00:00Z'");
    const char *paused = make_task(&rig, "");
    for (int i = 0; i < 4; i++) { /* days 0, 7, 14, 21, … */
        attempt(&rig, 500);
        wind_ms(&rig, 600000 * SECOND_MS);
    }
    CHECK_EQ(look_at(&rig, paused), 200);
    attempt(&rig, 500); /* the next would come after 31 days */
    CHECK_EQ(look_at(&rig, paused), 404);
    CHECK_EQ(rig_ask(&rig, "POST " QUEUE ":pause", ""), 200);
    wind_ms(&rig, 4 * DAY_MS);
    CHECK_EQ(look_at(&rig, far), 404);
}
