/*
 * flexent.c - what Salamy, Sharma, Ghobadi and Medard, "FlexEnt: Entropy coding
 * to curb stragglers in large-scale distributed machine learning", say
 * of shadow workers: a random sample in place of a straggler against nothing,
 * and the sample of the largest entropy, which they announce, against a random
 * one.
 */
#include <math.h>
#include <stdio.h>

#include "cli/reproduce/digits.h"
#include "cli/reproduce/experiments.h"

#define PRIMARIES 8u
#define SEEDS_MAX 5u
#define SAMPLED   "flexent:size=%u%%:"

/* In the order of --compare. */
enum arm {
    ARM_WAIT,
    ARM_STEAL,
    ARM_ABANDON,
    ARM_RESCALE,
    ARM_RANDOM,
    ARM_ENTROPY,
    ARM_STRATA,
    ARM_SHRINK,
    ARMS,
};

static const char *const arms[ARMS] = {"wait",    "steal",  "abandon",
                                       "rescale", "random", "entropy",
                                       "strata",  "shrink"};

/* The arms before ARM_RANDOM, which the size of a sample does not change. */
#define PLAIN "uncoded,steal,flexent:estimate=abandon,flexent:estimate=rescale,"
#define SAMPLES                                                                \
    SAMPLED "estimate=shadow:sampler=random," SAMPLED                          \
            "estimate=shadow:sampler=entropy," SAMPLED                         \
            "estimate=shadow," SAMPLED "estimate=shrink"

/* Rows as workers have them. */
struct shards {
    const char *labels;             /* alike or skewed */
    const char *where;              /* Data, and options that belong to it. */
    const json_t *plain[SEEDS_MAX]; /* Runs of all arms, of the first size. */
};

/* What one seed of one arm came to. */
struct found {
    double step_s, error;
    double steps, accuracy; /* By the common time. */
};

struct cell {
    const char *labels;
    uint32_t size; /* Per cent. */
    uint32_t seeds;
    struct found found[ARMS][SEEDS_MAX];
};

/* --- the curve ----------------------------------------------------------- */

static void draw_entropy(struct lab *lab, const char *data)
{
    static const char *const draws[] = {"strata", "random", "entropy"};
    const json_t *found = lab_run(lab, LAB_DONE, "data entropy %s", data);
    json_t *plot = lab_plot(lab, "entropy", "Joint entropy of a sample",
                            "share of the rows", "bits", LAB_LOG_X);
    json_t *table = lab_table(lab, "Bits of joint colour that a sample keeps",
                              "share of the rows|strata|random|entropy");
    json_t *lines[3];
    const json_t *sample;
    size_t i;

    for (size_t k = 0; k < 3; k++)
        lines[k] = lab_line(plot, draws[k], false);
    json_array_foreach(json_object_get(found, "samples"), i, sample)
    {
        const double share = lab_number(sample, "share");

        lab_row(table, "%.1f %%|%.3f|%.3f|%.3f", 100 * share,
                lab_number(sample, "strata"), lab_number(sample, "random"),
                lab_number(sample, "entropy"));
        for (size_t k = 0; k < 3; k++)
            lab_point(lines[k], share, lab_number(sample, draws[k]));
    }
}

/* --- training ------------------------------------------------------------ */

/* `runs` of the arms of one size: of all, or of those it changes. */
static const json_t *run_of(const json_t *plain, const json_t *runs,
                            uint32_t arm)
{
    if (arm < ARM_RANDOM || runs == plain)
        return json_array_get(json_object_get(plain, "runs"), arm);
    return json_array_get(json_object_get(runs, "runs"), arm - ARM_RANDOM);
}

/* When the fastest of all arms has made its last step: until then every arm was
 * at work. */
static double common_end(const json_t *plain, const json_t *runs)
{
    double end_s = (double)INFINITY;

    for (uint32_t arm = 0; arm < ARMS; arm++)
        end_s = fmin(end_s, lab_number(run_of(plain, runs, arm), "total_s"));
    return end_s;
}

