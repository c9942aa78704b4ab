/*
 * Pictures of elastic rounds: every column has its L workers, before and after
 * one leaves.
 */
#include "cli/study/arcs_show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char cell(const struct arcs_picture *picture, uint32_t scene,
                 uint32_t member, uint32_t piece)
{
    return picture
        ->cell[(scene * picture->members + member) * picture->pieces + piece];
}

static void check(enum arc_rule rule, uint32_t parts, uint32_t members)
{
    struct arcs_picture picture;

    assert_int_equal(arcs_picture_make(&picture, rule, parts, members), ERR_OK);
    assert_int_equal(picture.scenes, parts < members ? 3 : 1);
    for (uint32_t scene = 0; scene < picture.scenes; scene++) {
        for (uint32_t p = 0; p < picture.pieces; p++) {
            uint32_t count = 0;

            for (uint32_t i = 0; i < members; i++) {
                const char what = cell(&picture, scene, i, p);

                assert_true(what == '#' || what == '.' ||
                            (what == 'o' && scene == 2) ||
                            (what == ' ' && scene == 1));
                assert_false(what == '#' && scene > 0 && i == picture.leaver);
                count += what == '#' || what == 'o';
            }
            assert_int_equal(count, parts);
        }
    }
    arcs_picture_close(&picture);
}

static void test_columns(void **state)
{
    (void)state;
    for (uint32_t members = 1; members <= 20; members++) {
        for (uint32_t parts = 1; parts <= members; parts++) {
            check(ARC_WRAP, parts, members);
            check(ARC_CYCLIC, parts, members);
        }
    }
    check(ARC_WRAP, 30, 60);
}

/* The paper's own: six, any three; one leaves. */
static void test_figure(void **state)
{
    static const char expected[] =
        "\nwho computes what: a row a worker, a column one of 60 pieces of its "
        "block; any 3 workers give a piece\n"
        "\n6 workers, each 3/6 of its block\n";
    struct arcs_picture picture;
    char text[4096] = {0};
    FILE *out = fmemopen(text, sizeof text - 1, "w");

    (void)state;
    assert_non_null(out);
    assert_int_equal(arcs_picture_make(&picture, ARC_CYCLIC, 3, 6), ERR_OK);
    arcs_picture_print(&picture, out);
    assert_int_equal(fclose(out), 0);
    assert_memory_equal(text, expected, sizeof expected - 1);
    assert_non_null(strstr(text, "\n      1  ..........############"
                                 "##################....................\n"));
    assert_non_null(strstr(text, "\n5 workers, each 3/5 of its block\n"));
    assert_non_null(strstr(text, "\n      3\n"));
    arcs_picture_close(&picture);
}

static void test_refuses(void **state)
{
    struct arcs_picture picture;

    (void)state;
    assert_int_equal(arcs_picture_make(&picture, ARC_WRAP, 4, 3), ERR_SHAPE);
    assert_int_equal(arcs_picture_make(&picture, ARC_WRAP, 0, 3), ERR_SHAPE);
    assert_int_equal(arcs_picture_make(&picture, ARC_WRAP, 4, 61), ERR_SHAPE);
    arcs_picture_close(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_figure),
        cmocka_unit_test(test_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
