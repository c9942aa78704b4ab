#define _GNU_SOURCE
/*
 * muster_sum between threads of this process, each a member of its own: sums
 * that are exact, who is in, deadlines, cancels, shapes, joining and leaving;
 * all of it twice, by shared memory and, with a token, by links.
 * The protocol under faults is in core/test_table.c and core/test_sum.c, kill
 * -9 in tests/net/door.py and sum_far.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "muster.h"
#include "os/net/token.h"

enum { MEMBERS = 4, COUNT = 1000, CALLS = 20 };

struct member {
    int index;
    const char *address;
    struct muster_group *group;
    enum muster_status status;
    double values[COUNT];
    struct muster_sum_info info;
    char who[256];
    char why[MUSTER_WHY_SIZE];
    double deadline_s;
    uint64_t count;
    pthread_t thread;
};

static const char *token; /* NULL: by shared memory. */

static struct muster_group *host_group(uint32_t least)
{
    struct muster_group_options options =
        MUSTER_INIT(struct muster_group_options);
    struct muster_group *group;
    char why[MUSTER_WHY_SIZE];

    options.least = least;
    options.name = "m0";
    options.token_file = token;
    assert_int_equal(muster_group_host(&options, &group, why), MUSTER_OK);
    return group;
}

static struct muster_group *join_group(const char *address, int index)
{
    struct muster_group_options options =
        MUSTER_INIT(struct muster_group_options);
    struct muster_group *group;
    char name[16], why[MUSTER_WHY_SIZE];

    (void)snprintf(name, sizeof name, "m%d", index);
    options.name = name;
    options.token_file = token;
    assert_int_equal(muster_group_join(&options, address, &group, why),
                     MUSTER_OK);
    assert_string_not_equal(muster_group_address(group), address);
    return group;
}

static void *sum_main(void *context)
{
    struct member *m = context;

    m->info = (struct muster_sum_info){.size = sizeof(struct muster_sum_info)};
    m->status = muster_sum(m->group, m->values, m->count, MUSTER_DOUBLE,
                           m->deadline_s, &m->info, m->why);
    (void)snprintf(m->who, sizeof m->who, "%s", m->info.who);
    return NULL;
}

static void start(struct member *m)
{
    if (m->count == 0)
        m->count = COUNT;
    assert_int_equal(pthread_create(&m->thread, NULL, sum_main, m), 0);
}

static void finish(struct member *m)
{
    assert_int_equal(pthread_join(m->thread, NULL), 0);
}

static void open_all(struct member *members, uint32_t least)
{
    memset(members, 0, MEMBERS * sizeof *members);
    members[0].group = host_group(least);
    for (int i = 1; i < MEMBERS; i++) {
        members[i].index = i;
        members[i].group = /* Any member's address will do. */
            join_group(muster_group_address(members[i - 1].group), i);
    }
}

static void close_all(struct member *members)
{
    for (int i = MEMBERS - 1; i >= 0; i--)
        muster_group_leave(members[i].group);
}

/* Large numbers that cancel leave the small ones, to the last bit. */
static void fill(struct member *m, int call)
{
    for (int j = 0; j < COUNT; j++) {
        const double large = ldexp(1 + j, 60 + call);

        m->values[j] = m->index == 0   ? large
                       : m->index == 1 ? -large
                                       : (m->index + j) * 0x1p-30;
    }
}

static void test_calls(void **state)
{
    struct member members[MEMBERS];

    (void)state;
    open_all(members, MEMBERS);
    for (int call = 0; call < CALLS; call++) {
        for (int i = 0; i < MEMBERS; i++)
            fill(&members[i], call), start(&members[i]);
        for (int i = 0; i < MEMBERS; i++)
            finish(&members[i]);
        for (int i = 0; i < MEMBERS; i++) {
            assert_int_equal(members[i].status, MUSTER_OK);
            assert_string_equal(members[i].who, "m0,m1,m2,m3");
            assert_int_equal(members[i].info.included, 1);
            assert_int_equal(members[i].info.call, call + 1);
            assert_int_equal(members[i].info.contributed, MEMBERS);
            for (int j = 0; j < COUNT; j++)
                assert_true(members[i].values[j] == (5 + 2 * j) * 0x1p-30);
        }
    }
    close_all(members);
}

