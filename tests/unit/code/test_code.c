/*
 * Whatever the axes, pieces must be a partition of the chunks, each held and
 * owned, and work must be held work: checked for every preset and many shapes,
 * with fewer chunks than slots among them.  Then the refusals and their words.
 */
#include "code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static void check_partition(const struct code *code)
{
    uint32_t chunk = 0;

    for (uint32_t id = 0; id < code->piece_count; id++) {
        const struct piece *piece = &code->pieces[id];

        assert_int_equal(piece->first, chunk);
        assert_true(piece->first < piece->end);
        assert_true(piece->owner < code->slots);
        assert_true(code_holds(code, piece->owner, id));
        chunk = piece->end;
    }
    assert_int_equal(chunk, code->chunks);
}

static bool listed(const uint32_t *ids, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

static uint32_t held_count(const struct code *code, uint32_t slot)
{
    uint32_t count = 0;

    for (uint32_t id = 0; id < code->piece_count; id++)
        count += code_holds(code, slot, id);
    return count;
}

/* Work is held; under schedule all the converse too; an owner has its pieces.
 */
static void check_work(const struct code *code)
{
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        uint32_t ids[PIECES_MAX];
        const uint32_t count = code_work(code, slot, ids, PIECES_MAX);

        if (code->carrier == CARRIER_TALLY || code->plain_count == 0)
            assert_int_equal(code->busy[slot], count > 0);
        assert_int_equal(code_held(code, slot, ids + count, PIECES_MAX - count),
                         held_count(code, slot));
        for (uint32_t id = 0; id < code->piece_count; id++) {
            const bool works = listed(ids, count, id);
            const bool holds = code_holds(code, slot, id);

            if (works || code->spec.schedule == SCHED_ALL)
                assert_int_equal(works, holds);
            if (code->pieces[id].owner == slot)
                assert_true(works);
            if (code_plain(code, id))
                assert_true(code_coefficient(code, slot, id) == holds);
            else
                assert_int_equal(code_coefficient(code, slot, id) != 0, holds);
        }
        if (count > 1)
            assert_int_equal(code_work(code, slot, ids, 1), 1);
    }
}

static void check_groups(const struct code *code)
{
    uint32_t slot = 0;
    uint32_t piece = 0;

    if (code->spec.placement != PLACE_ONCE &&
        code->spec.placement != PLACE_REP) {
        assert_int_equal(code->group_count, 0);
        assert_int_equal(code->pieces[0].group, CODE_GROUP_NONE);
        return;
    }
    for (uint32_t q = 0; q < code->group_count; q++) {
        const struct group *group = &code->groups[q];

        assert_int_equal(group->slot_first, slot);
        assert_int_equal(group->piece_first, piece);
        assert_true(group->slot_first < group->slot_end);
        for (; piece < group->piece_end; piece++)
            assert_int_equal(code->pieces[piece].group, q);
        slot = group->slot_end;
    }
    assert_int_equal(slot, code->slots);
    assert_int_equal(piece, code->piece_count);
}

/* A file, a number of machines there can ever be; or pieces that are samples:
 * tests of their own. */
static bool wants_more(const struct preset *preset)
{
    return preset->placement == PLACE_MATRIX ||
           preset->placement == PLACE_CEC || preset->placement == PLACE_SHADOW;
}

/* All codes that there are. */
static void test_tables(void **state)
{
    static const uint32_t chunks[] = {1, 3, 8, 64, 1000};
    uint32_t count;
    const struct preset *list = preset_list(&count);

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        if (wants_more(&list[i]))
            continue;
        for (uint32_t n = 1; n <= 9; n++) {
            for (uint32_t c = 0; c < sizeof chunks / sizeof *chunks; c++) {
                const uint32_t copies = n / 3 + 1;
                const uint32_t slots = list[i].divisible ? n * copies : n;
                struct code code = code_of((struct shape){
                    list[i].name, slots, copies - 1, 1, chunks[c]});

                check_partition(&code);
                check_work(&code);
                check_groups(&code);
                code_close(&code);
            }
        }
    }
}

/* O1: every mask of answers that ends a step brings the same integer, whoever
 * is missing; what a mask lacks is what its error says. */
