/*
 * How parts are cut and who begins with what, written out for small shapes and
 * counted for larger ones.
 */
#include "code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static void expect_work(const struct code *code, uint32_t slot, uint32_t count,
                        const uint32_t *want)
{
    uint32_t ids[PIECES_MAX];

    assert_int_equal(code_work(code, slot, ids, PIECES_MAX), count);
    assert_memory_equal(ids, want, count * sizeof *ids);
}

static void test_all_is_one_piece_a_group(void **state)
{
    struct code code = code_of((struct shape){"rep", 5, 1, 0, 50});

    (void)state;
    assert_int_equal(code.piece_count, 2);
    assert_int_equal(code.pieces[1].owner, code.groups[1].slot_first);
    for (uint32_t slot = 0; slot < 5; slot++)
        expect_work(&code, slot, 1, (uint32_t[]){slot < 2 ? 0 : 1});
    code_close(&code);
}

static void test_all_follows_the_circle(void **state)
{
    struct code code = code_of((struct shape){"cyclic", 5, 2, 0, 50});

    (void)state;
    expect_work(&code, 0, 3, (uint32_t[]){0, 1, 2});
    expect_work(&code, 3, 3, (uint32_t[]){3, 4, 0});
    expect_work(&code, 4, 3, (uint32_t[]){4, 0, 1});
    code_close(&code);
}

/* Empty parts have no pieces: 5 parts of 2 chunks are 0, 0, 1, 0, 1 long. */
static void test_all_skips_empty_parts(void **state)
{
    struct code code = code_of((struct shape){"cyclic", 5, 1, 0, 2});

    (void)state;
    assert_int_equal(code.piece_count, 2);
    expect_work(&code, 0, 0, (uint32_t[]){0});
    expect_work(&code, 1, 1, (uint32_t[]){0});
    expect_work(&code, 2, 1, (uint32_t[]){0});
    expect_work(&code, 3, 1, (uint32_t[]){1});
    expect_work(&code, 4, 1, (uint32_t[]){1});
    code_close(&code);
}

static void test_steal_cuts_own_part(void **state)
{
    struct code code = code_of((struct shape){"steal", 4, 1, 0, 12});

    (void)state;
    assert_int_equal(code.piece_count, 12); /* 3 chunks a part, one each. */
    expect_work(&code, 0, 3, (uint32_t[]){0, 1, 2});
    expect_work(&code, 3, 3, (uint32_t[]){9, 10, 11});
    assert_true(code_holds(&code, 0, 3)); /* The partner's, on demand. */
    assert_false(code_holds(&code, 0, 6));
    code_close(&code);
}

static void test_steal_cuts_evenly(void **state)
{
    (void)state;
    for (uint32_t chunks = 1; chunks <= 200; chunks++) {
        struct code code = code_of((struct shape){"steal", 3, 1, 0, chunks});

        for (uint32_t slot = 0; slot < 3; slot++) {
            const uint32_t part = (slot + 1) * chunks / 3 - slot * chunks / 3;
            uint32_t ids[PIECES_MAX];
            const uint32_t count = code_work(&code, slot, ids, PIECES_MAX);

            assert_int_equal(
                count, part < CODE_STEAL_PIECES ? part : CODE_STEAL_PIECES);
            for (uint32_t i = 0; i < count; i++) {
                const struct piece *piece = &code.pieces[ids[i]];

                assert_int_equal(piece->owner, slot);
                assert_true(piece->end - piece->first >= part / count);
                assert_true(piece->end - piece->first <= part / count + 1);
            }
        }
        code_close(&code);
    }
}

/* Own part first, in order; the others' from their far end. */
static void test_stream_meets_the_owner(void **state)
{
    struct code_spec spec = spec_of((struct shape){"stream", 4, 2, 0, 12});
    struct code code = {0};

    (void)state;
    spec.pieces = 3;
    assert_int_equal(code_build(&code, &spec, 4, 12, NULL), ERR_OK);
    assert_int_equal(code.piece_count, 12);
    assert_int_equal(code.copies, 3);
    expect_work(&code, 0, 9, (uint32_t[]){0, 1, 2, 5, 4, 3, 8, 7, 6});
    expect_work(&code, 3, 9, (uint32_t[]){9, 10, 11, 2, 1, 0, 5, 4, 3});
    code_close(&code);
    spec.pieces = 0; /* Whole parts, as published. */
    assert_int_equal(code_build(&code, &spec, 4, 12, NULL), ERR_OK);
    expect_work(&code, 2, 3, (uint32_t[]){2, 3, 0});
    code_close(&code);
}

/* In groups: round the group from one's own part. */
static void test_stream_in_groups(void **state)
{
    struct code_spec spec = spec_of((struct shape){"rep", 6, 2, 0, 12});
    struct code code = {0};

    (void)state;
    spec.schedule = SCHED_STREAM;
    assert_int_equal(code_build(&code, &spec, 6, 12, NULL), ERR_OK);
    expect_work(&code, 0, 3, (uint32_t[]){0, 1, 2});
    expect_work(&code, 4, 3, (uint32_t[]){4, 5, 3});
    expect_work(&code, 5, 3, (uint32_t[]){5, 3, 4});
    code_close(&code);
}

static void test_private_parts_come_first(void **state)
{
    struct code frc = code_of((struct shape){"partial-frc", 4, 1, 0, 48});
    struct code cyclic = code_of((struct shape){"partial-cyclic", 4, 1, 0, 48});

    (void)state;
    assert_int_equal(frc.parts, 12); /* n (P - s), P = 4. */
    assert_int_equal(frc.piece_count, 6);
    expect_work(&frc, 0, 2, (uint32_t[]){0, 4});
    expect_work(&frc, 3, 2, (uint32_t[]){3, 5});
    assert_int_equal(cyclic.piece_count, 8);
    expect_work(&cyclic, 0, 3, (uint32_t[]){0, 4, 5});
    expect_work(&cyclic, 3, 3, (uint32_t[]){3, 7, 4});
    assert_true(code_plain(&cyclic, 3));
    assert_false(code_plain(&cyclic, 4));
    assert_true(code_load(&frc) == 16.0 / 48);
    assert_true(code_load(&cyclic) == 16.0 / 48);
    code_close(&frc);
    code_close(&cyclic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_one_piece_a_group),
        cmocka_unit_test(test_all_follows_the_circle),
        cmocka_unit_test(test_all_skips_empty_parts),
        cmocka_unit_test(test_steal_cuts_own_part),
        cmocka_unit_test(test_steal_cuts_evenly),
        cmocka_unit_test(test_stream_meets_the_owner),
        cmocka_unit_test(test_stream_in_groups),
        cmocka_unit_test(test_private_parts_come_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