static void test_floats_in_place(void **state)
{
    struct muster_group *group = host_group(0);
    float values[3] = {1.5f, -2, 1e-40f};
    struct muster_sum_info info = MUSTER_INIT(struct muster_sum_info);

    (void)state;
    assert_int_equal(muster_sum(group, values, 3, MUSTER_FLOAT, 0, &info, NULL),
                     MUSTER_OK);
    assert_true(values[0] == 1.5f && values[1] == -2 && values[2] == 1e-40f);
    assert_string_equal(info.who, "m0");
    assert_int_equal(muster_sum(group, values, 3, MUSTER_FLOAT, 1, NULL, NULL),
                     MUSTER_OK);
    muster_group_leave(group);
    muster_group_leave(NULL);
}

/* Long ones, of which everyone adds a slice. */
static void *sum_long(void *context)
{
    /* So many, and one so long that it goes past the caches. */
    enum { CALLS_LONG = 5, LONG = 100003, LONGEST = (4 << 20) + 77 };
    struct member *m = context;
    int64_t *room = malloc((LONGEST + 1) * sizeof *room), *values = room + 1;

    for (int call = 0; call < CALLS_LONG && room != NULL; call++) {
        const int count =
            call + 1 < CALLS_LONG || token != NULL ? LONG : LONGEST;

        for (int j = 0; j < count; j++)
            values[j] = (int64_t)j * (call + 1) - m->index;
        m->status = muster_sum(m->group, values, (uint64_t)count, MUSTER_INT64,
                               0, NULL, m->why);
        for (int j = 0; j < count; j++)
            m->count += values[j] != (int64_t)j * (call + 1) * MEMBERS - 6;
    }
    free(room);
    return NULL;
}

static void test_long(void **state)
{
    struct member members[MEMBERS];

    (void)state;
    open_all(members, MEMBERS);
    for (int i = 0; i < MEMBERS; i++)
        assert_int_equal(
            pthread_create(&members[i].thread, NULL, sum_long, &members[i]), 0);
    for (int i = 0; i < MEMBERS; i++) {
        finish(&members[i]);
        assert_int_equal(members[i].status, MUSTER_OK);
        assert_int_equal(members[i].count, 0);
    }
    close_all(members);
}

/* Integers are added modulo 2^64. */
static void test_integers(void **state)
{
    struct muster_group *group = host_group(0);
    int64_t values[3] = {INT64_MAX, -1, 0};

    (void)state;
    assert_int_equal(muster_sum(group, values, 3, MUSTER_INT64, 0, NULL, NULL),
                     MUSTER_OK);
    assert_true(values[0] == INT64_MAX && values[1] == -1 && values[2] == 0);
    muster_group_leave(group);
}

/* One does not come: the others go on without it, and it is told the sum. */
static void test_deadline(void **state)
{
    struct member members[MEMBERS];

    (void)state;
    open_all(members, 1);
    for (int i = 0; i < MEMBERS; i++) {
        fill(&members[i], 0);
        members[i].deadline_s = 1;
        if (i != 2)
            start(&members[i]);
    }
    for (int i = 0; i < MEMBERS; i++) {
        if (i == 2)
            continue;
        finish(&members[i]);
        assert_int_equal(members[i].status, MUSTER_OK);
        assert_string_equal(members[i].who, "m0,m1,m3");
        assert_int_equal(members[i].info.members, MEMBERS);
    }
    start(&members[2]);
    finish(&members[2]);
    assert_int_equal(members[2].status, MUSTER_OK);
    assert_int_equal(members[2].info.included, 0);
    assert_string_equal(members[2].who, "m0,m1,m3");
    assert_memory_equal(members[2].values, members[0].values,
                        sizeof members[0].values);
    close_all(members);
}

/* Fewer than `least`: what was given is given back. */
static void test_too_few(void **state)
{
    struct member members[MEMBERS];
    double before[COUNT];

    (void)state;
    open_all(members, 2);
    fill(&members[1], 3);
    memcpy(before, members[1].values, sizeof before);
    members[1].deadline_s = 0.01;
    start(&members[1]);
    finish(&members[1]);
    assert_int_equal(members[1].status, MUSTER_TIMEOUT);
    assert_int_equal(members[1].info.included, 0);
    assert_memory_equal(before, members[1].values, sizeof before);
    close_all(members);
}