static void check_sums(const struct code *code)
{
    const uint64_t all = UINT64_C(0x123456789) * code->chunks;

    for (uint32_t mask = 0; mask < 1u << code->slots; mask++) {
        bool in[SLOTS_MAX];
        double unused[SLOTS_MAX];
        double error = -1;
        uint64_t sum = 0;
        uint32_t missing = 0;

        for (uint32_t slot = 0; slot < code->slots; slot++)
            in[slot] = mask >> slot & 1u;
        for (uint32_t id = 0; id < code->piece_count; id++) {
            const uint32_t chunks =
                code->pieces[id].end - code->pieces[id].first;
            bool held = false;

            for (uint32_t slot = 0; slot < code->slots; slot++)
                held |= in[slot] && code_holds(code, slot, id);
            sum += held ? UINT64_C(0x123456789) * chunks : 0;
            missing += held ? 0 : chunks;
        }
        assert_int_equal(code_error(code, in, unused, &error), ERR_OK);
        assert_true(error == (double)missing / code->chunks);
        assert_int_equal(code_feasible(code, in), sum == all);
        if (code->spec.schedule != SCHED_STEAL)
            assert_int_equal(enough_with(code, mask), sum == all);
    }
}

static void test_sums_under_every_mask(void **state)
{
    uint32_t count;
    const struct preset *list = preset_list(&count);
    uint32_t checked = 0;

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t s = 0; s < 3 && !wants_more(&list[i]); s++) {
            struct code code =
                code_of((struct shape){list[i].name, 6, s, 1, 36});

            if (code.exactness == EXACT_BITWISE &&
                code.spec.stop != STOP_FIRST) {
                check_sums(&code);
                checked++;
            }
            code_close(&code);
        }
    }
    assert_true(checked >= 18); /* Six codes at least. */
}

static void test_classes(void **state)
{
    static const struct {
        const char *name;
        enum exactness exactness;
        enum carrier carrier;
    } rows[] = {
        {"uncoded", EXACT_BITWISE, CARRIER_TALLY},
        {"ignore", EXACT_APPROX, CARRIER_TALLY},
        {"frc", EXACT_BITWISE, CARRIER_TALLY},
        {"rep", EXACT_BITWISE, CARRIER_TALLY},
        {"cyclic", EXACT_NUMERIC, CARRIER_F64},
        {"agc", EXACT_APPROX, CARRIER_TALLY},
        {"steal", EXACT_BITWISE, CARRIER_TALLY},
        {"stream", EXACT_BITWISE, CARRIER_TALLY},
        {"partial-frc", EXACT_BITWISE, CARRIER_TALLY},
        {"cb", EXACT_NUMERIC, CARRIER_F64},
        {"partial-cyclic", EXACT_NUMERIC, CARRIER_F64},
        {"mds", EXACT_NUMERIC, CARRIER_F64},
        {"sgc", EXACT_APPROX, CARRIER_F64},
        {"flexent", EXACT_APPROX, CARRIER_TALLY},
        {"local", EXACT_APPROX, CARRIER_F64},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct code code = code_of((struct shape){rows[i].name, 8, 1, 5, 64});

        assert_int_equal(code.exactness, rows[i].exactness);
        assert_int_equal(code.carrier, rows[i].carrier);
        code_close(&code);
        code_close(&code); /* Zeroed memory is safe to close. */
    }
    assert_string_equal(exactness_name(EXACT_BITWISE), "bitwise");
    assert_string_equal(exactness_name(EXACT_NUMERIC), "numeric");
    assert_string_equal(exactness_name(EXACT_APPROX), "approx");
}

