/*
 * gradient.c - what Tandon et al., "Gradient coding" (2017), and Wang, Charles
 * and Papailiopoulos, "ErasureHead" (2019), say of exact codes.
 *
 * Delays are the reference code's: drawn from the same generator in the same
 * order (plan/delay.h), so that seconds compare.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/reproduce/experiments.h"

struct setting {
    uint32_t n, s, collect, steps;
    /* uncoded, frc, cyclic, agc, by arithmetic: tests/unit/plan/test_ideal.c
     * comes to them from the delays and the codes alone. */
    double ideal[4];
    double paper[4]; /* Seconds a step on EC2; NaN: not in the paper. */
};

static const struct setting settings[] = {
    {30, 1, 11, 100, {1.986, .804, 1.528, .216}, {2.097, .910, NAN, .320}},
    {30, 2, 11, 100, {1.986, .500, 1.254, .216}, {2.097, .604, NAN, .316}},
    {8, 1, 5, 40, {1.318, .460, .908, .387}, {NAN, NAN, NAN, NAN}},
    {8, 3, 2, 40, {1.318, .187, .426, .134}, {NAN, NAN, NAN, NAN}},
};

/* A line for each code and number of workers, from s = 0, which is uncoded. */
static void draw_setting(json_t *plot, const struct setting *at,
                         const json_t *runs)
{
    static const char *const names[] = {NULL, "frc", "cyclic", "agc"};

    for (uint32_t k = 1; k < 4; k++) {
        char label[48], path[64];
        json_t *line = NULL, *seen;
        size_t i;

        (void)snprintf(label, sizeof label, "%s, %u workers", names[k], at->n);
        json_array_foreach(json_object_get(plot, "lines"), i, seen)
        {
            line = strcmp(lab_text(seen, "label"), label) == 0 ? seen : line;
        }
        if (line == NULL) {
            line = lab_line(plot, label, false);
            lab_point(line, 0, lab_number(runs, "runs.0.mean_step_s"));
        }
        (void)snprintf(path, sizeof path, "runs.%u.mean_step_s", k);
        lab_point(line, at->s, lab_number(runs, path));
    }
}

/* The paper's, of 30 workers. */
static void draw_paper(json_t *plot)
{
    json_t *line = lab_line(plot, "frc, 30 workers, the paper on EC2", true);

    lab_point(line, 0, settings[0].paper[0]);
    lab_point(line, settings[0].s, settings[0].paper[1]);
    lab_point(line, settings[1].s, settings[1].paper[1]);
}

static void ideal_times(struct lab *lab)
{
    json_t *plot =
        lab_plot(lab, "gradient-coding", "Seconds a step, virtual time",
                 "stragglers tolerated (0: uncoded)", "seconds", LAB_LINEAR);
    json_t *table =
        lab_table(lab,
                  "Seconds a step, nothing but delays of mean .5 s: 100 steps "
                  "of 30 workers, 40 of 8",
                  "n, s|code|virtual time|perfect cancellation|paper, EC2");

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct setting *at = &settings[i];
        const json_t *runs = lab_run(
            lab, LAB_DONE,
            "simulate -n %u --no-compute --delay reference --work 0 --steps %u "
            "--compare uncoded,frc:s=%u,cyclic:s=%u,agc:s=%u:collect=%u",
            at->n, at->steps, at->s, at->s, at->s, at->collect);

        for (uint32_t k = 0; k < 4; k++) {
            char path[64], label[64], paper[LAB_SHOWN];

            (void)snprintf(path, sizeof path, "runs.%u.mean_step_s", k);
            (void)snprintf(label, sizeof label, "runs.%u.label", k);
            lab_row(table, "%u, %u|%s|%.3f|%.3f|%s", at->n, at->s,
                    lab_text(runs, label), lab_number(runs, path), at->ideal[k],
                    lab_shown(at->paper[k], 3, paper));
        }
        draw_setting(plot, at, runs);
    }
    draw_paper(plot);
}

/* With processes: one straggling step of eight workers after the other. */
static void real_times(struct lab *lab)
{
    static const char *const codes[] = {"uncoded",   "cyclic:s=1",
                                        "frc:s=1",   "agc:s=1:collect=5",
                                        "steal:s=1", "frc:s=3"};
    const double mean = lab->quick ? .05 : .5;
    const uint32_t steps = lab->quick ? 20 : 40;
    char title[128];
    json_t *table;
    /* Measured once, with that code: no run of this page. */
    static const double reference[] = {52.8, 40.5, 53.3, 53.1, NAN, 53.2};

    (void)snprintf(title, sizeof title,
                   "Seconds of a whole run, eight real processes: %u steps, "
                   "delays of mean %g s%s",
                   steps, mean,
                   lab->quick ? " (--quick: a tenth of the reference's)" : "");
    table = lab_table(lab, title,
                      "code|real|virtual, the same delays|ratio|reference "
                      "code, 40 steps, mean .5 s");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const json_t *ideal =
            lab_run(lab, LAB_DONE,
                    "simulate -n 8 --no-compute --delay reference:%g --work 0 "
                    "--steps %u --code %s",
                    mean, steps, codes[i]);
        const json_t *real = lab_run(
            lab, LAB_DONE,
            "train gen:gmm:800,20 --chunk-rows 10 -n 8 --optim gd --steps %u "
            "--delay reference:%g --code %s -q",
            steps, mean, codes[i]);
        const double wanted = lab_number(ideal, "total_s");
        const double took = lab_number(real, "elapsed_s");
        char paper[LAB_SHOWN];

        lab_row(table, "%s|%.2f|%.2f|%.3f|%s", codes[i], took, wanted,
                took / wanted, lab_shown(reference[i], 1, paper));
    }
    lab_remark(lab, "Reference code: the seconds that its own program took, "
                    "measured once, for 40 steps of eight workers with the "
                    "delays of mean .5 s. They are not the paper's, and no run "
                    "of this page. Ratio: what Muster's real runs take of what "
                    "arithmetic says.");
}

static void run_gradient_coding(struct lab *lab)
{
    ideal_times(lab);
    lab_remark(lab, "Perfect cancellation: worked out beforehand from the "
                    "delays and the codes alone, as if nothing else took time; "
                    "a constant that the virtual time is held against, no run "
                    "of this page.");
    if (!lab->virtual_time)
        real_times(lab);
}

const struct experiment experiment_gradient_coding = {
    .name = "gradient-coding",
    .title = "Gradient coding: exact codes under exponential delays",
    .source = "Tandon et al., Gradient coding, ICML 2017; ErasureHead, 2019, "
              "section 4 (30 workers on EC2, delays of mean .5 s added)",
    .claim = "With s stragglers tolerated a step need not wait for the slowest "
             "s workers; the price is s + 1 times the work.",
    .differs =
        "The paper's seconds hold its machines' compute and network time; ours "
        "are of the delays alone, which are drawn from the same generator. The "
        "reference code never stops a straggler, and the times it prints leave "
        "out the wait for those that are late: by the clock its frc and agc "
        "took 53.1 to 53.3 s, as long as its uncoded (52.8), and its cyclic "
        "s = 1 took 40.5, where the delays alone come to 36.3. Muster cancels "
        "what is no longer needed.",
    .run = run_gradient_coding,
};
