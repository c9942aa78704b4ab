/*
 * X^T r by input coding (core/star/combine.c): a coordinator under an elastic
 * code, and workers of the test's own who multiply in earnest, one piece or
 * several at a time.  Whoever leaves, when, and whatever comes twice or late:
 * the sum is X^T r.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/rng.h"
#include "code/preset.h"
#include "core/product.h"
#include "play.h"

enum {
    SLOTS = 5,
    NEED = 3,
    CHUNKS = 48, /* Of 4 rows. */
    ROWS = 4 * CHUNKS,
    COLS = 8,
    PIECES = 64, /* Each a row of the 64 of a block. */
    MOMENTS = 40,
};

/* A worker: what it was told, and what it has computed and not yet said. */
struct hand {
    struct round_key key;
    double own[ROWS];
    uint32_t queue[PIECES];
    uint32_t count;
    bool here, combines;
    struct round_key late_key; /* Of an answer of the round before. */
    uint32_t late[PIECES];
    uint32_t late_count;
    double late_row[ROWS + 1];
};

struct table {
    struct play play;
    struct hand hand[SLOTS];
    struct rng rng;
    uint32_t join; /* Pieces of an answer, at most. */
};

static double x_at(uint32_t row, uint32_t col)
{
    return row < ROWS ? rng_unit_at(3, row, col) - .5 : 0;
}

static double slope_at(uint32_t row)
{
    return rng_unit_at(4, row, 0) - .5;
}

static double known_slopes(void *context, uint32_t soft, double *scores)
{
    (void)context;
    (void)soft;
    for (uint32_t i = 0; i < ROWS; i++)
        scores[i] = slope_at(i);
    return 1;
}

static struct coordinator_options combine_options(const char *rule)
{
    struct coordinator_options options = stage_options("steal", SLOTS, 0, 4);
    const struct preset_options choice = {.name = "cec",
                                          .workers = SLOTS,
                                          .l = NEED,
                                          .blocks = SLOTS,
                                          .copies = 1,
                                          .pieces = PIECES,
                                          .rule = rule};
    struct why why = {0};

    CHECK(preset_spec(&choice, &options.code, &why) == ERR_OK);
    options.job = stage_job(CHUNKS);
    options.job.rows = ROWS;
    options.job.coded_cols = COLS;
    options.job.sum_dims = ROWS;
    options.optim.rows = ROWS;
    options.slopes = known_slopes;
    return options;
}

/* --- workers -------------------------------------------------------------- */

static double block_at(const struct coordinator *c, uint32_t slot, uint32_t row,
                       uint32_t col)
{
    const struct block_shape shape =
        product_shape(&c->options.job, c->code.parts);
    double sum = 0;

    for (uint32_t part = 0; part < c->code.parts; part++) {
        const uint32_t at = block_part_row(&shape, part) + row;

        if (at < block_part_row(&shape, part + 1))
            sum += code_coefficient(&c->code, slot, part) * x_at(at, col);
    }
    return sum;
}

/* Adds what the piece comes to, or lays scores behind those before. */
static uint32_t multiply(const struct table *table, uint32_t link, uint32_t id,
                         double *out, uint32_t done)
{
    const struct coordinator *c = &table->play.coordinator;
    const struct segment *segment = &c->segments.list[id];
    const struct hand *hand = &table->hand[link];

    if (!hand->combines) {
        memset(out + done, 0, (segment->end - segment->first) * sizeof *out);
        return done + segment->end - segment->first;
    }
    for (uint32_t row = segment->first; row < segment->end; row++) {
        for (uint32_t j = 0; j < COLS; j++)
            out[j] +=
                block_at(c, c->members[link].slot, row, j) * hand->own[row];
    }
    return COLS;
}

