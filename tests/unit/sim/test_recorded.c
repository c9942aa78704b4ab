/*
 * The digests of a campaign, by code, as they were recorded: a refactoring
 * changes none of them.  Whoever means to change what a run does sees here
 * which codes it touched, and records the table anew in the same commit:
 *
 *     RECORD=1 build/release/tests/unit/sim-test_recorded \
 *         > tests/unit/sim/recorded.inc
 *
 * Seeds 1 to FEW are run by `make check`; with SEEDS=3000 in the environment
 * (`make test`) all that were recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/campaign.h"

#define FEW       600u
#define ALL       3000u
#define CODES_MAX 96u
#define CODE_SIZE 40u

/* What is recorded of one code. */
struct recorded {
    char code[CODE_SIZE];
    uint64_t few, all; /* Digests of seeds 1 to FEW, and to ALL. */
};

static const struct recorded recorded[] = {
#include "sim/recorded.inc"
};
static const size_t recorded_count = sizeof recorded / sizeof *recorded;

/* "steal", "auto from steal", "followed steal", "batches steal", "network
 * steal", "ring": from the line on the seed. */
static void code_of(const char *line, char code[CODE_SIZE])
{
    const char *at = strstr(line, "code ");
    const char *end = at == NULL ? NULL : strstr(at, " s=");
    const char *kind = "";

    assert_non_null(end);
    if (strstr(line, "on a followed scale") != NULL)
        kind = "followed ";
    else if (strstr(line, "dense") != NULL)
        kind = "network ";
    else if (strstr(line, "batches") != NULL)
        kind = "batches ";
    at += strlen("code ");
    if (strstr(line, "a ring, not code ") != NULL) { /* It only drew one. */
        (void)snprintf(code, CODE_SIZE, "ring");
        return;
    }
    (void)snprintf(code, CODE_SIZE, "%s%.*s", kind, (int)(end - at), at);
}

static struct recorded *row_of(struct recorded *table, size_t *count,
                               const char *code)
{
    size_t i = 0;

    while (i < *count && strcmp(table[i].code, code) != 0)
        i++;
    assert_true(i < CODES_MAX);
    if (i == *count) {
        (void)snprintf(table[i].code, CODE_SIZE, "%s", code);
        (*count)++;
    }
    return &table[i];
}

static uint64_t mix(uint64_t digest, uint64_t one)
{
    return (digest ^ one) * UINT64_C(0x9e3779b97f4a7c15);
}

static void run_seed(uint64_t seed, struct recorded *table, size_t *count)
{
    const struct campaign_options options = {.isa = ISA_PORTABLE};
    struct sim_result result;
    struct why why = {{0}};
    struct recorded *row;
    char line[SIM_TEXT];
    char code[CODE_SIZE];

    assert_int_equal(campaign_seed(&options, seed, &result, line, &why),
                     ERR_OK);
    assert_false(result.violated);
    code_of(line, code);
    row = row_of(table, count, code);
    row->all = mix(row->all, result.trace_digest);
    if (seed <= FEW)
        row->few = row->all;
    sim_result_close(&result);
}

static size_t run_seeds(uint64_t seeds, struct recorded *table)
{
    size_t count = 0;

    for (uint64_t seed = 1; seed <= seeds; seed++)
        run_seed(seed, table, &count);
    return count;
}

static void test_digests_are_as_recorded(void **state)
{
    struct recorded table[CODES_MAX] = {0};
    const char *asked = getenv("SEEDS");
    const bool all = asked != NULL && strtoull(asked, NULL, 10) >= ALL;
    size_t count;
    size_t wrong = 0;

    (void)state;
    count = run_seeds(all ? ALL : FEW, table);
    for (size_t i = 0; i < recorded_count; i++) {
        const struct recorded *now = row_of(table, &count, recorded[i].code);

        if (now->few == recorded[i].few &&
            (!all || now->all == recorded[i].all))
            continue;
        print_message("%s: other digests than recorded\n", now->code);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(count, recorded_count);
}

/* The table as C. */
static int record(void)
{
    struct recorded table[CODES_MAX] = {0};
    const size_t count = run_seeds(ALL, table);

    (void)printf("/* clang-format off */\n/* By RECORD=1 sim-test_recorded; "
                 "test_recorded.c. */\n");
    for (size_t i = 0; i < count; i++)
        (void)printf("{\"%s\", UINT64_C(0x%016" PRIx64
                     "),\n UINT64_C(0x%016" PRIx64 ")},\n",
                     table[i].code, table[i].few, table[i].all);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digests_are_as_recorded),
    };

    if (getenv("RECORD") != NULL)
        return record();
    return cmocka_run_group_tests_name("recorded", tests, NULL, NULL);
}