/* The mean error of its steps, and the accuracy of the last that ends by then.
 */
static struct found look_at(const json_t *run, double until_s)
{
    struct found found = {.step_s = lab_number(run, "mean_step_s"),
                          .accuracy = (double)NAN};
    const json_t *point;
    size_t i;
    double errors = 0;

    json_array_foreach(json_object_get(run, "series"), i, point)
    {
        errors += lab_number(point, "gradient_error");
        if (lab_number(point, "t_s") > until_s + 1e-9)
            continue;
        found.steps++;
        found.accuracy = lab_number(point, "accuracy");
    }
    found.error = errors / lab_number(run, "steps");
    return found;
}

static void draw_curves(struct lab *lab, const json_t *runs, const char *file,
                        const char *title)
{
    json_t *plot = lab_plot(lab, file, title, "virtual seconds",
                            "test accuracy", LAB_LINEAR);

    for (uint32_t arm = 0; arm < ARMS; arm++) {
        json_t *line = lab_line(plot, arms[arm], false);
        const double end_s = common_end(runs, runs);
        const json_t *point;
        size_t i;

        json_array_foreach(json_object_get(run_of(runs, runs, arm), "series"),
                           i, point)
        {
            if (lab_number(point, "t_s") <= 2 * end_s)
                lab_point(line, lab_number(point, "t_s"),
                          lab_number(point, "accuracy"));
        }
    }
}

/* Mean, and half of the 95 % interval by Student's t. */
static void mean_of(const double *value, uint32_t count, double *mean,
                    double *half)
{
    static const double student[SEEDS_MAX] = {0, 12.706, 4.303, 3.182, 2.776};
    double squares = 0;

    *mean = 0;
    for (uint32_t i = 0; i < count; i++)
        *mean += value[i] / count;
    for (uint32_t i = 0; i < count; i++)
        squares += (value[i] - *mean) * (value[i] - *mean);
    *half = count < 2 ? (double)NAN
                      : student[count - 1] * sqrt(squares / (count - 1)) /
                            sqrt((double)count);
}

static double part(const struct found *found, bool error)
{
    return error ? found->error : 100 * found->accuracy;
}

static void add_difference(json_t *table, const struct cell *cell, enum arm one,
                           enum arm other)
{
    double mean[2] = {0}, half[2] = {0};

    for (uint32_t k = 0; k < 2; k++) {
        double apart[SEEDS_MAX];

        for (uint32_t i = 0; i < cell->seeds; i++)
            apart[i] = part(&cell->found[one][i], k == 0) -
                       part(&cell->found[other][i], k == 0);
        mean_of(apart, cell->seeds, &mean[k], &half[k]);
    }
    lab_row(table, "%s|%u %%|%s - %s|%+.3f +- %.3f|%+.2f +- %.2f", cell->labels,
            cell->size, arms[one], arms[other], mean[0], half[0], mean[1],
            half[1]);
}

/* Means of the seeds, from one arm on. */
static void add_arms(json_t *table, const struct cell *cell, uint32_t first)
{
    for (uint32_t arm = first; arm < ARMS; arm++) {
        double step_s = 0;
        double error = 0;
        double steps = 0;
        double accuracy = 0;

        for (uint32_t i = 0; i < cell->seeds; i++) {
            step_s += cell->found[arm][i].step_s / cell->seeds;
            error += cell->found[arm][i].error / cell->seeds;
            steps += cell->found[arm][i].steps / cell->seeds;
            accuracy += part(&cell->found[arm][i], false) / cell->seeds;
        }
        if (arm < ARM_RANDOM)
            lab_row(table, "%s|-|%s|%.2f|%.3f|%.1f|%.2f", cell->labels,
                    arms[arm], step_s, error, steps, accuracy);
        else
            lab_row(table, "%s|%u %%|%s|%.2f|%.3f|%.1f|%.2f", cell->labels,
                    cell->size, arms[arm], step_s, error, steps, accuracy);
    }
}

struct tables {
    json_t *arms, *differences;
};