static void forget(struct hand *hand, uint32_t id)
{
    for (uint32_t i = 0; i < hand->count; i++) {
        if (hand->queue[i] != id)
            continue;
        memmove(&hand->queue[i], &hand->queue[i + 1],
                (hand->count - i - 1) * sizeof *hand->queue);
        hand->count--;
        return;
    }
}

static void take(struct hand *hand, const struct item *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        forget(hand, items[i].id);
        hand->queue[hand->count++] = items[i].id;
    }
}

/* What it was at is finished, and said too late. */
static void keep_late(struct table *table, uint32_t link)
{
    struct hand *hand = &table->hand[link];

    hand->late_count = 0;
    if (hand->count == 0 || !hand->combines ||
        table->play.coordinator.members[link].state != MEMBER_ACTIVE)
        return;
    memset(hand->late_row, 0, sizeof hand->late_row);
    (void)multiply(table, link, hand->queue[0], hand->late_row, 0);
    hand->late[hand->late_count++] = hand->queue[0];
    hand->late_key = hand->key;
}

static void hear(struct table *table, uint32_t link, const struct msg *msg)
{
    struct hand *hand = &table->hand[link];

    if (!hand->here)
        return;
    if (msg->kind == MSG_ROUND) {
        if (!key_equal(&hand->key, &msg->round.key)) {
            keep_late(table, link);
            hand->count = 0;
        }
        hand->key = msg->round.key;
        hand->combines = msg->round.kind == EVALUATE_COMBINE;
        if (hand->combines)
            memcpy(hand->own, msg->round.weights,
                   msg->round.dims * sizeof *hand->own);
        take(hand, msg->round.items, msg->round.count);
    } else if (msg->kind == MSG_WORK) {
        take(hand, msg->work.items, msg->work.count);
    } else if (msg->kind == MSG_DROP) {
        for (uint32_t i = 0; i < msg->drop.count; i++)
            forget(hand, msg->drop.items[i].id);
    }
}

static void hear_actions(struct table *table)
{
    const struct actions *actions = &table->play.actions;

    for (uint32_t i = 0; i < actions->count; i++) {
        if (actions->list[i].kind == ACTION_SEND)
            hear(table, actions->list[i].link, &actions->list[i].msg);
    }
}

/* All that the last step said; a view that it made is written at once. */
static void hear_all(struct table *table)
{
    hear_actions(table);
    while (stage_count(&table->play.actions, ACTION_JOURNAL) > 0) {
        play_step(&table->play, (struct event){.kind = EVENT_JOURNALED});
        hear_actions(table);
    }
}

static void say(struct table *table, uint32_t link, const struct msg_row *row)
{
    struct msg msg = {.kind = MSG_ROW};

    msg.row = *row;
    play_say(&table->play, link, &msg);
    hear_all(table);
}

/* The first pieces of its queue, at most so many together, so often. */
static void answer(struct table *table, uint32_t link, uint32_t times)
{
    struct hand *hand = &table->hand[link];
    uint32_t ids[PIECES];
    double row[ROWS + 1] = {0};
    struct msg_row msg = {
        .key = hand->key, .compute_us = 10, .pieces = ids, .row = row};

    while (msg.count < table->join && msg.count < hand->count) {
        ids[msg.count] = hand->queue[msg.count];
        msg.dims = multiply(table, link, ids[msg.count++], row, msg.dims);
    }
    if (msg.count == 0)
        return;
    for (uint32_t i = 0; i < msg.count; i++)
        forget(hand, ids[i]);
    for (uint32_t i = 0; i < times && hand->here; i++)
        say(table, link, &msg);
}

static void answer_late(struct table *table, uint32_t link)
{
    const struct hand *hand = &table->hand[link];
    const struct msg_row msg = {.key = hand->late_key,
                                .count = hand->late_count,
                                .pieces = hand->late,
                                .compute_us = 10,
                                .dims = COLS,
                                .row = hand->late_row};

    if (hand->here && hand->late_count > 0)
        say(table, link, &msg);
}

