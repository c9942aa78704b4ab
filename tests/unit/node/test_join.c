/*
 * Machines that come from outside: their data is shipped, they may be killed,
 * and the hash stays that of one perfect machine.  They are processes of this
 * test that run what `muster join` runs.
 */
#include "node/worker/worker_node.h"

#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "node/host/ways.h"
#include "node/run/client.h"
#include "node/runs.h"
#include "os/net/link.h"
#include "os/net/net.h"
#include "os/net/token.h"
#include "os/run/loop.h"
#include "os/run/process.h"

#define JOINERS 3u

struct joiner {
    const char *folder;
    char name[16];
    const char *token_file;
    const struct net_address *first; /* A way before the others; or NULL. */
};

/* What a test does while the run goes on. */
struct outside {
    struct runs *runs;
    uint32_t wanted; /* Joiners to start on the first tick. */
    uint32_t started;
    int pid[JOINERS];
    const char *token_file;
    uint32_t kill_step; /* Kill joiner 0 then; 0 = never. */
    uint32_t leave_step;
    uint32_t ask_step;
    struct msg_ask ask;
    char *answer;
    bool relayed; /* A relay that babbles is in front of the coordinator. */
    struct net_listener babbler;
    int babbler_pid;
};

static int joiner_main(void *context)
{
    const struct joiner *joiner = context;
    struct ways ways;
    const struct join_options options = {.ways = &ways,
                                         .name = joiner->name,
                                         .threads = 1,
                                         .give_up_us = 20 * SECOND_US};
    struct why why = {0};

    if (ways_open(joiner->folder, joiner->token_file, false, &ways, &why) !=
        ERR_OK)
        return 2;
    if (joiner->first != NULL) {
        ways.addresses[ways.count++] = ways.addresses[0];
        ways.addresses[0] = *joiner->first;
    }
    if (join_run(&options, &why) == ERR_OK)
        return 0;
    (void)!write(STDERR_FILENO, why.text, strlen(why.text));
    return 1;
}

static void babble(void *context, struct link *link, enum plane plane,
                   const uint8_t *data, size_t size)
{
    static const uint8_t nonsense[] = {255, 254, 253, 252, 251};

    (void)context;
    (void)plane;
    (void)data;
    (void)size;
    link_send(link, PLANE_CONTROL, nonsense, sizeof nonsense);
}

static void ignore_up(void *context, struct link *link)
{
    (void)context;
    (void)link;
}

static void ignore_down(void *context, struct link *link, enum link_end how,
                        const char *why)
{
    (void)context;
    (void)link;
    (void)how;
    (void)why;
}

/* Has the key, takes everybody in, and answers with nonsense. */
static int babbler_main(void *context)
{
    static const struct link_events events = {
        .up = ignore_up, .message = babble, .down = ignore_down};
    struct outside *outside = context;
    struct link_options options = {.events = &events};
    struct link_hub *hub;
    struct ways ways;
    struct why why = {0};

    if (ways_open(outside->runs->out, outside->token_file, false, &ways,
                  &why) != ERR_OK ||
        loop_new(&options.loop) != ERR_OK)
        return 1;
    options.token = &ways.token;
    if (link_hub_new(&options, &hub) != ERR_OK ||
        link_hub_listen(hub, outside->babbler.fd) != ERR_OK)
        return 1;
    loop_run(options.loop); /* Until it is killed. */
    return 1;
}

static void start_babbler(struct outside *outside)
{
    const struct process_start start = {
        .title = "babbler", .main = babbler_main, .context = outside};
    struct net_address any;
    struct why why = {0};

    if (!outside->relayed || outside->babbler_pid != 0)
        return;
    assert_int_equal(net_parse("", &any, &why), ERR_OK);
    assert_int_equal(net_listen(&any, true, &outside->babbler, &why), ERR_OK);
    assert_int_equal(process_fork(&start, &outside->babbler_pid, NULL), ERR_OK);
}

static void end_babbler(struct outside *outside)
{
    int status;

    process_kill(outside->babbler_pid);
    assert_int_equal(waitpid(outside->babbler_pid, &status, 0),
                     outside->babbler_pid);
    assert_true(WIFSIGNALED(status)); /* It was there to the end. */
    net_close(&outside->babbler);
}

static void start_joiners(struct outside *outside)
{
    start_babbler(outside);
    while (outside->started < outside->wanted) {
        struct joiner joiner = {
            .folder = outside->runs->out,
            .token_file = outside->token_file,
            .first = outside->relayed ? &outside->babbler.local : NULL};
        const struct process_start start = {
            .title = "joiner", .main = joiner_main, .context = &joiner};

        (void)snprintf(joiner.name, sizeof joiner.name, "far-%u",
                       outside->started);
        assert_int_equal(
            process_fork(&start, &outside->pid[outside->started], NULL),
            ERR_OK);
        outside->started++;
    }
}