static void test_cancel(void **state)
{
    struct member members[MEMBERS];

    (void)state;
    open_all(members, 1);
    muster_cancel(members[0].group); /* Nothing to cancel. */
    start(&members[0]);
    /* Perhaps it has not begun yet. */
    while (pthread_tryjoin_np(members[0].thread, NULL) != 0) {
        muster_cancel(members[0].group);
        (void)sched_yield();
    }
    assert_int_equal(members[0].status, MUSTER_STOPPED);
    assert_int_equal(members[0].info.included, 0);
    /* The group is as good as before. */
    for (int i = 0; i < MEMBERS; i++)
        fill(&members[i], 0), start(&members[i]);
    for (int i = 0; i < MEMBERS; i++) {
        finish(&members[i]);
        assert_int_equal(members[i].status, MUSTER_OK);
        assert_int_equal(members[i].info.contributed, MEMBERS);
    }
    close_all(members);
}

static void test_join_and_leave(void **state)
{
    struct member members[MEMBERS];

    (void)state;
    open_all(members, 1);
    for (int i = 0; i < MEMBERS - 1; i++)
        start(&members[i]);
    muster_group_leave(members[3].group); /* The others need not wait. */
    for (int i = 0; i < MEMBERS - 1; i++) {
        finish(&members[i]);
        assert_int_equal(members[i].status, MUSTER_OK);
        assert_string_equal(members[i].who, "m0,m1,m2");
    }
    members[3].group = join_group(muster_group_address(members[0].group), 3);
    for (int i = 0; i < MEMBERS; i++)
        start(&members[i]);
    for (int i = 0; i < MEMBERS; i++) {
        finish(&members[i]);
        assert_int_equal(members[i].status, MUSTER_OK);
        assert_string_equal(members[i].who, "m0,m1,m2,m3");
        assert_int_equal(members[i].info.call, 2);
    }
    /* Who began the group goes, and it goes on; so with the next ones, until
     * one is left. */
    for (int gone = 0; gone < MEMBERS - 1; gone++) {
        muster_group_leave(members[gone].group);
        members[gone].group = NULL;
        for (int i = gone + 1; i < MEMBERS; i++)
            start(&members[i]);
        for (int i = gone + 1; i < MEMBERS; i++) {
            finish(&members[i]);
            assert_int_equal(members[i].status, MUSTER_OK);
            assert_int_equal(members[i].info.contributed, MEMBERS - 1 - gone);
        }
    }
    assert_string_equal(members[3].who, "m3");
    close_all(members);
}

static void test_shapes(void **state)
{
    struct member members[MEMBERS];

    (void)state;
    open_all(members, 1);
    members[1].count = 7;
    members[1].deadline_s = 1; /* Should it be the first. */
    for (int i = 0; i < 3; i++)
        start(&members[i]);
    /* Two of one length and one of another: whoever gave first is right. */
    muster_group_leave(members[3].group);
    members[3].group = NULL;
    finish(&members[1]);
    if (members[1].status == MUSTER_BAD_OPTION) {
        assert_non_null(strstr(members[1].why, "7 doubles"));
        members[1].count = COUNT;
        start(&members[1]);
        for (int i = 0; i < 3; i++) {
            finish(&members[i]);
            assert_int_equal(members[i].status, MUSTER_OK);
        }
    } else {
        assert_int_equal(members[1].status, MUSTER_OK);
        for (int i = 0; i < 3; i += 2)
            finish(&members[i]);
    }
    close_all(members);
}

