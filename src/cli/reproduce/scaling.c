/*
 * scaling.c - what D. Papailiopoulos' lecture on distributed machine learning
 * (lecture 24) says of more machines: strong and weak scaling, the share of
 * communication, models and rows that have less to compute.
 */
#include <math.h>
#include <stdio.h>

#include "cli/reproduce/experiments.h"
#include "os/run/threads.h"

#define SCALED                                                                 \
    "train gen:gmm:%u,100 --optim agd --steps 100 -n %u --threads 1 --code "   \
    "uncoded -q"

/* The part of a run in which a worker, on average, does not compute: messages,
 * sums, the update, the wait for the others. */
static double idle_share(const json_t *run)
{
    const json_t *workers = json_object_get(run, "worker_times"), *worker;
    double sum = 0;
    size_t i;

    json_array_foreach(workers, i, worker)
    {
        sum += lab_number(worker, "compute_s");
    }
    return 1 - sum / (double)json_array_size(workers) /
                   lab_number(run, "elapsed_s");
}

static const struct lab_chart scaling_chart = {
    .table = "Strong and weak scaling, real processes of one thread on this "
             "machine",
    .columns = "workers|strong: s|speed-up|of ideal|communication|weak: "
               "s|efficiency|weak: communication",
    .file = "scaling",
    .title = "Speed-up against workers",
    .x = "workers",
    .y = "times the work of one worker in the same time",
    .measured = {"strong: as many rows for all", "weak: as many for each"},
    .theory = "ideal",
};

static void strong_and_weak(struct lab *lab)
{
    static const uint32_t counts[] = {1, 2, 4};
    const uint32_t rows = lab->quick ? 5000 : 200000;
    const uint32_t processors = threads_available();
    const struct lab_drawn drawn = lab_chart(lab, &scaling_chart);
    double strong_one = NAN, weak_one = NAN, strong_share = NAN,
           weak_share = NAN;
    uint32_t at = 1;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint32_t n = counts[i];
        const json_t *strong = lab_run(lab, LAB_DONE, SCALED, rows, n);
        const json_t *weak =
            n == 1 ? strong : lab_run(lab, LAB_DONE, SCALED, rows * n, n);
        const double one = lab_number(strong, "elapsed_s");
        const double many = lab_number(weak, "elapsed_s");

        strong_one = i == 0 ? one : strong_one;
        weak_one = i == 0 ? many : weak_one;
        lab_row(drawn.table, "%u%s|%.3f|%.2f|%.2f|%.2f|%.3f|%.2f|%.2f", n,
                n > processors ? ", more than processors" : "", one,
                strong_one / one, strong_one / one / n, idle_share(strong),
                many, weak_one / many, idle_share(weak));
        lab_point(drawn.lines[0], n, strong_one / one);
        lab_point(drawn.lines[1], n, n * weak_one / many);
        lab_point(drawn.theory, n, n);
        if (n > processors)
            continue;
        at = n;
        strong_share = strong_one / one / n;
        weak_share = weak_one / many;
    }
    lab_processors(lab, counts[sizeof counts / sizeof *counts - 1]);
    lab_remark(lab,
               "Communication: the part of a run in which a worker, on "
               "average, does not compute, 1 - compute_s / elapsed_s of the "
               "run's own account (worker_times). Messages, sums, the update "
               "and the wait for the others are in it; where workers share a "
               "processor, waiting for it counts as computing.");
    if (at > 1)
        lab_remark(lab,
                   "%u workers with a processor each: strong scaling comes to "
                   "%.2f of the ideal, weak scaling to %.2f, so that weak "
                   "scaling %s, as the lecture says%s.",
                   at, strong_share, weak_share,
                   weak_share > strong_share ? "looks better"
                                             : "does not look better",
                   weak_share > strong_share ? "" : " it does");
}

#define SETTINGS 3u

struct duel {
    double ms[2], idle[2], gain;
};

/* One worker against two, 50 steps of each. */
static struct duel duel(struct lab *lab, const char *data)
{
    struct duel of = {0};

    for (uint32_t n = 1; n <= 2; n++) {
        const json_t *run =
            lab_run(lab, LAB_DONE,
                    "train %s --optim agd --steps 50 -n %u --threads 1 --code "
                    "uncoded -q",
                    data, n);

        of.ms[n - 1] = lab_number(run, "elapsed_s") / 50 * 1e3;
        of.idle[n - 1] = idle_share(run);
    }
    of.gain = of.ms[0] / of.ms[1];
    return of;
}

static bool falls(const double gain[SETTINGS])
{
    return gain[0] > gain[1] && gain[1] > gain[2];
}

#define DUEL                                                                   \
    "one worker: ms a step|two|speed-up|communication, one|communication, two"

static const struct lab_chart sizes_chart = {
    .table = "Two workers, as many numbers in the data, models of other sizes",
    .columns = "weights|numbers for each weight|" DUEL,
    .file = "sizes",
    .title = "Two workers: speed-up and communication against the model's size",
    .x = "weights",
    .y = "times; part of the time",
    .scale = LAB_LOG_X,
    .measured = {"speed-up of two workers", "communication, two workers"},
};

