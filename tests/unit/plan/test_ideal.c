/*
 * The ideal seconds per step of the published settings, one test a cell: with
 * the reference delays and no time to compute, slots arrive in order of their
 * delay and the code says when the step may end.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "code/code_fixture.h"
#include "plan/delay.h"

struct cell {
    const char *code;
    uint32_t n, s, collect, steps;
    double seconds;
    double covered; /* Share of groups in the update; 0: not looked at. */
};

static const struct cell cells[] = {
    {"uncoded", 30, 1, 11, 100, 1.986, 0}, {"frc", 30, 1, 11, 100, 0.804, 1},
    {"cyclic", 30, 1, 11, 100, 1.528, 0},  {"agc", 30, 1, 11, 100, 0.216, 0.61},
    {"uncoded", 30, 2, 11, 100, 1.986, 0}, {"frc", 30, 2, 11, 100, 0.500, 1},
    {"cyclic", 30, 2, 11, 100, 1.254, 0},  {"agc", 30, 2, 11, 100, 0.216, 0.75},
    {"uncoded", 8, 1, 5, 40, 1.318, 0},    {"frc", 8, 1, 5, 40, 0.460, 1},
    {"cyclic", 8, 1, 5, 40, 0.908, 0},     {"agc", 8, 1, 5, 40, 0.387, 0.93},
    {"uncoded", 8, 3, 2, 40, 1.318, 0},    {"frc", 8, 3, 2, 40, 0.187, 1},
    {"cyclic", 8, 3, 2, 40, 0.426, 0},     {"agc", 8, 3, 2, 40, 0.134, 0.78},
};

#define CELLS (sizeof cells / sizeof *cells)

struct arrival {
    double at_s;
    uint32_t slot;
};

static int by_time(const void *a, const void *b)
{
    const struct arrival *one = a;
    const struct arrival *two = b;

    return (one->at_s > two->at_s) - (one->at_s < two->at_s);
}

/* Walk one step; returns when it may end and adds the share covered. */
static double ideal_step(const struct code *code, const struct delay *delay,
                         uint32_t number, double *covered)
{
    struct arrival arrivals[SLOTS_MAX];
    struct step step;
    uint32_t next = 0;

    for (uint32_t slot = 0; slot < code->slots; slot++) {
        arrivals[slot].at_s = delay_draw(delay, number, slot, NULL).add_s;
        arrivals[slot].slot = slot;
    }
    qsort(arrivals, code->slots, sizeof *arrivals, by_time);
    step_begin(&step, code);
    do {
        assert_true(next < code->slots);
        step_arrive(&step, arrivals[next].slot);
        next++;
    } while (!code_enough(code, &step.progress));
    *covered += (double)step.progress.pieces_in / code->piece_count;
    return arrivals[next - 1].at_s;
}

static void test_cell(void **state)
{
    const struct cell *cell = *state;
    struct code code = code_of((struct shape){cell->code, cell->n, cell->s,
                                              cell->collect, 4 * cell->n});
    struct delay delay;
    double seconds = 0;
    double covered = 0;

    assert_int_equal(delay_parse("reference", 0, &delay, NULL), ERR_OK);
    for (uint32_t i = 0; i < cell->steps; i++)
        seconds += ideal_step(&code, &delay, i, &covered);
    seconds /= cell->steps;
    covered /= cell->steps;
    if (fabs(seconds - cell->seconds) > 0.0005 + 1e-9)
        fail_msg("%.5f s, the table says %.3f", seconds, cell->seconds);
    if (cell->covered > 0 && fabs(covered - cell->covered) > 0.005 + 1e-9)
        fail_msg("%.4f covered, the table says %.2f", covered, cell->covered);
    code_close(&code);
}

int main(void)
{
    struct CMUnitTest tests[CELLS];
    struct cell states[CELLS];

    for (size_t i = 0; i < CELLS; i++) {
        states[i] = cells[i];
        tests[i] = (struct CMUnitTest){.name = cells[i].code,
                                       .test_func = test_cell,
                                       .initial_state = &states[i]};
    }
    return cmocka_run_group_tests_name("ideal", tests, NULL, NULL);
}