static void test_refusals(void **state)
{
    struct muster_group_options options =
                                    MUSTER_INIT(struct muster_group_options),
                                bad;
    struct muster_group *group = NULL;
    struct muster_sum_info info = {.size = 4096};
    struct stat card;
    double value = 1;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    bad = options, bad.size = 4096;
    assert_int_equal(muster_group_host(&bad, &group, why), MUSTER_BAD_VERSION);
    bad = options, bad.members_max = 2000;
    assert_int_equal(muster_group_host(&bad, &group, why), MUSTER_BAD_OPTION);
    bad = options, bad.least = 65;
    assert_int_equal(muster_group_host(&bad, &group, why), MUSTER_BAD_OPTION);
    bad = options, bad.listen = "0.0.0.0:0";
    assert_int_equal(muster_group_host(&bad, &group, why), MUSTER_REFUSED);
    bad = options, bad.name = "a b";
    assert_int_equal(muster_group_host(&bad, &group, why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_group_host(NULL, &group, why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_group_join(&options, NULL, &group, why),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_group_join(&options, "x", &group, why),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_group_join(&options, ":1", &group, why),
                     MUSTER_BAD_OPTION); /* Without a key. */
    assert_null(group);
    options.bytes_max = 16;
    assert_int_equal(muster_group_host(&options, &group, why), MUSTER_OK);
    /* Its address leads to the key, which nobody else can read. */
    assert_int_equal(stat(muster_group_address(group), &card), 0);
    assert_int_equal(card.st_mode & 0777, 0600);
    assert_int_equal(muster_sum(group, NULL, 1, MUSTER_DOUBLE, 0, NULL, why),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_sum(group, &value, 0, MUSTER_DOUBLE, 0, NULL, why),
                     MUSTER_BAD_OPTION);
    assert_int_equal(
        muster_sum(group, &value, 1, (enum muster_type)3, 0, NULL, why),
        MUSTER_BAD_OPTION);
    assert_int_equal(
        muster_sum(group, &value, 1, MUSTER_DOUBLE, (double)NAN, NULL, why),
        MUSTER_BAD_OPTION);
    assert_int_equal(muster_sum(group, &value, 1, MUSTER_DOUBLE, 0, &info, why),
                     MUSTER_BAD_VERSION);
    assert_int_equal(muster_sum(group, &value, 3, MUSTER_DOUBLE, 0, NULL, why),
                     MUSTER_BAD_OPTION); /* 24 bytes are too many. */
    muster_group_leave(group);
}

/* Nothing is not a group; it is told so, and nothing falls over. */
static void test_nothing(void **state)
{
    const struct muster_group_options options =
        MUSTER_INIT(struct muster_group_options);
    double value = 1;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    assert_int_equal(muster_sum(NULL, &value, 1, MUSTER_DOUBLE, 0, NULL, why),
                     MUSTER_BAD_OPTION);
    assert_string_equal(why, "there is no group");
    assert_int_equal(muster_group_host(&options, NULL, why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_group_join(&options, ":1", NULL, NULL),
                     MUSTER_BAD_OPTION);
    assert_string_equal(muster_group_address(NULL), "");
    muster_cancel(NULL);
    muster_group_leave(NULL);
}

/* What is no number stays in its column. */
static void test_no_numbers(void **state)
{
    struct member members[MEMBERS];

    (void)state;
    open_all(members, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        members[i].values[0] = i == 1 ? (double)NAN : 1;
        members[i].values[1] = i == 2 ? HUGE_VAL : 1;
        members[i].values[2] = i == 0 ? -HUGE_VAL : i == 1 ? HUGE_VAL : 0;
        members[i].values[3] = -0.0;
        start(&members[i]);
    }
    for (int i = 0; i < MEMBERS; i++) {
        finish(&members[i]);
        assert_int_equal(members[i].status, MUSTER_OK);
        assert_true(isnan(members[i].values[0]));
        assert_true(members[i].values[1] == HUGE_VAL);
        assert_true(isnan(members[i].values[2]));
        assert_true(members[i].values[3] == 0);
        assert_true(signbit(members[i].values[3]));
    }
    close_all(members);
}

#define TOKEN "sum.token"

static int by_links(void **state)
{
    struct token drawn;

    (void)state;
    token = TOKEN;
    token_draw(&drawn);
    return token_keep(TOKEN, &drawn, NULL) == ERR_OK ? 0 : -1;
}

static int by_memory(void **state)
{
    (void)state;
    token = NULL;
    return remove(TOKEN);
}

#define BY_LINKS(test)                                                         \
    {                                                                          \
        .name = #test "_by_links", .test_func = (test),                        \
        .setup_func = by_links, .teardown_func = by_memory                     \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_floats_in_place),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_join_and_leave),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_no_numbers),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_integers),
        BY_LINKS(test_calls),
        BY_LINKS(test_floats_in_place),
        BY_LINKS(test_deadline),
        BY_LINKS(test_too_few),
        BY_LINKS(test_cancel),
        BY_LINKS(test_join_and_leave),
        BY_LINKS(test_shapes),
        BY_LINKS(test_no_numbers),
        BY_LINKS(test_long),
        BY_LINKS(test_integers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
