/*
 * Answers to the pieces of coded data: which count, and what they come to.  The
 * test plays the workers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code/erasure.h"
#include "elastic.h"

/* --- sets that decode badly ---------------------------------------------- */

enum { SLOTS = 12, NEED = 6 };

/* NEED blocks whose answers, of fp32, are not decoded. */
static struct blockset bad_set(const struct coordinator *c)
{
    for (uint32_t bits = 0; bits < 1u << SLOTS; bits++) {
        const struct erasure_set *found;
        struct blockset blocks = {0};

        if (__builtin_popcount(bits) != NEED)
            continue;
        for (uint32_t block = 0; block < SLOTS; block++) {
            if ((bits >> block & 1) != 0)
                blockset_add(&blocks, block);
        }
        if (erasure_find(&c->code.erasure, &blocks, &found) == ERR_OK &&
            found->rcond < ERASURE_RCOND_F32)
            return blocks;
    }
    fail_msg("every set of this code decodes well");
    return (struct blockset){0};
}

/* All but a bad set have gone. */
static void open_ill(struct play *play, uint32_t copies, bool halfway)
{
    struct coordinator_options options = elastic_options(SLOTS, NEED, copies);
    struct blockset here;

    options.code.seed = 26;
    options.code.narrow = true;
    play_open(play, &options);
    here = bad_set(&play->coordinator);
    elastic_step(play, SLOTS);
    if (halfway)
        assert_true(elastic_round(play, SLOTS));
    for (uint32_t link = 0; link < SLOTS; link++) {
        if (!blockset_has(&here, link))
            elastic_lose(play, link);
    }
}

/* Somebody answers something, or the disk does. */
static void go_on(struct play *play, uint32_t link)
{
    if (play->coordinator.phase != COORDINATOR_ROUND) {
        play_step(play, (struct event){.kind = EVENT_JOURNALED});
        return;
    }
    for (uint32_t id = 0; id < play->coordinator.piece_count; id++) {
        if (elastic_owes(play, link, id)) {
            elastic_answer_one(play, link, id);
            return;
        }
    }
}

/* Nobody can mend what comes of the answers, and people are told. */
static void run_dry(struct play *play)
{
    const struct trace *told = elastic_trace(play, TRACE_SHORT);

    for (uint32_t i = 0; told == NULL && i < 2000; i++) {
        go_on(play, i % SLOTS);
        told = elastic_trace(play, TRACE_SHORT);
    }
    assert_non_null(told);
    assert_int_equal(told->a, NEED);
    assert_int_equal(told->b, NEED + 1);
    assert_true(told->value > 0);
    assert_int_equal(play->coordinator.segments.waits_for, NEED + 1);
}

static void test_a_stop_ends_a_bad_set(void **state)
{
    (void)state;
    for (int halfway = 0; halfway < 2; halfway++) {
        struct play play;

        open_ill(&play, 1, halfway);
        run_dry(&play);
        assert_int_equal(play.coordinator.phase, COORDINATOR_ROUND);
        play_step(&play, (struct event){.kind = EVENT_STOP});
        elastic_ends_stopped(&play, 1);
        play_close(&play);
    }
}

static void test_one_more_mends_a_bad_set(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct play play;
        struct coordinator *c = &play.coordinator;
        bool told = false;

        open_ill(&play, 1 + i / 2, i % 2);
        run_dry(&play);
        for (uint32_t link = 0; link < SLOTS && !told; link++) {
            if (c->members[link].state != MEMBER_NONE)
                continue;
            play_hello(&play, link, "back", 2);
            told = elastic_trace(&play, TRACE_ENOUGH) != NULL;
            break;
        }
        play_step(&play, (struct event){.kind = EVENT_TIME});
        assert_true(told || elastic_trace(&play, TRACE_ENOUGH) != NULL);
        assert_int_equal(c->segments.waits_for, 0);
        elastic_step(&play, SLOTS);
        play_close(&play);
    }
}

/* --- answers that nobody asked for --------------------------------------- */

/* One that the member was not given. */
static uint32_t not_given(const struct play *play, uint32_t link)
{
    for (uint32_t id = 0; id < play->coordinator.piece_count; id++) {
        if (!elastic_owes(play, link, id))
            return id;
    }
    fail_msg("it was given everything");
    return 0;
}

/* It does not count, is struck, and the third such answer is the last: others
 * do what it owes. */
