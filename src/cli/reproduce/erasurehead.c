/*
 * erasurehead.c - what Wang, Charles and Papailiopoulos, "ErasureHead:
 * Distributed gradient descent without delays using approximate gradient
 * coding" (2019), measured.
 *
 * Delays are the reference code's: drawn from the same generator in the same
 * order (plan/delay.h), so that seconds compare.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/reproduce/experiments.h"

/* Every one of 30 workers has a chunk of the stand-ins' 6,000 rows: with fewer
 * chunks than workers some would have nothing to do, and be no stragglers. */
#define THIRTY "-n 30 --chunk-rows 200"

/* --- erasurehead --------------------------------------------------------- */

static const double levels[] = {.75, .78, .83, .85};

/* Seconds to a metric of at least (of mse: at most) the level. */
static double time_to(const json_t *run, const char *metric, double level)
{
    const json_t *point;
    size_t i;

    json_array_foreach(json_object_get(run, "series"), i, point)
    {
        if (lab_number(point, metric) >= level)
            return lab_number(point, "t_s");
    }
    return (double)NAN;
}

static void draw_runs(struct lab *lab, const json_t *runs, const char *file,
                      const char *title, const char *metric)
{
    json_t *plot =
        lab_plot(lab, file, title, "virtual seconds", metric, LAB_LINEAR);
    const json_t *run, *point;
    size_t i, j;

    json_array_foreach(json_object_get(runs, "runs"), i, run)
    {
        json_t *line = lab_line(plot, lab_text(run, "label"), false);

        json_array_foreach(json_object_get(run, "series"), j, point)
        {
            lab_point(line, lab_number(point, "t_s"),
                      lab_number(point, metric));
        }
    }
}

#define CODES                                                                  \
    "uncoded,frc:s=1,frc:s=2,agc:s=1:collect=11,agc:s=2:collect=11,ignore:s=2"

static void amazon(struct lab *lab)
{
    static const char *const paper[] = {
        "-", "-", "3.83 / 3.36 / 3.43 / 3.38", "-", "6.74 / 6.06 / 5.61 / 5.37",
        "-"};
    const bool here = lab_data(lab, "amazon", "gen:gmm:6000,100") != NULL;
    const json_t *runs, *run;
    json_t *table;
    size_t i;

    runs =
        here ? lab_run(lab, LAB_DONE,
                       "simulate amazon-train.svm --test amazon-test.svm "
                       "--metric auc --optim agd --lr 10 -n 30 --steps %u "
                       "--delay reference --work 0 --series --compare " CODES,
                       lab->quick ? 30 : 100)
             : lab_run(
                   lab, LAB_DONE,
                   "simulate gen:gmm:6000,100 --metric auc --optim agd " THIRTY
                   " --steps 30 --delay reference --work 0 "
                   "--series --compare " CODES);
    table =
        lab_table(lab, "Logistic regression, 30 workers, AGD",
                  "code|s/step|final AUC|speed-up over uncoded to AUC .75 / "
                  ".78 / .83 / .85|paper");
    json_array_foreach(json_object_get(runs, "runs"), i, run)
    {
        char gains[4][LAB_SHOWN];

        for (size_t k = 0; k < 4; k++)
            (void)lab_shown(
                time_to(json_array_get(json_object_get(runs, "runs"), 0), "auc",
                        levels[k]) /
                    time_to(run, "auc", levels[k]),
                2, gains[k]);
        lab_row(table, "%s|%.3f|%.4f|%s / %s / %s / %s|%s",
                lab_text(run, "label"), lab_number(run, "mean_step_s"),
                lab_number(run, "metrics.auc"), gains[0], gains[1], gains[2],
                gains[3], i < 6 ? paper[i] : "-");
    }
    draw_runs(lab, runs, "amazon", "Test AUC against time", "auc");
}

