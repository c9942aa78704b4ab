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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_one_piece_a_group),
        cmocka_unit_test(test_all_follows_the_circle),
        cmocka_unit_test(test_all_skips_empty_parts),
        cmocka_unit_test(test_steal_cuts_own_part),
        cmocka_unit_test(test_steal_cuts_evenly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