#define SETTING                                                                \
    "simulate %s --model softmax --optim gd -n %u --steps %u --work 1 "        \
    "--delay "                                                                 \
    "worker:w%u=10 --stragglers 1 --seed %u --series --compare "

static const json_t *simulate(struct lab *lab, const struct shards *shards,
                              uint32_t seed, uint32_t size, bool all)
{
    const uint32_t steps = lab->quick ? 20 : 40;
    const uint32_t late = (3 * seed + 2) % PRIMARIES;

    return all ? lab_run(lab, LAB_DONE, SETTING PLAIN SAMPLES, shards->where,
                         PRIMARIES + 1, steps, late, seed, size, size, size,
                         size)
               : lab_run(lab, LAB_DONE, SETTING SAMPLES, shards->where,
                         PRIMARIES + 1, steps, late, seed, size, size, size,
                         size);
}

static void one_cell(struct lab *lab, const struct tables *tables,
                     struct shards *shards, uint32_t size, bool first)
{
    static const enum arm pairs[][2] = {{ARM_RANDOM, ARM_ABANDON},
                                        {ARM_ENTROPY, ARM_RANDOM},
                                        {ARM_STRATA, ARM_RANDOM},
                                        {ARM_SHRINK, ARM_RANDOM}};
    struct cell cell = {.labels = shards->labels,
                        .size = size,
                        .seeds = lab->quick ? 3 : SEEDS_MAX};
    const json_t *runs = NULL;

    for (uint32_t seed = 0; seed < cell.seeds; seed++) {
        double end_s;

        runs = simulate(lab, shards, seed, size, first);
        if (first)
            shards->plain[seed] = runs;
        end_s = common_end(shards->plain[seed], runs);
        for (uint32_t arm = 0; arm < ARMS; arm++)
            cell.found[arm][seed] =
                look_at(run_of(shards->plain[seed], runs, arm), end_s);
    }
    add_arms(tables->arms, &cell, first ? ARM_WAIT : ARM_RANDOM);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        add_difference(tables->differences, &cell, pairs[i][0], pairs[i][1]);
    if (first) {
        char title[96];

        (void)snprintf(title, sizeof title,
                       "Test accuracy against time, labels %s, seed %u",
                       shards->labels, cell.seeds - 1);
        draw_curves(lab, runs, shards->labels, title);
    }
}

/* With processes: what a step takes. */
static void real_times(struct lab *lab, const char *where)
{
    static const char *const codes[] = {
        "uncoded", "steal", "flexent:estimate=abandon",
        "flexent:estimate=shadow:sampler=random", "flexent"};
    json_t *table = lab_table(
        lab, "Real processes, one of them 300 times as slow, labels skewed",
        "code|seconds|steps|test accuracy");

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const json_t *run =
            lab_run(lab, LAB_ENDED,
                    "train %s --model softmax --optim gd -n %u --steps 20 "
                    "--threads 1 --delay worker:w2=300 --stragglers 1 --code "
                    "%s -q",
                    where, PRIMARIES + 1, codes[i]);

        lab_row(table, "%s|%.2f|%.0f|%.4f", codes[i],
                lab_number(run, "elapsed_s"), lab_number(run, "steps"),
                lab_number(run, "test_metrics.accuracy"));
    }
}

#define WHERE      160u
#define CHUNKS     40u /* Five for each primary. */
#define ROWS       4000u
#define QUICK_ROWS 800u

/* A sample of MNIST's 60,000 and 10,000 rows, or drawn ones.  Returns data
 * whose entropy is to be drawn. */
