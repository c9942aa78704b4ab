/*
 * lecture.c - the claims of D. Papailiopoulos' lecture on distributed machine
 * learning (lecture 24): stragglers, coded products, minibatches, how
 * often to average, prices.  scaling.c has the rest.
 */
#include <math.h>
#include <stdio.h>

#include "cli/reproduce/experiments.h"

/* --- stragglers ---------------------------------------------------------- */

static double power(double base, uint32_t exponent)
{
    double product = 1;

    while (exponent-- > 0)
        product *= base;
    return product;
}

static const struct lab_chart stragglers_chart = {
    .table = "Virtual time of a step by that of an undisturbed one, 5 % of the "
             "times are longer",
    .columns = "n|times longer|uncoded|by arithmetic|frc s=1|steal s=1|auto",
    .file = "stragglers",
    .title = "One in twenty takes 3 times as long",
    .x = "workers",
    .y = "undisturbed steps",
    .scale = LAB_LOG_X,
    .measured = {"uncoded", "steal s=1"},
    .theory = "1 + 2 (1 - .95^n)",
};

/* A trace in which each worker's time for its part of the data is `base`, or
 * `factor` times that: what is drawn is for all of the data (/share). */
static void write_times(struct lab *lab, const char *name, uint32_t n,
                        uint32_t factor, uint32_t steps, double base)
{
    struct page text = {0};
    uint64_t state = 100 * n + factor;

    for (uint32_t t = 0; t < steps; t++)
        for (uint32_t i = 0; i < n; i++)
            page_put(&text, "%g%c",
                     n * base * (lab_draw(&state) < .05 ? factor : 1),
                     i + 1 < n ? ',' : '\n');
    lab_save(lab, name, &text);
}

/* The same times slept by processes, and in the simulator. */
static void real_stragglers(struct lab *lab)
{
    static const char *const codes[] = {"uncoded", "frc:s=1", "steal:s=1"};
    static const uint32_t sizes[] = {6, 10};
    const double base = lab->quick ? .05 : .1;
    const uint32_t steps = lab->quick ? 20 : 40;
    char title[128];
    json_t *table;

    (void)snprintf(title, sizeof title,
                   "Real processes that sleep such times: %u steps, an "
                   "undisturbed one takes %g s",
                   steps, base);
    table = lab_table(lab, title,
                      "n|times longer|code|real|virtual, the same times|real / "
                      "virtual");
    for (size_t k = 0; k < (lab->quick ? 2 : 4); k++) {
        const uint32_t n = sizes[k / 2];
        const uint32_t factor = 2 + k % 2;
        char name[48], job[160];
        const json_t *runs;

        (void)snprintf(name, sizeof name, "times-%u-%u.csv", n, factor);
        write_times(lab, name, n, factor, steps, base);
        (void)snprintf(job, sizeof job,
                       "gen:gmm:%u,10 --chunk-rows 20 --optim gd -n %u --steps "
                       "%u --delay trace:%s/share",
                       200 * n, n, steps, name);
        runs = lab_run(lab, LAB_DONE, "simulate %s --work 0 --compare %s,%s,%s",
                       job, codes[0], codes[1], codes[2]);
        for (size_t i = 0; i < 3; i++) {
            char path[32];
            double took, wanted;

            (void)snprintf(path, sizeof path, "runs.%zu.mean_step_s", i);
            wanted = lab_number(runs, path);
            took = lab_number(lab_run(lab, LAB_DONE, "train %s --code %s -q",
                                      job, codes[i]),
                              "elapsed_s") /
                   steps;
            lab_row(table, "%u|%u|%s|%.3f|%.3f|%.3f", n, factor, codes[i],
                    took / base, wanted / base, took / wanted);
        }
    }
}

static void run_stragglers(struct lab *lab)
{
    static const uint32_t sizes[] = {5, 10, 20, 50, 100};
    const uint32_t steps = lab->quick ? 100 : 4000;
    const struct lab_drawn drawn = lab_chart(lab, &stragglers_chart);

    for (uint32_t factor = 2; factor <= 3; factor++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const json_t *runs = lab_run(
                lab, LAB_DONE,
                "simulate -n %u --no-compute --work 1 --steps %u --delay "
                "bimodal:.05,%u --compare uncoded,frc:s=1,steal:s=1,auto",
                sizes[i] + sizes[i] % 2, steps, factor);
            const double n = sizes[i] + sizes[i] % 2;
            const double theory =
                1 + (factor - 1) * (1 - power(.95, sizes[i] + sizes[i] % 2));

            lab_row(drawn.table, "%.0f|%u|%.3f|%.3f|%.3f|%.3f|%.3f", n, factor,
                    lab_number(runs, "runs.0.mean_step_s"), theory,
                    lab_number(runs, "runs.1.mean_step_s"),
                    lab_number(runs, "runs.2.mean_step_s"),
                    lab_number(runs, "runs.3.mean_step_s"));
            if (factor != 3)
                continue;
            lab_point(drawn.lines[0], n,
                      lab_number(runs, "runs.0.mean_step_s"));
            lab_point(drawn.lines[1], n,
                      lab_number(runs, "runs.2.mean_step_s"));
            lab_point(drawn.theory, n, theory);
        }
    }
    if (!lab->virtual_time)
        real_stragglers(lab);
}