static void lose(struct table *table, uint32_t link)
{
    memset(&table->hand[link], 0, sizeof table->hand[link]);
    play_step(&table->play,
              (struct event){.kind = EVENT_LINK_DOWN, .link = link});
    hear_all(table);
}

static void come_back(struct table *table, uint32_t link, uint64_t incarnation)
{
    static const char *const names[SLOTS] = {"w0", "w1", "w2", "w3", "w4"};

    table->hand[link].here = true;
    play_step(&table->play,
              (struct event){.kind = EVENT_LINK_UP, .link = link});
    play_hello(&table->play, link, names[link], incarnation);
    hear_all(table);
}

/* --- the table ------------------------------------------------------------ */

static void open_table(struct table *table, const char *rule, uint32_t join)
{
    const struct coordinator_options options = combine_options(rule);

    memset(table, 0, sizeof *table);
    table->join = join;
    for (uint32_t link = 0; link < SLOTS; link++)
        table->hand[link].here = true;
    play_open(&table->play, &options);
    hear_all(table);
}

static bool is_back(const struct table *table)
{
    const struct coordinator *c = &table->play.coordinator;

    return c->products.halfway;
}

static bool is_over(const struct table *table)
{
    return table->play.coordinator.trainer.optim.step > 0;
}

/* Each of them, in turn, answers once. */
static void tick(struct table *table)
{
    for (uint32_t link = 0; link < SLOTS && !is_over(table); link++)
        answer(table, link, 1);
}

static void go_back(struct table *table)
{
    for (uint32_t i = 0; i < PIECES && !is_back(table); i++)
        tick(table);
    assert_true(is_back(table));
}

static void assert_sum(const struct table *table)
{
    const struct coordinator *c = &table->play.coordinator;

    assert_true(is_over(table));
    for (uint32_t j = 0; j < COLS; j++) {
        double wanted = 0;

        for (uint32_t i = 0; i < ROWS; i++)
            wanted += slope_at(i) * x_at(i, j);
        assert_true(fabs(c->gradient[j] - wanted) < 1e-10);
    }
}

/* Of an undisturbed way back: every machine does 3 of 5 pieces. */
static uint32_t ticks_of(struct table *table, uint32_t leaver, uint32_t moment)
{
    uint32_t ticks = 0;

    go_back(table);
    while (!is_over(table) && ticks < 4 * PIECES) {
        if (ticks == moment)
            lose(table, leaver);
        tick(table);
        ticks++;
    }
    return ticks;
}

/* --- tests ---------------------------------------------------------------- */

/* Nobody leaves: L/N of the pieces each, and no more. */
static void test_nobody_leaves(void **state)
{
    for (uint32_t join = 1; join <= PIECES; join *= 4) {
        struct table table;
        const uint32_t each = (PIECES * NEED + SLOTS - 1) / SLOTS;

        (void)state;
        open_table(&table, "wrap", join);
        assert_int_equal(ticks_of(&table, 0, UINT32_MAX),
                         (each + join - 1) / join);
        assert_sum(&table);
        play_close(&table.play);
    }
}

/* Every leaver at every moment: the sum, and the time.  What is left when one
 * of five leaves takes four 5/4 as long; three pieces more are what is being
 * computed, and what was begun and is coded anew. */
static void test_every_leaver_at_every_moment(void **state)
{
    (void)state;
    for (uint32_t leaver = 0; leaver < SLOTS; leaver++) {
        for (uint32_t moment = 0; moment < MOMENTS; moment++) {
            const double all = (double)PIECES * NEED / SLOTS;
            const double left = moment < all ? all - moment : 0;
            struct table table;
            uint32_t ticks;

            open_table(&table, "wrap", 1);
            ticks = ticks_of(&table, leaver, moment);
            assert_sum(&table);
            assert_true(ticks <= moment + left * SLOTS / (SLOTS - 1) + 3);
            play_close(&table.play);
        }
    }
}