static void test_an_answer_to_anothers_piece(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct play play;
        struct coordinator *c = &play.coordinator;
        uint64_t merged;

        elastic_open(&play, 4, 2, 1 + i / 2);
        if (i % 2 == 1)
            assert_true(elastic_round(&play, 4));
        merged = c->stats.pieces_merged;
        for (int strikes = 1; strikes <= 3; strikes++) {
            elastic_answer_with(&play, 1, not_given(&play, 1), 7);
            assert_true(play_struck(&play, POISON_SHAPE, "w1"));
            assert_int_equal(c->stats.pieces_merged, merged);
        }
        assert_int_equal(c->members[1].state, MEMBER_NONE);
        elastic_step(&play, 4);
        play_close(&play);
    }
}

static uint32_t first_owed(const struct play *play, uint32_t link)
{
    uint32_t id = 0;

    while (!elastic_owes(play, link, id))
        id++;
    return id;
}

/* Twice the same is a message that came twice; something else is a lie. */
static void test_two_answers_to_one_piece(void **state)
{
    struct play play;
    uint32_t id;

    (void)state;
    elastic_open(&play, 4, 2, 2);
    id = first_owed(&play, 1);
    elastic_answer_with(&play, 1, id, 7);
    elastic_answer_with(&play, 1, id, 7);
    assert_int_equal(play.coordinator.stats.duplicates, 1);
    assert_int_equal(play.coordinator.stats.poison, 0);
    elastic_answer_with(&play, 1, id, 8);
    assert_true(play_struck(&play, POISON_LIE, "w1"));
    play_close(&play);
}

/* One who came back within the round may still send what it was asked for
 * before, of another block: that does not count, and is no poison. */
static void test_an_answer_of_the_last_session(void **state)
{
    struct play play;
    struct coordinator *c = &play.coordinator;
    uint64_t merged;

    (void)state;
    elastic_open(&play, 4, 2, 2);
    elastic_lose(&play, 1);
    play_hello(&play, 1, "w1", 2);
    play_step(&play, (struct event){.kind = EVENT_TIME});
    assert_int_equal(c->members[1].state, MEMBER_ACTIVE);
    merged = c->stats.pieces_merged;
    elastic_answer_with(&play, 1, not_given(&play, 1), 7);
    assert_int_equal(c->stats.stale, 1);
    assert_int_equal(c->stats.poison, 0);
    assert_int_equal(c->stats.pieces_merged, merged);
    play_close(&play);
}

/* More than the largest value times the vector's numbers: one sender's doing,
 * and not the end of the job.  What of its answers counted before is told. */
static void test_a_number_beyond_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct coordinator_options options = elastic_options(4, 2, 1 + i / 2);
        struct play play;
        struct coordinator *c = &play.coordinator;
        uint64_t merged;

        options.largest = 1;
        play_open(&play, &options);
        if (i % 2 == 1)
            assert_true(elastic_round(&play, 4));
        elastic_answer_one(&play, 1, first_owed(&play, 1));
        merged = c->stats.pieces_merged;
        for (int strikes = 1; strikes <= 3; strikes++) {
            elastic_answer_with(&play, 1, first_owed(&play, 1), 1e308);
            assert_true(play_struck(&play, POISON_BOUND, "w1"));
            assert_int_equal(c->stats.pieces_merged, merged);
        }
        assert_int_equal(c->members[1].state, MEMBER_NONE);
        assert_true(c->stats.unchecked_bad > 0);
        elastic_step(&play, 4);
        play_close(&play);
    }
}

/* --- a stop --------------------------------------------------------------- */

/* All are here and say so, and one that is needed does not answer. */
static void test_a_stop_waits_only_so_long(void **state)
{
    const struct msg beat = {.kind = MSG_BEAT};
    struct play play;
    struct coordinator *c = &play.coordinator;
    time_us waited = 0;

    (void)state;
    elastic_open(&play, 2, 2, 2);
    elastic_step(&play, 2);
    elastic_answer_all(&play, 0);
    play_step(&play, (struct event){.kind = EVENT_STOP});
    for (; waited < 60 * SECOND_US && c->phase == COORDINATOR_ROUND;
         waited += 50 * MS_US) {
        play.now += 50 * MS_US;
        play_say(&play, 0, &beat);
        if (c->phase == COORDINATOR_ROUND)
            play_say(&play, 1, &beat);
    }
    assert_int_equal(waited, COORDINATOR_PATIENCE_US);
    elastic_ends_stopped(&play, 1);
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stop_ends_a_bad_set),
        cmocka_unit_test(test_one_more_mends_a_bad_set),
        cmocka_unit_test(test_an_answer_to_anothers_piece),
        cmocka_unit_test(test_two_answers_to_one_piece),
        cmocka_unit_test(test_an_answer_of_the_last_session),
        cmocka_unit_test(test_a_number_beyond_all),
        cmocka_unit_test(test_a_stop_waits_only_so_long),
    };

    return cmocka_run_group_tests_name("core/segments", tests, NULL, NULL);
}