const struct experiment experiment_stragglers = {
    .name = "stragglers",
    .title = "Five per cent of the iterations take two or three times as long",
    .source = LAB_LECTURE "24.6",
    .claim = "Measurements on AWS show that about 5 % of the iterations end up "
             "with double or triple latency.",
    .differs =
        "Read as: each worker is slow in one step of twenty, by itself. Then a "
        "synchronous step is slow with probability 1 - .95^n: nearly always "
        "with a hundred workers. frc computes everything twice; steal only "
        "what is late. In virtual time there is no network, and no compute but "
        "the work itself.",
    .run = run_stragglers,
};

/* --- matmul -------------------------------------------------------------- */

static double harmonic(uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 1; i <= n; i++)
        sum += 1.0 / i;
    return sum;
}

static double step_of(struct lab *lab, uint32_t n, const char *code, uint32_t k,
                      uint32_t steps)
{
    char key[16] = "";

    if (k > 0)
        (void)snprintf(key, sizeof key, "%u", k);
    return lab_number(lab_run(lab, LAB_DONE,
                              "simulate -n %u --no-compute --steps %u --seed 1 "
                              "--delay exp:1/scale --work 1 --code %s%s",
                              n, steps, code, key),
                      "mean_step_s");
}

static const struct lab_chart matmul_chart = {
    .table = "Product of a coded matrix, shifted exponential times, virtual",
    .columns = "n|uncoded|best k|coded|speed-up|(1 + H_n) / 3.146",
    .file = "matmul",
    .title = "Speed-up of k of n over uncoded",
    .x = "workers",
    .y = "speed-up",
    .scale = LAB_LOG_X,
    .measured = {"measured, virtual time"},
    .theory = "(1 + H_n) / 3.146",
};

#define INNER 16u

static void write_matrix(struct lab *lab, const char *name, uint32_t rows)
{
    struct page file = {0};
    char shape[32];
    uint64_t state = rows;

    (void)snprintf(shape, sizeof shape, "%u, %u", rows, INNER);
    page_npy_head(&file, "<f8", shape, false);
    for (uint32_t i = 0; i < rows * INNER; i++) {
        const double value = lab_draw(&state) - .5;

        page_add(&file, &value, sizeof value);
    }
    lab_save(lab, name, &file);
}

/* Processes that hold their part for as long as the simulator says.  A product
 * is half of a step's work (there and back), so its share is drawn twice as
 * long. */
static void real_products(struct lab *lab)
{
    static const char *const codes[] = {"uncoded", "mds:k=6"};
    const uint32_t n = 8, seeds = lab->quick ? 3 : 10;
    const double work = lab->quick ? .8 : 1.6; /* Of all workers. */
    double took[2] = {0}, wanted[2] = {0};
    char title[128];
    json_t *table;

    write_matrix(lab, "A.npy", 840);
    write_matrix(lab, "B.npy", INNER);
    for (uint32_t seed = 1; seed <= seeds; seed++)
        for (size_t i = 0; i < 2; i++) {
            took[i] += lab_number(
                lab_run(lab, LAB_DONE,
                        "product A.npy B.npy C.npy --force -n %u --code %s "
                        "--delay shifted:%g,%g/share --seed %u -q",
                        n, codes[i], 2 * work, 2 * work, seed),
                "seconds");
            wanted[i] += lab_number(
                lab_run(lab, LAB_DONE,
                        "simulate -n %u --no-compute --steps 1 --work 0 --code "
                        "%s --delay shifted:%g,%g/share --seed %u",
                        n, codes[i], work, work, seed),
                "mean_step_s");
        }
    (void)snprintf(title, sizeof title,
                   "Real processes (muster product), n = %u, parts of %g s: "
                   "mean of %u products",
                   n, work / n, seeds);
    table = lab_table(lab, title,
                      "code|real s|virtual s|real / virtual|speed-up, "
                      "real|virtual");
    for (size_t i = 0; i < 2; i++)
        lab_row(table, "%s|%.3f|%.3f|%.3f|%.3f|%.3f", codes[i], took[i] / seeds,
                wanted[i] / seeds, took[i] / wanted[i], took[0] / took[i],
                wanted[0] / wanted[i]);
}

