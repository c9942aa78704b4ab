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

#define LEVELS 4u
#define MEAN   .5 /* Seconds, of the reference's delays. */

/* Rows to train on, and the AUCs that tell how fast it went: the paper's, or
 * some that the stand-in, which is easier, does not reach in its first step. */
struct access {
    const char *job;
    const char *shown;
    double levels[LEVELS];
};

static const struct access
    amazon_access = {"amazon-train.svm --test amazon-test.svm --metric auc "
                     "--lr 10 -n 30",
                     ".75 / .78 / .83 / .85",
                     {.75, .78, .83, .85}},
    drawn_access = {"gen:gmm:6000,100 --metric auc " THIRTY,
                    ".98 / .985 / .987 / .9875",
                    {.98, .985, .987, .9875}};

/* Those that are run with real processes, too. */
#define REAL 3u
static const char *const real_codes[REAL] = {"uncoded", "frc:s=2",
                                             "agc:s=2:collect=11"};

static const struct way {
    const char *name, *optim;
    const char *codes;
    const char *paper[6]; /* Speed-ups of these codes; NULL: it has none. */
    size_t real[REAL];    /* Where they have those of real_codes. */
} ways[] = {
    {"AGD",
     "agd",
     "uncoded,frc:s=1,frc:s=2,agc:s=1:collect=11,agc:s=2:collect=11,ignore:s=2",
     {"-", "-", "3.83 / 3.36 / 3.43 / 3.38", "-", "6.74 / 6.06 / 5.61 / 5.37",
      "-"},
     {0, 2, 4}},
    {"GD", "gd", "uncoded,frc:s=2,agc:s=2:collect=11", {NULL}, {0, 1, 2}},
};

#define WAYS (sizeof ways / sizeof *ways)

static const json_t *run_at(const json_t *runs, size_t i)
{
    return json_array_get(json_object_get(runs, "runs"), i);
}

/* When, and after how many steps, the AUC was first so high. */
static const json_t *reached(const json_t *run, double level)
{
    const json_t *point;
    size_t i;

    json_array_foreach(json_object_get(run, "series"), i, point)
    {
        if (lab_number(point, "auc") >= level)
            return point;
    }
    return NULL;
}

#define FOUR_SIZE (LEVELS * LAB_SHOWN)