static void test_refusals(void **state)
{
    (void)state;
    refuse((struct shape){"rep", 0, 0, 0, 8}, ERR_SHAPE, "1 to 10000 workers");
    refuse((struct shape){"rep", 10001, 0, 0, 8}, ERR_SHAPE, "10001");
    refuse((struct shape){"rep", 4, 0, 0, 0}, ERR_SHAPE, "no data");
    refuse((struct shape){"steal", 4, 4, 0, 8}, ERR_SHAPE,
           "cannot lose 4 of 4 workers; at most 3");
    refuse((struct shape){"ignore", 4, 4, 0, 8}, ERR_SHAPE, "cannot lose 4");
    refuse((struct shape){"frc", 8, 2, 0, 8}, ERR_SHAPE, "`rep`");
    refuse((struct shape){"frc", 8, 2, 0, 8}, ERR_SHAPE, "3 does not divide 8");
    refuse((struct shape){"agc", 8, 1, 9, 8}, ERR_SHAPE,
           "cannot wait for 9 of 8 workers; 1 to 8");
    refuse((struct shape){"cyclic", 1001, 1, 0, 8}, ERR_SHAPE, "`rep`");
    refuse((struct shape){"cyclic", 900, 400, 0, 8}, ERR_SHAPE, "`rep`");
    refuse((struct shape){"cb", 900, 400, 0, 8}, ERR_SHAPE, "`rep`");
    refuse((struct shape){"cb", 1001, 1, 0, 8}, ERR_SHAPE, "at most 1000");
    refuse((struct shape){"cb", 4, 4, 0, 8}, ERR_SHAPE, "cannot lose 4");
    refuse((struct shape){"partial-frc", 8, 2, 0, 8}, ERR_SHAPE, "`rep`");
}

/* Axes chosen by hand that do not go together. */
static void test_axes_that_clash(void **state)
{
    struct code_spec spec = spec_of((struct shape){"cyclic", 8, 2, 0, 8});
    struct code code = {0};
    struct why why = {0};

    (void)state;
    spec.k = 5;
    assert_int_equal(code_build(&code, &spec, 8, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text, "code cyclic with 8 workers and 2 stragglers "
                                  "needs 6 answers to decode; it cannot stop "
                                  "at 5");
    spec.stop = STOP_COVER;
    assert_int_equal(code_build(&code, &spec, 8, 8, &why), ERR_SHAPE);
    spec = spec_of((struct shape){"ignore", 8, 2, 0, 8});
    spec.estimate = ESTIMATE_EXACT;
    assert_int_equal(code_build(&code, &spec, 8, 8, NULL), ERR_SHAPE);
    spec = spec_of((struct shape){"cb", 8, 2, 0, 8});
    spec.schedule = SCHED_STREAM;
    assert_int_equal(code_build(&code, &spec, 8, 8, NULL), ERR_SHAPE);
    spec = spec_of((struct shape){"stream", 8, 2, 0, 8});
    spec.schedule = SCHED_STEAL;
    assert_int_equal(code_build(&code, &spec, 8, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text,
                        "schedule steal needs groups, and code stream has "
                        "none");
    spec = spec_of((struct shape){"stream", 8, 2, 0, 8});
    spec.stop = STOP_GROUPS;
    spec.k = 2;
    spec.estimate = ESTIMATE_RATIO;
    assert_int_equal(code_build(&code, &spec, 8, 8, &why), ERR_SHAPE);
    spec = spec_of((struct shape){"rep", 8, 1, 0, 8});
    spec.stop = STOP_GROUPS;
    spec.k = 5;
    spec.estimate = ESTIMATE_RATIO;
    assert_int_equal(code_build(&code, &spec, 8, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text, "code rep cannot wait for 5 groups of "
                                  "workers; there are 4");
    spec.stop = STOP_DEADLINE;
    spec.deadline_s = 0;
    assert_int_equal(code_build(&code, &spec, 8, 8, &why), ERR_SHAPE);
    spec = spec_of((struct shape){"partial-cyclic", 8, 2, 0, 8});
    spec.parts = 3;
    assert_int_equal(code_build(&code, &spec, 8, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text,
                        "code partial-cyclic with 2 stragglers needs at least "
                        "4 parts a worker, 3 coded and one of its own; "
                        "parts=3 has none");
    spec = spec_of((struct shape){"sgc", 4, 2, 0, 8});
    spec.replicas = 5;
    assert_int_equal(code_build(&code, &spec, 4, 8, &why), ERR_SHAPE);
}

static void test_largest(void **state)
{
    struct code code =
        code_of((struct shape){"steal", CODE_SLOTS_MAX, 1, 0, UINT32_MAX});

    (void)state;
    assert_int_equal(code.piece_count, CODE_SLOTS_MAX * CODE_STEAL_PIECES);
    assert_int_equal(code.busy_count, CODE_SLOTS_MAX);
    code_close(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_sums_under_every_mask),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_axes_that_clash),
        cmocka_unit_test(test_largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