static void run_matmul(struct lab *lab)
{
    static const uint32_t sizes[] = {5, 10, 20, 50, 100, 200, 500, 1000};
    const size_t count = lab->quick ? 4 : 8;
    const struct lab_drawn drawn = lab_chart(lab, &matmul_chart);

    for (size_t i = 0; i < count; i++) {
        const uint32_t n = sizes[i];
        const uint32_t steps = lab->quick ? 400 : n < 100 ? 40000 : 4000;
        const double plain = step_of(lab, n, "uncoded", 0, steps);
        double best = HUGE_VAL;
        uint32_t best_k = 0;

        for (uint32_t share = 60; share <= 80; share += 5) { /* Per cent. */
            const uint32_t k = (share * n + 50) / 100;
            const double took = step_of(lab, n, "mds:k=", k, steps);

            if (took < best) {
                best = took;
                best_k = k;
            }
        }
        lab_row(drawn.table, "%u|%.3f|%u|%.3f|%.3f|%.3f", n, plain, best_k,
                best, plain / best, (1 + harmonic(n)) / 3.146);
        lab_point(drawn.lines[0], n, plain / best);
        lab_point(drawn.theory, n, (1 + harmonic(n)) / 3.146);
    }
    if (!lab->virtual_time)
        real_products(lab);
}

const struct experiment experiment_matmul = {
    .name = "matmul",
    .title = "Coded matrix multiplication is faster by a factor of log n",
    .source = LAB_LECTURE "24.6; Lee et al., Speeding up distributed machine "
                          "learning using codes, 2018",
    .claim = "With times that are shifted exponential an MDS code gives a "
             "speed-up of Theta(log n).",
    .differs = "With the best k, which is about .7 n, the speed-up comes near "
               "(1 + H_n) / 3.146 for large n; with few workers k is a whole "
               "number, and it is somewhat larger. `muster product` does the "
               "same with real processes.",
    .run = run_matmul,
};

/* --- minibatch ----------------------------------------------------------- */

#define LINEAR                                                                 \
    "train gen:linear:%u,100 --model linear --l2 0 --optim gd -q --batch %u "  \
    "--lr %.6g --schedule constant --steps %u"

static uint32_t rows_of(const struct lab *lab)
{
    return lab->quick ? 4000 : 20000;
}

static bool reaches(struct lab *lab, uint32_t batch, double rate,
                    uint32_t steps)
{
    return lab_number(lab_run(lab, LAB_ENDED, LINEAR, rows_of(lab), batch, rate,
                              steps),
                      "objective") <= .05;
}