/* What an accuracy is to be held against, and whether these are all rows. */
static void tell_covtype(struct lab *lab, const json_t *made)
{
    const double complete = 495141; /* Rows of classes 1 and 2. */
    const double rows =
        lab_number(made, "train.rows") + lab_number(made, "test.rows");
    const double positive =
        lab_number(made, "test.positives") / lab_number(made, "test.rows");

    lab_remark(lab,
               "covtype: always saying the larger class is right on %.4f of "
               "the test rows.",
               fmax(positive, 1 - positive));
    if (rows < complete)
        lab_remark(lab,
                   "covtype: %.0f rows are here, a sample of %.0f %% of the "
                   "complete set's %.0f of the same two classes, which the "
                   "paper had.",
                   rows, 100 * rows / complete, complete);
}

/* The others of the paper: without levels of its own, by their last value. */
static void other_data(struct lab *lab, const char *name, const char *instead,
                       const char *options, const char *metric)
{
    const json_t *made = lab_data(lab, name, instead);
    const bool here = made != NULL;
    char title[96], data[128];
    const json_t *runs, *run;
    json_t *table;
    size_t i;

    if (here)
        (void)snprintf(data, sizeof data, "%s-train.svm --test %s-test.svm",
                       name, name);
    else
        (void)snprintf(data, sizeof data, "%s", instead);
    (void)snprintf(title, sizeof title, "%s, 30 workers, AGD", name);
    table = lab_table(lab, title, "code|s/step|total s|test metric at the end");
    runs = lab_run(lab, LAB_DONE,
                   "simulate %s %s %s --steps %u --delay reference --work 0 "
                   "--series --compare uncoded,frc:s=2,agc:s=2:collect=11",
                   data, here ? options : "--optim agd",
                   here ? "-n 30" : THIRTY, lab->quick ? 20 : 100);
    json_array_foreach(json_object_get(runs, "runs"), i, run)
    {
        char path[64];

        (void)snprintf(path, sizeof path, "metrics.%s", metric);
        lab_row(table, "%s|%.3f|%.1f|%s %.4f", lab_text(run, "label"),
                lab_number(run, "mean_step_s"), lab_number(run, "total_s"),
                metric, lab_number(run, path));
    }
    draw_runs(lab, runs, name, title, metric);
    if (here && strcmp(metric, "accuracy") == 0)
        tell_covtype(lab, made);
}

static void run_erasurehead(struct lab *lab)
{
    amazon(lab);
    if (lab->quick)
        return;
    other_data(lab, "covtype", "gen:gmm:6000,50",
               "--optim agd --lr .1 --metric accuracy", "accuracy");
    other_data(lab, "kc", "gen:linear:6000,50",
               "--model linear --optim agd --lr .1 --decay .98 --metric mse",
               "mse");
    if (!lab->virtual_time)
        lab_remark(lab, "Curves are of virtual time, in which the same "
                        "coordinator and workers run; how real seconds compare "
                        "with it is what gradient-coding shows.");
}

const struct experiment experiment_erasurehead = {
    .name = "erasurehead",
    .title = "ErasureHead: approximate gradient coding to a given AUC",
    .source = "Wang, Charles, Papailiopoulos, ErasureHead, 2019, figures 3 and "
              "4: 30 workers, Amazon, Covertype and KC housing data",
    .claim = "Stopping when 11 of 30 workers have answered is 5 to 7 times "
             "faster to an AUC than waiting for all, and ends on nearly the "
             "same AUC.",
    .differs = "Seconds are of the delays alone, drawn as the reference code "
               "draws them; the paper's hold compute and network of EC2, which "
               "makes its uncoded steps longer and its gains smaller. frc is "
               "the paper's EGC, agc its AGC.",
    .run = run_erasurehead,
};

/* --- noise-floor --------------------------------------------------------- */

#define DESCENT                                                                \
    "simulate gen:linear:6000,20 --test gen:linear:6000,20 --model linear "    \
    "--l2 0 --optim gd " THIRTY                                                \
    " --delay exp:.5 --work 0 --steps %u --seed %u "                           \
    "--code "