static void watch(void *context, const struct trace *trace)
{
    struct outside *outside = context;
    const uint32_t step = trace == NULL ? 0 : trace->key.step;

    start_joiners(outside);
    if (trace == NULL || trace->kind != TRACE_COMMIT)
        return;
    if (step == outside->kill_step)
        process_kill(outside->pid[0]);
    if (step == outside->leave_step)
        process_terminate(outside->pid[0]);
    if (step == outside->ask_step && outside->answer == NULL)
        assert_int_equal(client_ask(outside->runs->out, outside->token_file,
                                    &outside->ask, &outside->answer, NULL),
                         ERR_OK);
}

static void wait_joiners(struct outside *outside, int first_signal)
{
    for (uint32_t i = 0; i < outside->started; i++) {
        int status;

        assert_int_equal(waitpid(outside->pid[i], &status, 0), outside->pid[i]);
        if (i == 0 && first_signal != 0) {
            assert_true(WIFSIGNALED(status));
            assert_int_equal(WTERMSIG(status), first_signal);
        } else {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
        }
    }
}

static void open_outside(struct outside *outside, struct runs *runs,
                         uint32_t steps, uint32_t local, uint32_t joiners)
{
    struct why why = {0};

    runs_open(runs, steps);
    memset(outside, 0, sizeof *outside);
    outside->runs = runs;
    outside->wanted = joiners;
    runs->options.local_workers = local;
    runs->options.slots = local > 0 ? local : joiners;
    runs->options.listen = "127.0.0.1:0";
    runs->options.watch = watch;
    runs->options.watch_context = outside;
    runs_code(runs, "steal", runs->options.slots > 1 ? 1 : 0);
    /* Slow enough that a joiner takes part. */
    assert_int_equal(delay_parse("exp:0.002", 1, &runs->options.delay, &why),
                     ERR_OK);
}

/* Who is told nonsense at its first address goes on to the second. */
static void test_past_a_babbling_relay(void **state)
{
    struct train_result result;
    struct outside outside;
    struct runs runs;

    (void)state;
    open_outside(&outside, &runs, 40, 0, 2);
    outside.relayed = true;
    runs_expect_same(&runs, &result);
    wait_joiners(&outside, 0);
    end_babbler(&outside);
    assert_int_equal(result.stats.joined, 2);
    runs_close(&runs);
}

static void test_only_joiners(void **state)
{
    struct train_result result;
    struct outside outside;
    struct runs runs;

    (void)state;
    open_outside(&outside, &runs, 40, 0, 3);
    runs_expect_same(&runs, &result);
    wait_joiners(&outside, 0);
    assert_int_equal(result.stats.joined, 3);
    assert_int_equal(result.stats.died, 0);
    runs_close(&runs);
}

static void test_joiners_beside_local_workers(void **state)
{
    struct train_result result;
    struct outside outside;
    struct runs runs;

    (void)state;
    open_outside(&outside, &runs, 150, 2, 2);
    runs_expect_same(&runs, &result);
    wait_joiners(&outside, 0);
    assert_int_equal(result.stats.joined, 4);
    runs_close(&runs);
}

static void test_a_joiner_is_killed(void **state)
{
    struct train_result result;
    struct outside outside;
    struct runs runs;

    (void)state;
    open_outside(&outside, &runs, 60, 0, 3);
    outside.kill_step = 10;
    runs_expect_same(&runs, &result);
    wait_joiners(&outside, SIGKILL);
    assert_int_equal(result.stats.died, 1);
    runs_close(&runs);
}

static void test_a_joiner_leaves(void **state)
{
    struct train_result result;
    struct outside outside;
    struct runs runs;

    (void)state;
    open_outside(&outside, &runs, 60, 0, 3);
    outside.leave_step = 10;
    runs_expect_same(&runs, &result);
    wait_joiners(&outside, 0);
    assert_int_equal(result.stats.left, 1);
    assert_int_equal(result.stats.died, 0);
    runs_close(&runs);
}

static void test_joiners_outlive_the_coordinator(void **state)
{
    struct train_result result;
    struct outside outside;
    struct runs runs;

    (void)state;
    open_outside(&outside, &runs, 60, 0, 3);
    runs_chaos(&runs, "kill:coordinator@10,kill:coordinator@25");
    runs_expect_same(&runs, &result);
    wait_joiners(&outside, 0);
    assert_int_equal(result.coordinator_deaths, 2);
    assert_int_equal(result.stats.joined, 3);
    runs_close(&runs);
}

static void test_sealed(void **state)
{
    struct train_result result;
    struct outside outside;
    struct runs runs;
    struct why why = {0};
    char path[300];

    (void)state;
    open_outside(&outside, &runs, 40, 0, 2);
    (void)snprintf(path, sizeof path, "%s/cluster", runs.out);
    assert_int_equal(token_new(path, NULL, NULL, &why), ERR_OK);
    outside.token_file = path;
    runs.options.token_file = path;
    runs_expect_same(&runs, &result);
    wait_joiners(&outside, 0);
    assert_int_equal(result.stats.joined, 2);
    runs_close(&runs);
}