/* The first step below a loss of .05; 0 if it is beyond 1024. */
static uint32_t steps_to(struct lab *lab, uint32_t batch, double rate)
{
    uint32_t low = 0, high = 1;

    while (high < 1024 && !reaches(lab, batch, rate, high)) {
        low = high;
        high *= 2;
    }
    if (high >= 1024)
        return 0;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;

        if (reaches(lab, batch, rate, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static const struct lab_chart batches_chart = {
    .table = "Steps to a loss of .05 (at the start 1, at the optimum .01)",
    .columns = "B|best rate|steps|rows visited",
    .file = "batches",
    .title = "Steps to a loss",
    .x = "rows of a batch",
    .y = "steps",
    .scale = LAB_LOG_X | LAB_LOG_Y,
    .measured = {"measured"},
};

static void steps_against_batch(struct lab *lab)
{
    static const uint32_t batches[] = {8, 32, 128, 512};
    const int rates = lab->quick ? 0 : 3;
    const struct lab_drawn drawn = lab_chart(lab, &batches_chart);

    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        uint32_t best = 0;
        double best_rate = NAN;

        for (int k = -rates; k <= rates; k++) {
            const double rate = .5 / (1 + 101.0 / batches[i]) *
                                power(sqrt(2), (uint32_t)(k + rates)) /
                                power(sqrt(2), (uint32_t)rates);
            const uint32_t steps = steps_to(lab, batches[i], rate);

            if (steps > 0 && (best == 0 || steps < best)) {
                best = steps;
                best_rate = rate;
            }
        }
        lab_row(drawn.table, "%u|%.3g|%u|%u", batches[i], best_rate, best,
                best * batches[i]);
        lab_point(drawn.lines[0], batches[i], best);
    }
}

static const char *loss_or_not(const json_t *run, char out[16])
{
    if (lab_diverged(run))
        (void)snprintf(out, 16, "diverged");
    else
        (void)snprintf(out, 16, "%.4f", lab_number(run, "objective"));
    return out;
}

static void fixed_rate(struct lab *lab)
{
    static const uint32_t batches[] = {8, 128, 2048};
    json_t *table =
        lab_table(lab, "The loss after 200 steps at a fixed rate of .03",
                  "B|mean gradient|summed gradient (rate .03 / 8)");

    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const json_t *runs[2];
        char shown[2][16];

        for (int k = 0; k < 2; k++)
            runs[k] = lab_run(lab, LAB_ENDED, LINEAR, rows_of(lab), batches[i],
                              k == 0 ? .03 : .03 / 8 * batches[i], 200u);
        lab_row(table, "%u|%s|%s", batches[i], loss_or_not(runs[0], shown[0]),
                loss_or_not(runs[1], shown[1]));
    }
}

static void run_minibatch(struct lab *lab)
{
    steps_against_batch(lab);
    fixed_rate(lab);
    if (lab->virtual_time)
        lab_remark(lab, "Steps are counted, not timed: real and virtual runs "
                        "are the same.");
}

const struct experiment experiment_minibatch = {
    .name = "minibatch",
    .title = "How fast minibatch SGD converges",
    .source = LAB_LECTURE "24.5.1",
    .claim = "Beyond a batch size that depends on data and loss minibatch SGD "
             "offers no speed-up; it cannot guarantee convergence if the step "
             "size is fixed and the batch size goes large.",
    .differs = "The first is so: steps follow 1 + B_crit / B. The second is "
               "true of summed gradients only, whose step grows with the "
               "batch; with mean gradients a larger batch at a fixed rate "
               "converges at least as well.",
    .run = run_minibatch,
};

/* --- averaging ----------------------------------------------------------- */

static const struct lab_chart averaging_chart = {
    .table = "Local SGD: four workers, 64 steps of each, rows of their own",
    .columns = "steps between averages|averages|virtual s|loss of the "
               "model|accuracy",
    .file = "averaging",
    .title = "Loss over all rows against time",
    .x = "virtual seconds",
    .y = "loss",
    .scale = LAB_LOG_X,
    .measured = {"local SGD, 1 to 64 steps between averages"},
};

#define AVERAGED                                                               \
    "gen:gmm:%u,20 --test gen:gmm:%u,20 --l2 0 -n 4 --optim gd --steps 64 "    \
    "--delay reference:.05 --code local:h=%u"

static void real_averages(struct lab *lab, const uint32_t *every, size_t count)
{
    json_t *table = lab_table(lab, "The same with real processes",
                              "steps between averages|real s|virtual s|loss "
                              "of the model, real|virtual");

    for (size_t i = 0; i < count; i++) {
        const json_t *virtual = lab_run(lab, LAB_DONE, "simulate " AVERAGED,
                                        rows_of(lab), rows_of(lab), every[i]);
        const json_t *real = lab_run(lab, LAB_DONE, "train " AVERAGED " -q",
                                     rows_of(lab), rows_of(lab), every[i]);

        lab_row(table, "%u|%.2f|%.2f|%.5f|%.5f", every[i],
                lab_number(real, "elapsed_s"), lab_number(virtual, "total_s"),
                lab_number(real, "test_metrics.logloss"),
                lab_number(virtual, "metrics.logloss"));
    }
    lab_remark(lab, "Virtual seconds hold 1 ms for every chunk that is "
                    "computed and a network, besides the delays; here a chunk "
                    "takes much less.");
}

static void run_averaging(struct lab *lab)
{
    static const uint32_t every[] = {1, 4, 16, 64};
    const struct lab_drawn drawn = lab_chart(lab, &averaging_chart);
    double low = HUGE_VAL, high = 0, often_s = NAN, once_s = NAN;

    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        const json_t *run = lab_run(lab, LAB_DONE, "simulate " AVERAGED,
                                    rows_of(lab), rows_of(lab), every[i]);

        lab_row(drawn.table, "%u%s|%.0f|%.2f|%.5f|%.4f", every[i],
                every[i] == 64 ? " (once, at the end)" : "",
                lab_number(run, "steps"), lab_number(run, "total_s"),
                lab_number(run, "metrics.logloss"),
                lab_number(run, "metrics.accuracy"));
        low = fmin(low, lab_number(run, "metrics.logloss"));
        high = fmax(high, lab_number(run, "metrics.logloss"));
        often_s = i == 0 ? lab_number(run, "total_s") : often_s;
        once_s = lab_number(run, "total_s");
        lab_point(drawn.lines[0], lab_number(run, "total_s"),
                  lab_number(run, "metrics.logloss"));
    }
    lab_remark(lab,
               "All of these end on the same loss but for %.1g: rows are dealt "
               "at random, so workers' models hardly differ, and the price of "
               "averaging rarely, which unlike rows would have, does not show.",
               high - low);
    lab_remark(lab,
               "The %.2f s between averaging in every step and once are %.2f s "
               "for each average: the wait for the slowest of four workers "
               "with delays of mean .05 s, whose expectation is %.2f s. They "
               "are no price of communication.",
               often_s - once_s, (often_s - once_s) / 63, .05 * harmonic(4));
    if (!lab->virtual_time)
        real_averages(lab, every, sizeof every / sizeof *every);
}