/* "a / b / c / d" */
static const char *four(const double values[LEVELS], int digits,
                        char out[FOUR_SIZE])
{
    size_t length = 0;

    for (size_t k = 0; k < LEVELS; k++) {
        char one[LAB_SHOWN];

        (void)snprintf(out + length, FOUR_SIZE - length, "%s%s",
                       k == 0 ? "" : " / ", lab_shown(values[k], digits, one));
        length = strlen(out);
    }
    return out;
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

static void virtual_runs(struct lab *lab, const struct access *access,
                         const struct way *way, const json_t *runs)
{
    char title[96], columns[160];
    const json_t *run;
    json_t *table;
    size_t i;

    (void)snprintf(title, sizeof title,
                   "Logistic regression, 30 workers, %s, virtual time",
                   way->name);
    (void)snprintf(columns, sizeof columns,
                   "code|s/step|final AUC|speed-up over uncoded to AUC %s%s",
                   access->shown,
                   way->paper[0] == NULL ? ""
                                         : "|paper, .75 / .78 / .83 / .85");
    table = lab_table(lab, title, columns);
    json_array_foreach(json_object_get(runs, "runs"), i, run)
    {
        double gains[LEVELS];
        char shown[FOUR_SIZE];

        for (size_t k = 0; k < LEVELS; k++)
            gains[k] =
                lab_number(reached(run_at(runs, 0), access->levels[k]), "t_s") /
                lab_number(reached(run, access->levels[k]), "t_s");
        lab_row(table, "%s|%.3f|%.4f|%s%s%s", lab_text(run, "label"),
                lab_number(run, "mean_step_s"), lab_number(run, "metrics.auc"),
                four(gains, 2, shown), way->paper[i] == NULL ? "" : "|",
                way->paper[i] == NULL ? "" : way->paper[i]);
    }
    (void)snprintf(title, sizeof title, "Test AUC against virtual time, %s",
                   way->name);
    draw_runs(lab, runs, way->optim, title, "auc");
}

/* When the steps that virtual time needs to each level were over, by the run's
 * own history, whose losses become a line. */
static void read_real(struct lab *lab, const struct access *access,
                      const json_t *virtual, const json_t *real, json_t *line,
                      double to[LEVELS])
{
    json_t *const history = lab_history(lab, real);
    const json_t *step;
    size_t i;

    for (size_t k = 0; k < LEVELS; k++)
        to[k] = NAN;
    json_array_foreach(json_object_get(history, "steps"), i, step)
    {
        const double at_s = lab_number(step, "at_us") / 1e6;

        lab_point(line, at_s, lab_number(step, "loss"));
        for (size_t k = 0; k < LEVELS; k++)
            if (lab_number(step, "step") ==
                lab_number(reached(virtual, access->levels[k]), "step"))
                to[k] = at_s + lab_number(step, "took_us") / 1e6;
    }
    json_decref(history);
}

/* Of 30 processes, with the delays that the simulated runs had. */
static void real_runs(struct lab *lab, const struct access *access,
                      const struct way *way, const json_t *runs)
{
    const double mean = lab->quick ? MEAN / 10 : MEAN;
    const uint32_t steps = lab->quick ? 15 : 30;
    char title[128], columns[200], file[32];
    double first[LEVELS] = {0};
    json_t *table, *plot;
    const char *hash[REAL];

    (void)snprintf(title, sizeof title,
                   "%s, 30 real processes: %u steps, delays of mean %g s%s",
                   way->name, steps, mean,
                   lab->quick ? " (--quick: a tenth of the reference's)" : "");
    (void)snprintf(columns, sizeof columns,
                   "code|s/step, real|virtual|real / virtual|real s to AUC %s|"
                   "speed-up over uncoded|AUC at the end, real|AUC, virtual",
                   access->shown);
    table = lab_table(lab, title, columns);
    (void)snprintf(title, sizeof title, "Loss against real time, %s",
                   way->name);
    (void)snprintf(file, sizeof file, "real-%s", way->optim);
    plot = lab_plot(lab, file, title, "real seconds", "loss", LAB_LINEAR);
    for (size_t i = 0; i < REAL; i++) {
        const json_t *virtual = run_at(runs, way->real[i]);
        const json_t *last =
            json_array_get(json_object_get(virtual, "series"), steps - 1);
        const double wanted = lab_number(last, "t_s") / steps * mean / MEAN;
        char shown[2][FOUR_SIZE];
        double to[LEVELS], gains[LEVELS];
        const json_t *real;

        real = lab_run(lab, LAB_DONE,
                       "train %s --optim %s --steps %u --delay reference:%g "
                       "--code %s -q",
                       access->job, way->optim, steps, mean, real_codes[i]);
        read_real(lab, access, virtual, real,
                  lab_line(plot, lab_text(virtual, "label"), false), to);
        for (size_t k = 0; k < LEVELS; k++) {
            first[k] = i == 0 ? to[k] : first[k];
            gains[k] = first[k] / to[k];
        }
        hash[i] = lab_text(real, "hash");
        lab_row(table, "%s|%.3f|%.3f|%.2f|%s|%s|%.4f|%.4f",
                lab_text(virtual, "label"),
                lab_number(real, "elapsed_s") / steps, wanted,
                lab_number(real, "elapsed_s") / steps / wanted,
                four(to, 2, shown[0]), four(gains, 2, shown[1]),
                lab_number(real, "test_metrics.auc"), lab_number(last, "auc"));
    }
    lab_remark(lab, "%s, real processes: %s", way->name,
               strcmp(hash[0], hash[1]) == 0
                   ? "uncoded and frc ended on the same model, bit for bit."
                   : "WRONG: uncoded and frc ended on different models.");
}

static void amazon(struct lab *lab)
{
    const bool here = lab_data(lab, "amazon", "gen:gmm:6000,100") != NULL;
    const struct access *access = here ? &amazon_access : &drawn_access;

    for (size_t i = 0; i < WAYS; i++) {
        const json_t *runs = lab_run(
            lab, LAB_DONE,
            "simulate %s --optim %s --steps %u --delay reference --work 0 "
            "--series --compare %s",
            access->job, ways[i].optim, here && !lab->quick ? 100 : 30,
            ways[i].codes);

        virtual_runs(lab, access, &ways[i], runs);
        if (!lab->virtual_time)
            real_runs(lab, access, &ways[i], runs);
    }
    if (!lab->virtual_time)
        lab_remark(lab,
                   "Real seconds to an AUC: by the clock, the end of the step "
                   "in which the virtual run of that code reached it; exact "
                   "codes make the same steps in both, of agc the answers "
                   "that come first differ, so its AUC at the end stands "
                   "beside the virtual one. All 30 processes share this "
                   "machine's processors: what a step costs besides its "
                   "delays is in the real seconds alone.");
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
struct other {
    const char *name, *instead, *options, *metric;
};

static void other_data(struct lab *lab, const struct other *of)
{
    const json_t *made = lab_data(lab, of->name, of->instead);
    const bool here = made != NULL;
    char data[128], path[64];

    if (here)
        (void)snprintf(data, sizeof data, "%s-train.svm --test %s-test.svm",
                       of->name, of->name);
    else
        (void)snprintf(data, sizeof data, "%s", of->instead);
    (void)snprintf(path, sizeof path, "metrics.%s", of->metric);
    for (size_t i = 0; i < WAYS; i++) {
        char title[96], file[48];
        const json_t *runs, *run;
        json_t *table;
        size_t j;

        (void)snprintf(title, sizeof title, "%s, 30 workers, %s, virtual time",
                       of->name, ways[i].name);
        (void)snprintf(file, sizeof file, "%s-%s", of->name, ways[i].optim);
        table =
            lab_table(lab, title, "code|s/step|total s|test metric at the end");
        runs = lab_run(
            lab, LAB_DONE,
            "simulate %s --optim %s%s %s --steps 100 --delay reference --work "
            "0 --series --compare uncoded,frc:s=2,agc:s=2:collect=11",
            data, ways[i].optim, here ? of->options : "",
            here ? "-n 30" : THIRTY);
        json_array_foreach(json_object_get(runs, "runs"), j, run)
        {
            lab_row(table, "%s|%.3f|%.1f|%s %.4f", lab_text(run, "label"),
                    lab_number(run, "mean_step_s"), lab_number(run, "total_s"),
                    of->metric, lab_number(run, path));
        }
        draw_runs(lab, runs, file, title, of->metric);
    }
    if (here && strcmp(of->metric, "accuracy") == 0)
        tell_covtype(lab, made);
}

static void run_erasurehead(struct lab *lab)
{
    static const struct other others[] = {
        {"covtype", "gen:gmm:6000,50", " --lr .1 --metric accuracy",
         "accuracy"},
        {"kc", "gen:linear:6000,50",
         " --model linear --lr .1 --decay .98 --metric mse", "mse"},
    };

    amazon(lab);
    if (lab->quick)
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        other_data(lab, &others[i]);
    if (!lab->virtual_time)
        lab_remark(lab, "covtype and kc are in virtual time only: a step's "
                        "real seconds are those of the delays, whatever the "
                        "rows.");
}

const struct experiment experiment_erasurehead = {
    .name = "erasurehead",
    .title = "ErasureHead: approximate gradient coding to a given AUC",
    .source = "Wang, Charles, Papailiopoulos, ErasureHead, 2019, figures 3 and "
              "4: 30 workers, Amazon, Covertype and KC housing data",
    .claim = "Stopping when 11 of 30 workers have answered is 5 to 7 times "
             "faster to an AUC than waiting for all, and ends on nearly the "
             "same AUC.",
    .differs = "Virtual seconds are of the delays alone, drawn as the "
               "reference code draws them; the paper's hold compute and "
               "network of EC2 besides, so that its steps are longer, and its "
               "gains now above and now below ours. frc is the paper's EGC, "
               "agc its AGC; its "
               "speed-ups are of AGD.",
    .run = run_erasurehead,
};

/* --- noise-floor --------------------------------------------------------- */

#define DESCENT                                                                \
    "gen:linear:6000,20 --test gen:linear:6000,20 --model linear --l2 0 "      \
    "--optim gd " THIRTY " --steps %u --seed %u "
#define VIRTUAL "simulate " DESCENT "--delay exp:.5 --work 0 --code "
#define LEAST                                                                  \
    "train gen:linear:6000,20 --test gen:linear:6000,20 --model linear --l2 "  \
    "0 --seed %u -q"
#define COLLECTS 6u

static const uint32_t collects[COLLECTS] = {6, 8, 11, 14, 18, 22};

/* Sums over the seeds. */
struct floor {
    double exact;
    double gap[COLLECTS], square[COLLECTS], covered[COLLECTS];
};

static const struct lab_chart floor_chart = {
    .table = "Where gradient descent on partial gradients ends, virtual time",
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
    const double least =
        lab_number(lab_run(lab, LAB_DONE, LEAST, seed), "test_metrics.mse");

    sum->exact +=
        lab_number(lab_run(lab, LAB_DONE, VIRTUAL "frc:s=2", steps, seed),
                   "metrics.mse") -
        least;
    for (size_t i = 0; i < COLLECTS; i++) {
        const json_t *run = lab_run(lab, LAB_DONE, VIRTUAL "agc:s=2:collect=%u",
                                    steps, seed, collects[i]);

        const double gap = lab_number(run, "metrics.mse") - least;

        sum->gap[i] += gap;
        sum->square[i] += gap * gap;
        sum->covered[i] += lab_number(run, "coverage");
    }
}

/* The same descents by 30 processes: who is late is drawn, who answers first
 * is up to the machine. */
static void real_floor(struct lab *lab)
{
    static const uint32_t some[] = {6, 11, 22};
    const uint32_t steps = lab->quick ? 60 : 100, seeds = lab->quick ? 1 : 3;
    char title[128];
    json_t *table;

    (void)snprintf(title, sizeof title,
                   "30 real processes, delays of mean .05 s: %u steps, mean of "
                   "%u seed%s",
                   steps, seeds, seeds == 1 ? "" : "s");
    table = lab_table(lab, title,
                      "collect of 30|real s|mse above the least|virtual, as "
                      "many steps");
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        double real = 0, virtual = 0, took = 0;

        for (uint32_t seed = 1; seed <= seeds; seed++) {
            const double least = lab_number(lab_run(lab, LAB_DONE, LEAST, seed),
                                            "test_metrics.mse");
            const json_t *run = lab_run(
                lab, LAB_DONE,
                "train " DESCENT "--delay exp:.05 --code agc:s=2:collect=%u -q",
                steps, seed, some[i]);

            took += lab_number(run, "elapsed_s") / seeds;
            real += (lab_number(run, "test_metrics.mse") - least) / seeds;
            virtual +=
                (lab_number(lab_run(lab, LAB_DONE, VIRTUAL "agc:s=2:collect=%u",
                                    steps, seed, some[i]),
                            "metrics.mse") -
                 least) /
                seeds;
        }
        lab_row(table, "%u|%.2f|%.2e|%.2e", some[i], took, fmax(0, real),
                fmax(0, virtual));
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
    if (!lab->virtual_time)
        real_floor(lab);
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