/* Several pieces of an answer, and the paper's rule: the sum. */
static void test_leavers_of_other_kinds(void **state)
{
    (void)state;
    for (uint32_t join = 1; join <= 16; join *= 4) {
        for (uint32_t moment = 0; moment < MOMENTS / join; moment++) {
            struct table table;

            open_table(&table, join == 1 ? "cyclic" : "wrap", join);
            (void)ticks_of(&table, moment % SLOTS, moment);
            assert_sum(&table);
            play_close(&table.play);
        }
    }
}

/* One is slow from the first round on, another from the second.  Returns how
 * many pieces the first was asked for again on the same way. */
static uint32_t fall_behind(struct table *table)
{
    const struct hand *const slow = &table->hand[0];
    uint32_t first, again = 0;

    open_table(table, "wrap", 1);
    go_back(table);
    first = table->play.coordinator.key.round;
    for (uint32_t i = 0; i < 20 * PIECES && !is_over(table); i++) {
        for (uint32_t link = 1; link < SLOTS && !is_over(table); link++) {
            if (link > 1 || table->hand[link].key.round == first)
                answer(table, link, 1);
        }
        table->play.now += 100;
        if (!is_over(table))
            play_step(&table->play, (struct event){.kind = EVENT_TIME});
        hear_all(table);
        if (!is_over(table) && slow->key.round > first && slow->count > again)
            again = slow->count;
    }
    return again;
}

/* Who was left behind is not asked again on the same way, or the two would take
 * turns. */
static void test_laggards_stay_behind(void **state)
{
    struct table table;

    (void)state;
    assert_int_equal(fall_behind(&table), 0);
    assert_sum(&table);
    play_close(&table.play);
}

/* Seeds of a campaign seldom go on like that for ever: the bug is caught where
 * it begins. */
static void test_planted_laggards(void **state)
{
    (void)state;
#ifdef MUSTER_PLANTED_BUGS
    struct table table;
    uint32_t again;

    planted_bug = BUG_COMBINE_ENDLESS;
    again = fall_behind(&table);
    planted_bug = BUG_NONE;
    assert_true(again > 0);
    play_close(&table.play);
#else
    skip();
#endif
}

/* One thing that may happen. */
static void happen(struct table *table, uint64_t *incarnation)
{
    struct rng *rng = &table->rng;
    const uint32_t link = (uint32_t)rng_below(rng, SLOTS);

    table->join = 1 + (uint32_t)rng_below(rng, 4);
    table->play.now += (time_us)rng_below(rng, 200);
    if (rng_chance(rng, .01) && table->hand[link].here)
        lose(table, link);
    else if (rng_chance(rng, .03) && !table->hand[link].here)
        come_back(table, link, ++*incarnation);
    else if (rng_chance(rng, .2))
        answer_late(table, link);
    else if (table->hand[link].here)
        answer(table, link, 1 + rng_chance(rng, .1));
}

/* Who leaves, comes back, is slow, says things twice or too late is drawn. */
static void test_whatever_happens(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 300; seed++) {
        struct table table;
        uint64_t incarnation = 100;

        open_table(&table, seed % 5 == 0 ? "cyclic" : "wrap", 1);
        rng_init(&table.rng, seed);
        go_back(&table);
        for (uint32_t i = 0; i < 20000 && !is_over(&table); i++) {
            happen(&table, &incarnation);
            if (i % 50 != 0 || is_over(&table))
                continue;
            play_step(&table.play, (struct event){.kind = EVENT_TIME});
            hear_all(&table);
        }
        assert_sum(&table);
        play_close(&table.play);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_leaves),
        cmocka_unit_test(test_every_leaver_at_every_moment),
        cmocka_unit_test(test_leavers_of_other_kinds),
        cmocka_unit_test(test_laggards_stay_behind),
        cmocka_unit_test(test_planted_laggards),
        cmocka_unit_test(test_whatever_happens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