static const char *prepare(struct lab *lab, char alike[WHERE],
                           char skewed[WHERE])
{
    const uint32_t rows = lab->quick ? QUICK_ROWS : ROWS;
    const char *drawn = lab->quick ? "gen:digits:800" : "gen:digits:10000";
    const uint32_t strides[] = {60000 / rows, lab->quick ? 50 : 10};

    (void)snprintf(alike, WHERE, "gen:digits:%u --chunk-rows %u", rows,
                   rows / CHUNKS);
    (void)snprintf(skewed, WHERE, "gen:sorted:%u --chunk-rows %u", rows,
                   rows / CHUNKS);
    if (lab->quick && lab->raw == NULL) {
        lab_remark(lab, "Drawn digits stand in for MNIST (--quick): figures do "
                        "not compare with the paper's.");
        return drawn;
    }
    if (lab_link(lab, "mnist", "gen:digits") == NULL)
        return drawn;
    digits_take(lab, "train", "alike", strides[0], false);
    digits_take(lab, "train", "skewed", strides[0], true);
    digits_take(lab, "t10k", "test", strides[1], false);
    (void)snprintf(alike, WHERE,
                   "alike-images-idx3-ubyte --test test-images-idx3-ubyte "
                   "--chunk-rows %u",
                   rows / CHUNKS);
    (void)snprintf(skewed, WHERE,
                   "skewed-images-idx3-ubyte --test test-images-idx3-ubyte "
                   "--chunk-rows %u",
                   rows / CHUNKS);
    lab_remark(lab,
               "MNIST: one in %u of its training rows and one in %u of its "
               "test rows, for short runs.",
               strides[0], strides[1]);
    return "alike-images-idx3-ubyte";
}

static void run_flexent(struct lab *lab)
{
    /* At 30 % a step takes longer than without a sample. */
    static const uint32_t sizes[] = {10, 30, 5, 20};
    const size_t count = lab->quick ? 2 : sizeof sizes / sizeof *sizes;
    char alike[WHERE], skewed[WHERE];
    struct shards shards[] = {{.labels = "alike", .where = alike},
                              {.labels = "skewed", .where = skewed}};
    struct tables tables;

    draw_entropy(lab, prepare(lab, alike, skewed));
    tables.arms = lab_table(
        lab, "Eight primary workers, one of them 10 times as slow, one shadow",
        "labels|size|arm|s/step|error of the gradient, all steps|steps at "
        "equal time|accuracy at equal time, %");
    tables.differences = lab_table(
        lab, "Differences between runs of the same seed, 95 %",
        "labels|size|difference|error of the gradient, all steps|accuracy at "
        "equal time, points");
    for (size_t i = 0; i < count; i++) {
        one_cell(lab, &tables, &shards[0], sizes[i], i == 0);
        one_cell(lab, &tables, &shards[1], sizes[i], i == 0);
    }
    if (!lab->virtual_time)
        real_times(lab, skewed);
    lab_remark(lab,
               "Seconds a step, errors and accuracies are means of %u seeds; "
               "the plots of accuracy show the last of them alone. Accuracy is "
               "compared at one time, at which the fastest arm has made its "
               "last step: a slower one has made fewer by then. Errors are of "
               "all steps, which are as many in every arm. wait, steal, "
               "abandon and rescale take no sample: "
               "their steps are the same at every size.",
               lab->quick ? 3 : SEEDS_MAX);
    lab_remark(lab,
               "alike: workers have rows of every class. skewed: rows are in "
               "the order of their labels, so that each worker has one class "
               "or two, and the straggler's are seen by its shadow alone. "
               "bench/shadows.py has MNIST, networks, two stragglers and "
               "macro-recall; docs/shadows.md says what came of it.");
}

const struct experiment experiment_flexent = {
    .name = "flexent",
    .title = "FlexEnt: shadow workers stand for a straggler",
    .source = "Salamy, Sharma, Ghobadi, Medard, FlexEnt, section 3 "
              "(preliminary results on MNIST, without numbers)",
    .claim = "Replacing a straggler's gradient by that of a shadow worker on a "
             "random sample of its data achieves better accuracy than "
             "abandoning it; samples of high entropy should be significantly "
             "better still.",
    .differs =
        "The paper gives no numbers, no network and no share of the data; all "
        "are ours. A sample's sum is weighted, so that it estimates the part's "
        "(random: m/b; entropy: the same, as the paper has no weights; strata: "
        "by cell). wait and steal are exact; abandon and rescale are what a "
        "shadow has to beat; shrink is Muster's default.",
    .run = run_flexent,
};
