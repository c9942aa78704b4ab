/*
 * scaling.c - what D. Papailiopoulos' lecture on distributed machine learning
 * (lecture 24) says of more machines: strong and weak scaling.
 */
#include <math.h>
#include <stdio.h>

#include "cli/reproduce/experiments.h"
#include "os/run/threads.h"

#define SCALED                                                                 \
    "train gen:gmm:%u,100 --optim agd --steps 100 -n %u --threads 1 --code "   \
    "uncoded -q"

static void strong_and_weak(struct lab *lab)
{
    static const uint32_t counts[] = {1, 2, 4};
    const uint32_t rows = lab->quick ? 5000 : 200000;
    const uint32_t processors = threads_available();
    json_t *table = lab_table(
        lab,
        "Strong and weak scaling, real processes of one thread on this machine",
        "workers|strong: s|speed-up|of ideal|weak: s|efficiency");
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
        lab_row(table, "%u%s|%.3f|%.2f|%.2f|%.3f|%.2f", n,
                n > processors ? ", more than processors" : "", one,
                strong_one / one, strong_one / one / n, many, weak_one / many);
        if (n > processors)
            continue;
        at = n;
        strong_share = strong_one / one / n;
        weak_share = weak_one / many;
    }
    lab_processors(lab, counts[sizeof counts / sizeof *counts - 1]);
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

/* Rows of 10 columns cost nothing beside what is said of a wide model. */
static void by_size(struct lab *lab)
{
    static const uint32_t columns[] = {10, 100, 1000};
    const uint32_t entries = lab->quick ? 400000 : 20000000;
    json_t *table = lab_table(
        lab, "Two workers, as many numbers in the data, models of other sizes",
        "weights|numbers for each weight|one worker: ms a step|two|speed-up");
    double gain[3];

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        double took[2];

        for (uint32_t n = 1; n <= 2; n++)
            took[n - 1] =
                lab_number(lab_run(lab, LAB_DONE,
                                   "train gen:gmm:%u,%u --optim agd --steps 50 "
                                   "-n %u --threads 1 --code uncoded -q",
                                   entries / columns[i], columns[i], n),
                           "elapsed_s") /
                50 * 1e3;
        gain[i] = took[0] / took[1];
        lab_row(table, "%u|%u|%.3f|%.3f|%.2f", columns[i], entries / columns[i],
                took[0], took[1], gain[i]);
    }
    lab_remark(lab,
               "Two workers with %u, %u and %u weights are faster by %.2f, "
               "%.2f and %.2f: that more compute for each weight scales "
               "better %s.",
               columns[0], columns[1], columns[2], gain[0], gain[1], gain[2],
               gain[0] > gain[1] && gain[1] > gain[2]
                   ? "shows"
                   : "does not show in these");
}

static void run_scaling(struct lab *lab)
{
    if (lab->virtual_time)
        lab_remark(lab, "Scaling has no virtual form: these are real "
                        "processes on this machine, whatever else it does.");
    strong_and_weak(lab);
    by_size(lab);
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
               "the work for each weight.",
    .run = run_scaling,
};