static void test_status(void **state)
{
    struct train_result result;
    struct outside outside;
    struct runs runs;
    json_t *answer, *workers;

    (void)state;
    open_outside(&outside, &runs, 60, 3, 0);
    outside.ask_step = 10;
    outside.ask.what = ASK_STATUS;
    runs_expect_same(&runs, &result);
    assert_non_null(outside.answer);
    answer = json_loads(outside.answer, 0, NULL);
    assert_non_null(answer);
    assert_true(json_integer_value(json_object_get(answer, "step")) >= 10);
    assert_int_equal(json_integer_value(json_object_get(answer, "steps")), 60);
    workers = json_object_get(answer, "workers");
    assert_int_equal(json_array_size(workers), 3);
    assert_true(
        json_is_string(json_object_get(json_array_get(workers, 0), "state")));
    json_decref(answer);
    mem_free(outside.answer);
    runs_close(&runs);
}

static void test_stop(void **state)
{
    struct train_result result;
    struct outside outside;
    struct runs runs;
    struct why why = {0};

    (void)state;
    open_outside(&outside, &runs, 1000, 3, 0);
    outside.ask_step = 10;
    outside.ask.what = ASK_STOP;
    if (train_run(&runs.options, &result, &why) != ERR_OK)
        fail_msg("%s", why.text);
    assert_false(result.finished);
    assert_true(result.steps < 1000);
    train_result_close(&result);
    mem_free(outside.answer);
    runs_close(&runs);
}

static void test_nobody_answers(void **state)
{
    const struct msg_ask ask = {.what = ASK_STATUS};
    struct why why = {0};
    char *answer;

    (void)state;
    assert_int_not_equal(client_ask("no-such-folder-or-host.invalid:1", NULL,
                                    &ask, &answer, &why),
                         ERR_OK);
    assert_true(why.text[0] != '\0');
}

static void test_join_mistakes(void **state)
{
    struct why why = {0};
    struct ways ways = {.addresses = {{.host = "127.0.0.1", .port = 1}},
                        .count = 1,
                        .token = {.name = TOKEN_CLUSTER}};
    struct join_options options = {.ways = &ways, .threads = 1};

    (void)state;
    options.name = "a b";
    assert_int_equal(join_run(&options, &why), ERR_FORMAT);
    options.name = NULL;
    options.give_up_us = 100 * MS_US;
    assert_int_equal(join_run(&options, &why), ERR_TIMEOUT);
    assert_non_null(strstr(why.text, "cannot be reached"));
}

/* An address alone leads nowhere; a folder has the key, and nobody else. */
static void test_ways(void **state)
{
    const struct net_address address = {.host = "127.0.0.1", .port = 7};
    struct why why = {0};
    struct token token, again;
    struct ways ways;
    struct stat info;
    struct runs runs;
    char path[300];

    (void)state;
    assert_int_equal(ways_open("127.0.0.1", NULL, false, &ways, &why),
                     ERR_SHAPE); /* No port. */
    assert_int_equal(ways_open("127.0.0.1:1", NULL, false, &ways, &why),
                     ERR_SHAPE);
    assert_non_null(strstr(why.text, "needs a key"));
    assert_int_equal(ways_open("no/where", NULL, false, &ways, &why),
                     ERR_NOTFOUND);
    runs_open(&runs, 1);
    assert_int_equal(ways_open(runs.out, NULL, false, &ways, &why),
                     ERR_NOTFOUND);
    assert_int_equal(ways_keep_address(runs.out, &address, &why), ERR_OK);
    assert_int_equal(ways_open(runs.out, NULL, false, &ways, &why),
                     ERR_NOTFOUND);
    assert_non_null(strstr(why.text, "--token-file"));
    assert_int_equal(ways_keep_token(runs.out, &token, &why), ERR_OK);
    assert_int_equal(ways_keep_token(runs.out, &again, &why), ERR_OK);
    assert_memory_equal(&token, &again, sizeof token);
    (void)snprintf(path, sizeof path, "%s/run.token", runs.out);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(ways_open(runs.out, NULL, true, &ways, &why), ERR_OK);
    assert_true(ways.own && ways.count == 1 && ways.addresses[0].port == 7);
    assert_memory_equal(&token, &ways.token, sizeof token);
    ways_close(&ways);
    /* One that others can read is no key, and is replaced. */
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(ways_open(runs.out, NULL, true, &ways, &why), ERR_DENIED);
    assert_int_equal(ways_keep_token(runs.out, &again, &why), ERR_OK);
    assert_memory_not_equal(&token, &again, sizeof token);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    runs_close(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_joiners),
        cmocka_unit_test(test_past_a_babbling_relay),
        cmocka_unit_test(test_joiners_beside_local_workers),
        cmocka_unit_test(test_a_joiner_is_killed),
        cmocka_unit_test(test_a_joiner_leaves),
        cmocka_unit_test(test_joiners_outlive_the_coordinator),
        cmocka_unit_test(test_sealed),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_nobody_answers),
        cmocka_unit_test(test_join_mistakes),
        cmocka_unit_test(test_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