/* Rows of 10 columns cost nothing beside what is said of a wide model. */
static void by_size(struct lab *lab)
{
    static const uint32_t columns[SETTINGS] = {10, 100, 1000};
    const uint32_t entries = lab->quick ? 400000 : 20000000;
    const struct lab_drawn drawn = lab_chart(lab, &sizes_chart);
    double gain[SETTINGS];

    for (size_t i = 0; i < SETTINGS; i++) {
        char data[64];
        struct duel of;

        (void)snprintf(data, sizeof data, "gen:gmm:%u,%u", entries / columns[i],
                       columns[i]);
        of = duel(lab, data);
        gain[i] = of.gain;
        lab_row(drawn.table, "%u|%u|%.3f|%.3f|%.2f|%.2f|%.2f", columns[i],
                entries / columns[i], of.ms[0], of.ms[1], of.gain, of.idle[0],
                of.idle[1]);
        lab_point(drawn.lines[0], columns[i], of.gain);
        lab_point(drawn.lines[1], columns[i], of.idle[1]);
    }
    lab_remark(lab,
               "Two workers with %u, %u and %u weights are faster by %.2f, "
               "%.2f and %.2f: that more compute for each weight scales "
               "better %s.",
               columns[0], columns[1], columns[2], gain[0], gain[1], gain[2],
               falls(gain) ? "shows" : "does not show in these");
}

#define WIDE 1000u /* Columns. */

static const struct lab_chart sparse_chart = {
    .table = "Two workers, 1,000 weights, as many rows, of which fewer and "
             "fewer numbers are not 0",
    .columns = "per cent not 0|numbers that are not 0|" DUEL,
    .file = "sparsity",
    .title = "Two workers: speed-up and communication against sparsity",
    .x = "per cent of the numbers that are not 0",
    .y = "times; part of the time",
    .scale = LAB_LOG_X,
    .measured = {"speed-up of two workers", "communication, two workers"},
};

/* Rows of ones and zeros, LIBSVM; the label says whether odd columns are more
 * than even ones.  How many ones there are. */
static uint32_t write_sparse(struct lab *lab, const char *name, uint32_t rows,
                             double share)
{
    struct page text = {0};
    uint64_t state = rows;
    uint32_t count = 0;

    for (uint32_t i = 0; i < rows; i++) {
        uint32_t at[WIDE], ones = 0, odd = 0;

        for (uint32_t j = 1; j <= WIDE; j++)
            if (lab_draw(&state) < share) {
                at[ones++] = j;
                odd += j % 2;
            }
        page_put(&text, "%d", 2 * odd > ones ? 1 : -1);
        for (uint32_t k = 0; k < ones; k++)
            page_put(&text, " %u:1", at[k]);
        page_put(&text, "\n");
        count += ones;
    }
    lab_save(lab, name, &text);
    return count;
}

static void by_sparsity(struct lab *lab)
{
    static const double shares[SETTINGS] = {.2, .05, .01};
    const uint32_t rows = lab->quick ? 1000 : 10000;
    const struct lab_drawn drawn = lab_chart(lab, &sparse_chart);
    double gain[SETTINGS];

    for (size_t i = 0; i < SETTINGS; i++) {
        const double percent = 100 * shares[i];
        char name[32], data[64];
        uint32_t count;
        struct duel of;

        (void)snprintf(name, sizeof name, "ones-%g.svm", percent);
        (void)snprintf(data, sizeof data, "%s --storage csr", name);
        count = write_sparse(lab, name, rows, shares[i]);
        of = duel(lab, data);
        gain[i] = of.gain;
        lab_row(drawn.table, "%g|%u|%.3f|%.3f|%.2f|%.2f|%.2f", percent, count,
                of.ms[0], of.ms[1], of.gain, of.idle[0], of.idle[1]);
        lab_point(drawn.lines[0], percent, of.gain);
        lab_point(drawn.lines[1], percent, of.idle[1]);
    }
    lab_remark(lab,
               "With 20, 5 and 1 per cent of the numbers not 0, two workers "
               "are faster by %.2f, %.2f and %.2f: that sparser rows, which "
               "leave less to compute beside the same messages, scale worse "
               "%s.",
               gain[0], gain[1], gain[2],
               falls(gain) ? "shows" : "does not show in these");
}

static void run_scaling(struct lab *lab)
{
    if (lab->virtual_time)
        lab_remark(lab, "Scaling has no virtual form: these are real "
                        "processes on this machine, whatever else it does.");
    strong_and_weak(lab);
    by_size(lab);
    by_sparsity(lab);
    if (lab->quick)
        lab_remark(lab, "Runs of --quick are hundredths of a second long, in "
                        "which starting and messages count for much: they "
                        "decide nothing.");
}

const struct experiment experiment_scaling = {
    .name = "scaling",
    .title = "Strong and weak scaling",
    .source = LAB_LECTURE "24.5.3 and 24.5.4",
    .claim = "Weak scaling reports better speed-ups than strong scaling; "
             "models with more compute per weight scale better.",
    .differs = "Every worker has one thread, so that more workers are more "
               "hardware, up to the processors of this machine. Strong: as "
               "many rows for all of them together; weak: for each. A step "
               "here moves the whole model both ways, so that what counts is "
               "the work for each weight: less of it with more weights, or "
               "with sparser rows.",
    .run = run_scaling,
};