#define COLLECTS 6u

static const uint32_t collects[COLLECTS] = {6, 8, 11, 14, 18, 22};

/* Sums over the seeds. */
struct floor {
    double exact;
    double gap[COLLECTS], square[COLLECTS], covered[COLLECTS];
};

static const struct lab_chart floor_chart = {
    .table = "Where gradient descent on partial gradients ends",
    .columns =
        "collect of 30|share of rows in a step|mse above the least|exact "
        "gradients, as many steps",
    .file = "floor",
    .title = "Mean squared error above the least",
    .x = "missing share / share in a step (variance)",
    .y = "gap",
    .scale = LAB_LOG_X | LAB_LOG_Y,
    .measured = {"agc s=2"},
};

/* One seed: other rows, other delays.  Squared error over all rows, which the
 * simulated run was trained on. */
static void add_floor(struct lab *lab, uint32_t seed, uint32_t steps,
                      struct floor *sum)
{
    const double least = lab_number(
        lab_run(lab, LAB_DONE,
                "train gen:linear:6000,20 --test gen:linear:6000,20 --model "
                "linear --l2 0 --seed %u -q",
                seed),
        "test_metrics.mse");

    sum->exact +=
        lab_number(lab_run(lab, LAB_DONE, DESCENT "frc:s=2", steps, seed),
                   "metrics.mse") -
        least;
    for (size_t i = 0; i < COLLECTS; i++) {
        const json_t *run = lab_run(lab, LAB_DONE, DESCENT "agc:s=2:collect=%u",
                                    steps, seed, collects[i]);

        const double gap = lab_number(run, "metrics.mse") - least;

        sum->gap[i] += gap;
        sum->square[i] += gap * gap;
        sum->covered[i] += lab_number(run, "coverage");
    }
}

static void run_noise_floor(struct lab *lab)
{
    const uint32_t steps = lab->quick ? 60 : 300;
    const uint32_t seeds = lab->quick ? 3 : 10;
    const struct lab_drawn drawn = lab_chart(lab, &floor_chart);
    struct floor sum = {0};
    uint32_t rises = 0;

    for (uint32_t seed = 1; seed <= seeds; seed++)
        add_floor(lab, seed, steps, &sum);
    for (size_t i = 0; i < COLLECTS; i++) {
        const double gap = sum.gap[i] / seeds;
        const double covered = sum.covered[i] / seeds;
        const double variance =
            fmax(0, sum.square[i] / seeds - gap * gap) / (seeds - 1);

        lab_row(drawn.table, "%u|%.3f|%.2e +- %.1e|%.2e", collects[i], covered,
                gap, sqrt(variance), fmax(0, sum.exact / seeds));
        lab_point(drawn.lines[0], (1 - covered) / covered, gap);
        rises += i > 0 && sum.gap[i] > sum.gap[i - 1];
    }
    lab_remark(lab,
               "Means of %u seeds, each with rows and delays of its own, and "
               "their standard errors. %s",
               seeds,
               rises == 0 ? "With every worker more that is waited for the gap "
                            "is smaller, as the paper has it."
                          : "The gap does not fall from every row to the next: "
                            "where it rises, compare the standard errors.");
}

const struct experiment experiment_noise_floor = {
    .name = "noise-floor",
    .title = "The noise floor of approximate gradient coding",
    .source = "ErasureHead, 2019, section 3 (convergence up to a noise floor)",
    .claim = "Gradient descent with gradients that miss some rows converges to "
             "a neighbourhood of the optimum, the wider the more rows are "
             "missing.",
    .differs =
        "The rate is constant and the rows are the generator's; delays are "
        "exponential as the reference's, but drawn anew for each seed; the "
        "share of rows in a step is measured, not assumed.",
    .run = run_noise_floor,
};