const struct experiment experiment_averaging = {
    .name = "averaging",
    .title = "Communication is expensive: how often to average",
    .source = LAB_LECTURE "24.5",
    .claim = "How often should workers average their models?",
    .differs = "The lecture asks and does not answer. Each worker makes "
               "gradient steps on its own rows; models are averaged every h "
               "steps (local SGD, FedAvg), or once at the end.",
    .run = run_averaging,
};

/* --- prices -------------------------------------------------------------- */

/* What is paid by the ends of steps, 40 of them; `rate`: $ an hour. */
static void draw_dollars(json_t *plot, const json_t *runs, size_t which,
                         double rate)
{
    const json_t *run = json_array_get(json_object_get(runs, "runs"), which);
    const json_t *series = json_object_get(run, "series"), *point;
    json_t *line = lab_line(plot, lab_text(run, "label"), false);
    const size_t every = json_array_size(series) / 40;
    size_t i;

    json_array_foreach(series, i, point)
    {
        if ((i + 1) % every == 0)
            lab_point(line, lab_number(point, "step"),
                      rate * lab_number(point, "t_s"));
    }
}

static void run_prices(struct lab *lab)
{
    const double hours = 24 * 365;
    const double up = 1.04, out = 8 * .11;
    json_t *table = lab_table(lab, "A year without a pause",
                              "choice|$ an hour|$ a year|the lecture");
    json_t *cost = lab_table(
        lab,
        "Virtual time: 1,000 steps of one hour of work on eight machines of "
        ".11 $ an hour, one in twenty 3 times as slow",
        "code|hours|$|of uncoded");
    const json_t *runs =
        lab_run(lab, LAB_DONE,
                "simulate -n 8 --no-compute --work 1 --steps 1000 --delay "
                "bimodal:.05,3 --series --compare "
                "uncoded,frc:s=1,steal:s=1,ignore:s=1");
    json_t *plot = lab_plot(lab, "prices", "What so many steps cost", "steps",
                            "$, virtual time", LAB_LINEAR);

    lab_row(table, "scaling up: one of 128 cores|%.2f|%.0f|15,000", up,
            up * hours);
    lab_row(table, "scaling out: eight of 16|%.2f|%.0f|7,500", out,
            out * hours);
    for (uint32_t k = 0; k < 4; k++) {
        char total[32], label[32];

        (void)snprintf(total, sizeof total, "runs.%u.total_s", k);
        (void)snprintf(label, sizeof label, "runs.%u.label", k);
        lab_row(cost, "%s%s|%.0f|%.0f|%.2f", lab_text(runs, label),
                k == 3 ? ", which drops rows" : "", lab_number(runs, total),
                lab_number(runs, total) * out,
                lab_number(runs, total) / lab_number(runs, "runs.0.total_s"));
        draw_dollars(plot, runs, k, out);
    }
}

const struct experiment experiment_prices = {
    .name = "prices",
    .title = "Scaling up or out, in dollars",
    .source = LAB_LECTURE "24.3",
    .claim = "128 cores in one machine cost 1.04 $ an hour, about 15,000 $ a "
             "year; in eight machines 8 x .11 $ an hour, about 7,500 $.",
    .differs = "1.04 $ times 8,760 hours is 9,110 $, not 15,000; 8 x .11 is "
               "7,709 $, about the lecture's. What a straggler costs is hours "
               "of all the others: the second table, in virtual time. ignore "
               "is cheapest because it leaves out the rows of whoever is last "
               "in a step, and does not end on the same model; the others do.",
    .run = run_prices,
};
