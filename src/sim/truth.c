/*
 * truth.c - the true error of approximate steps, and steps with samples in them
 * (code flexent) made once more.
 *
 * The machine may have opened its next round before its commit is looked at, so
 * weights and scale are copied when a round opens.  The sum that the step was
 * fed stays in the machine until the next one is decoded.
 *
 * Steps are made again by plain loops: which parts are in is the checker's
 * book, samples of linear models are drawn and summed here (those of networks
 * are the evaluator's), and the estimate is as docs/shadows.md has it.
 *
 * CHECK-12: samples have the size that was asked for last, from the beginning
 * of the pass after that and in every life; and a change is durable before it
 * is used.
 */
#include "sim/truth.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "data/rows/gather.h"
#include "data/rows/strata.h"
#include "eval/briefs.h"
#include "math/vec.h"
#include "sim/world.h"

#define GROUPS  4u
#define OFF_MAX 1e-6 /* Relative. */

enum err truth_init(struct world *world)
{
    struct truth *const truth = &world->truth;
    const size_t dims = world->oracle.sum_dims;

    if (world->options->problem == NULL ||
        (!world->options->measure && !code_spec_sampled(&world->options->code)))
        return ERR_OK;
    truth->point = mem_new(world->oracle.dims, sizeof *truth->point);
    truth->exponent = mem_new(dims + 1, sizeof *truth->exponent);
    truth->sum = mem_new(dims + 1, sizeof *truth->sum);
    if (truth->point == NULL || truth->exponent == NULL || truth->sum == NULL)
        return ERR_NOMEM;
    return tally_init(&truth->tally, (uint32_t)dims, world->oracle.chunks);
}

void truth_close(struct truth *truth)
{
    mem_free(truth->point);
    mem_free(truth->exponent);
    mem_free(truth->sum);
    tally_close(&truth->tally);
    *truth = (struct truth){0};
}

void truth_opened(struct world *world)
{
    const struct coordinator *const machine = &world->coordinator.machine;
    struct truth *const truth = &world->truth;

    if (truth->sum == NULL)
        return;
    truth->open = machine->what.kind == EVALUATE_GRADIENT &&
                  machine->what.soft == 0 &&
                  machine->tally.dims == world->oracle.dims;
    if (!truth->open)
        return;
    truth->step = machine->key.step;
    truth->primaries = code_spec_sampled(&machine->code.spec)
                           ? code_data_pieces(&machine->code)
                           : 0;
    memcpy(truth->point, machine->what.w,
           world->oracle.dims * sizeof *truth->point);
    memcpy(truth->exponent, machine->trainer.exponent,
           (world->oracle.dims + (size_t)1) * sizeof *truth->exponent);
}

/* Behind a network's weights are their sizes. */
static uint32_t weights_of(const struct world *world)
{
    return world->options->net != NULL
               ? (uint32_t)world->options->net->neural.parameters
               : world->oracle.dims;
}

/* The sum over all rows of the step, to truth->sum. */
static bool sum_all(struct world *world)
{
    struct truth *const truth = &world->truth;
    const struct computation asked = {
        .what = {.kind = EVALUATE_GRADIENT, .w = truth->point},
        .end = world->oracle.chunks,
        .step = truth->step,
        .exponent = truth->exponent,
        .tally = &truth->tally,
    };

    tally_blank(&truth->tally);
    truth->tally.dims = world->oracle.dims;
    if (sim_compute_judge(world, &asked) != ERR_OK)
        return false;
    return tally_gradient(&truth->tally, truth->exponent, truth->sum);
}

double truth_error(struct world *world)
{
    const double *const fed = world->coordinator.machine.gradient;
    const double *const sum = world->truth.sum;
    const uint32_t dims = weights_of(world);
    double squares = 0;
    double norm;

    if (!world->options->measure || !world->truth.open || !sum_all(world))
        return (double)NAN;
    for (uint32_t j = 0; j < dims; j++)
        squares += (fed[j] - sum[j]) * (fed[j] - sum[j]);
    norm = vec_norm(sum, dims);
    return norm > 0 ? sqrt(squares) / norm : (double)NAN;
}

/* --- sums ---------------------------------------------------------------- */

struct redo {
    struct world *world;
    uint32_t dims, weights; /* Coordinates; those of the model. */
    double *in;             /* Sum over the parts that came, ... */
    uint64_t rows_in;       /* ... which have so many rows. */
    double *one;            /* Sum over a sample, ... */
    double variance;        /* ... its variance, ... */
    uint32_t drawn;         /* ... and how many rows it has. */
    double *wanted;
    double error2; /* That is expected of what stands for missing parts. */
};

/* Chunks [first, end), counted as the job does, by the evaluator; false: they
 * do not fit. */
static bool judge(struct redo *redo, uint32_t first, uint32_t end, double *sum,
                  double *variance)
{
    const struct truth *const truth = &redo->world->truth;
    struct tally tally = {0};
    const struct computation asked = {
        .what = {.kind = EVALUATE_GRADIENT, .w = truth->point},
        .first = first,
        .end = end,
        .step = truth->step,
        .size = resized_size(redo->world, truth->step),
        .exponent = truth->exponent,
        .tally = &tally,
    };
    bool good;

    CHECK(tally_init(&tally, redo->dims, 2 * redo->world->oracle.chunks) ==
          ERR_OK);
    tally_blank(&tally);
    good = sim_compute_judge(redo->world, &asked) == ERR_OK;
    if (good)
        (void)tally_gradient(&tally, truth->exponent, sum);
    *variance = tally.variance;
    tally_close(&tally);
    return good;
}

/* Every so manieth row of the sample, weighted and scaled down as it must be to
 * stay in the bound; out[dims]. */
static void sum_group(struct redo *redo, const struct strata *strata,
                      const uint32_t *rows, uint32_t g, uint32_t groups,
                      int shift, double *out)
{
    struct oracle *const oracle = &redo->world->oracle;
    const struct truth *const truth = &redo->world->truth;
    const struct dataset *const data = oracle->problem->data;
    const struct evaluation what = {.kind = EVALUATE_GRADIENT,
                                    .w = truth->point};
    struct problem problem = *oracle->problem;
    struct problem_round round = {0};
    struct gather gather = {0};
    struct tally tally = {0};
    void *scratch;
    uint32_t count = 0;

    CHECK(gather_init(&gather, data, 1, strata->count) == ERR_OK);
    CHECK(dataset_add_weights(&gather.rows) == ERR_OK);
    CHECK(tally_init(&tally, redo->dims, 1) == ERR_OK);
    for (uint32_t i = g; i < strata->count; i += groups)
        gather.row[count++] = rows[strata->row[i]];
    CHECK(gather_take(&gather, data, 0, count) == ERR_OK);
    for (uint32_t i = 0; i < gather.rows.rows; i++)
        gather.rows.weight[i] =
            i < count ? ldexp(strata->weight[g + i * groups], -shift) *
                            (data->weight == NULL ? 1 : gather.rows.weight[i])
                      : 0;
    problem.data = &gather.rows;
    scratch = mem_new(problem_scratch_bytes(&problem), 1);
    CHECK(scratch != NULL);
    CHECK(problem_round_init(&round, &problem) == ERR_OK);
    CHECK(problem_round_prepare(&round, &problem, &what) == ERR_OK);
    tally_clear(&tally);
    CHECK(problem_add(&problem, &round, &what, 0, truth->exponent, scratch,
                      &tally) == ERR_OK);
    problem_settle(&problem, scratch, &tally);
    (void)tally_gradient(&tally, truth->exponent, out);
    problem_round_close(&round);
    mem_free(scratch);
    tally_close(&tally);
    gather_close(&gather);
}

/* The sample of chunks [first, end) to redo->one. */
static void sum_sample(struct redo *redo, const struct strata *strata,
                       const uint32_t *rows, uint32_t count, int shift)
{
    const uint32_t groups = strata->count < GROUPS ? strata->count : GROUPS;
    double *const group = mem_new(redo->dims, sizeof *group);
    double squares = 0;
    double square = 0;

    CHECK(group != NULL);
    memset(redo->one, 0, redo->dims * sizeof *redo->one);
    for (uint32_t g = 0; g < groups; g++) {
        sum_group(redo, strata, rows, g, groups, shift, group);
        for (uint32_t j = 0; j < redo->dims; j++) {
            group[j] = ldexp(group[j], shift);
            redo->one[j] += group[j];
            squares += group[j] * group[j];
        }
    }
    for (uint32_t j = 0; j < redo->dims; j++)
        square += redo->one[j] * redo->one[j];
    redo->variance = (double)INFINITY;
    if (strata->count == count)
        redo->variance = 0;
    else if (groups > 1)
        redo->variance = draw_variance(squares, square, groups,
                                       (double)strata->count / count);
    mem_free(group);
}

/* Which rows the step has of the chunks; returns how many. */
static uint32_t rows_of(const struct redo *redo, uint32_t first, uint32_t end,
                        uint32_t *rows)
{
    const struct dataset *const data = redo->world->oracle.problem->data;
    const struct sampler *const sampler = &redo->world->options->optim.sampler;
    uint32_t count = 0;

    for (uint32_t k = first; k < end; k++) {
        if (sampler->kind != SAMPLER_WHOLE) {
            count += sampler_select(sampler, redo->world->truth.step, k,
                                    rows + count);
            continue;
        }
        for (uint32_t i = 0; i < dataset_chunk_size(data, k); i++)
            rows[count++] = dataset_first_row(data, k) + i;
    }
    return count;
}

static void draw_sample(struct redo *redo, uint32_t first, uint32_t end)
{
    const struct dataset *const data = redo->world->oracle.problem->data;
    uint32_t *const rows = mem_new(data->rows, sizeof *rows);
    uint32_t *const colour = mem_new(data->rows, sizeof *colour);
    double *const values = mem_new(data->cols, sizeof *values);
    const struct shadowing how = sim_compute_shadowing(redo->world);
    const double size = resized_size(redo->world, redo->world->truth.step);
    struct strata strata = {0};
    uint32_t count;

    CHECK(rows != NULL && colour != NULL && values != NULL);
    count = rows_of(redo, first, end, rows);
    memset(redo->one, 0, redo->dims * sizeof *redo->one);
    redo->variance = 0;
    redo->drawn = 0;
    if (count > 0) {
        CHECK(strata_init(&strata, count, colouring_colours(&how.colouring)) ==
              ERR_OK);
        for (uint32_t i = 0; i < count; i++)
            colour[i] = colour_row(&how.colouring, data, rows[i], values);
        strata_draw(&strata, how.draw, colour, count, draw_size(size, count),
                    rng_at(how.seed, redo->world->truth.step, first));
        redo->drawn = strata.count;
        sum_sample(redo, &strata, rows, count, draw_shift(size));
        strata_close(&strata);
    }
    mem_free(rows);
    mem_free(colour);
    mem_free(values);
}

/* --- the step ------------------------------------------------------------ */

/* How much of the sample stands for a part, the rest is the others' mean; -1:
 * nothing does. */
static double weight_of(const struct redo *redo, double share)
{
    const enum estimate estimate = redo->world->options->code.estimate;
    double apart = 0;

    if (estimate == ESTIMATE_SHADOW)
        return 1;
    if (estimate == ESTIMATE_REFERENCE)
        return -1;
    if (estimate == ESTIMATE_RATIO || isinf(redo->variance))
        return 0;
    for (uint32_t j = 0; j < redo->weights; j++) {
        const double d = redo->one[j] - share * redo->in[j];

        apart += d * d;
    }
    if (redo->variance == 0)
        return 1;
    return apart > redo->variance ? 1 - redo->variance / apart : 0;
}

/* |g^ - r|^2, with r this share of the parts that came, less the variance that
 * is in it. */
static double apart_from(const struct redo *redo, double share)
{
    double apart = -redo->variance;

    for (uint32_t j = 0; j < redo->weights; j++) {
        const double d = redo->one[j] - share * redo->in[j];

        apart += d * d;
    }
    return apart > 0 ? apart : 0;
}

/* The squared error to expect of a part of m rows, `share` of those that came,
 * for which so much of its sample stands (docs/shadows.md): rows that are alike
 * leave m s^2, where the variance is m^2 s^2 / b (1 - b/m). */
static double expect(const struct redo *redo, double m, double share,
                     double weight)
{
    const double b = redo->drawn;
    const double alike = redo->variance == 0 ? 0 : redo->variance * b / (m - b);

    if (!isfinite(redo->variance))
        return (double)NAN;
    if (weight < 0)
        return fmax(apart_from(redo, 0), alike);
    return weight * weight * redo->variance +
           (1 - weight) * (1 - weight) *
               fmax(apart_from(redo, share), alike * (1 + share));
}

static bool is_in(const struct chunkset *set, uint32_t first, uint32_t end)
{
    for (uint32_t k = first; k < end; k++)
        if (!chunkset_has(set, k))
            return false;
    return true;
}

static uint64_t count_rows(const struct redo *redo, uint32_t first,
                           uint32_t end)
{
    const struct sampler *const sampler = &redo->world->options->optim.sampler;
    uint64_t count = 0;

    for (uint32_t k = first; k < end; k++)
        count += sampler->kind == SAMPLER_WHOLE
                     ? dataset_chunk_size(redo->world->oracle.problem->data, k)
                     : sampler_chunk_rows(sampler, redo->world->truth.step, k);
    return count;
}

/* The sample of a part, and what stands for the part, added to `wanted`. */
static bool add_missing(struct redo *redo, uint32_t first, uint32_t end)
{
    const uint32_t chunks = redo->world->oracle.chunks;
    const double rows = (double)count_rows(redo, first, end);
    const double share = redo->rows_in == 0 ? 0 : rows / (double)redo->rows_in;
    double weight;

    if (redo->world->options->net == NULL) {
        draw_sample(redo, first, end);
    } else {
        const double size = resized_size(redo->world, redo->world->truth.step);
        const int shift = draw_shift(size);

        redo->drawn = rows == 0 ? 0 : draw_size(size, (uint32_t)rows);
        if (!judge(redo, chunks + first, chunks + end, redo->one,
                   &redo->variance))
            return false;
        for (uint32_t j = 0; j < redo->dims; j++)
            redo->one[j] = ldexp(redo->one[j], shift);
        redo->variance = ldexp(redo->variance, 2 * shift);
    }
    weight = weight_of(redo, share);
    redo->error2 += expect(redo, rows, share, weight);
    for (uint32_t j = 0; j < redo->dims && weight >= 0; j++)
        redo->wanted[j] +=
            weight * redo->one[j] + (1 - weight) * share * redo->in[j];
    return true;
}

/* What the step should have been fed; false: it cannot be told. */
static bool make_again(struct redo *redo)
{
    const struct checker *const checker = &redo->world->checker;
    const uint64_t chunks = redo->world->oracle.chunks;
    const uint32_t parts = redo->world->truth.primaries;
    double ignored;

    for (uint32_t p = 0; p < parts; p++) {
        const uint32_t first = (uint32_t)(p * chunks / parts);
        const uint32_t end = (uint32_t)((p + 1) * chunks / parts);

        if (first == end || !is_in(&checker->merged, first, end))
            continue;
        if (!judge(redo, first, end, redo->one, &ignored))
            return false;
        redo->rows_in += count_rows(redo, first, end);
        for (uint32_t j = 0; j < redo->dims; j++)
            redo->in[j] += redo->one[j];
    }
    memcpy(redo->wanted, redo->in, redo->dims * sizeof *redo->in);
    for (uint32_t p = 0; p < parts; p++) {
        const uint32_t first = (uint32_t)(p * chunks / parts);
        const uint32_t end = (uint32_t)((p + 1) * chunks / parts);

        if (is_in(&checker->merged, first, end))
            continue;
        if (!is_in(&checker->sampled, first, end)) {
            checker_violate(&redo->world->checker,
                            "CHECK-11: step %u has neither chunks %u..%u nor a "
                            "sample of them",
                            redo->world->truth.step, first, end);
            return false;
        }
        if (!add_missing(redo, first, end))
            return false;
    }
    return true;
}

/* Machines tell the worst of their lives: NaN once one was not known.  `before`
 * is what it was before this step. */
static void check_residual(struct redo *redo, double before)
{
    const struct truth *const truth = &redo->world->truth;
    const double length = vec_norm(redo->wanted, redo->weights);
    const double own = redo->error2 == 0 ? 0 : sqrt(redo->error2) / length;
    const double due = record_worse(before, own);

    if (isnan(truth->worst) != isnan(due) ||
        fabs(truth->worst - due) > OFF_MAX * due)
        checker_violate(&redo->world->checker,
                        "CHECK-11: after step %u the worst error to expect was "
                        "%g instead of %g",
                        truth->step, truth->worst, due);
}

void truth_check(struct world *world)
{
    const double *const fed = world->coordinator.machine.gradient;
    const uint32_t dims = world->oracle.dims;
    struct redo redo = {.world = world, .dims = dims, .weights = dims};
    const double before = world->truth.worst;
    double apart = 0;

    world->truth.worst = world->coordinator.machine.stats.worst_residual;
    if (!world->truth.open || world->truth.primaries == 0 ||
        world->options->ideal)
        return;
    if (world->options->net != NULL)
        redo.weights = (uint32_t)world->options->net->neural.parameters;
    redo.in = mem_new((size_t)3 * dims, sizeof *redo.in);
    CHECK(redo.in != NULL);
    redo.one = redo.in + dims;
    redo.wanted = redo.one + dims;
    if (make_again(&redo)) {
        for (uint32_t j = 0; j < redo.weights; j++)
            apart += (fed[j] - redo.wanted[j]) * (fed[j] - redo.wanted[j]);
        if (!(sqrt(apart) <= OFF_MAX * (vec_norm(redo.wanted, redo.weights) +
                                        vec_norm(redo.in, redo.weights))))
            checker_violate(&world->checker,
                            "CHECK-11: step %u was fed a sum that its answers "
                            "do not give (%g apart)",
                            world->truth.step, sqrt(apart));
        check_residual(&redo, before);
    }
    mem_free(redo.in);
}

/* --- sizes of samples ------------------------------------------------------
 */

void resized_step_opened(struct world *world, uint32_t step)
{
    const struct sim_options *const options = world->options;

    for (uint32_t i = 0; i < options->resize_count; i++) {
        if (options->resize[i].step != step)
            continue;
        world_push(world, (struct happening){.at = world->now +
                                                   options->resize[i].after_us,
                                             .kind = HAPPEN_SIZE,
                                             .node = NODE_COORDINATOR,
                                             .number = i});
    }
}

void resized_asked(struct world *world, uint32_t number, uint32_t step)
{
    const uint32_t pass = sampler_steps(&world->options->optim.sampler);
    const uint32_t due = (world->checker.committed / pass + 1) * pass;
    struct resized *const book = &world->resized;

    if (step != due)
        checker_violate(&world->checker,
                        "CHECK-12: another size after step %u, and the next "
                        "pass begins after step %u",
                        step, due);
    book->list[book->count++] = (struct resized_change){
        .step = due, .size = world->options->resize[number].size, .kept = true};
}

static const struct resized_change *change_at(const struct world *world,
                                              uint32_t step)
{
    const struct resized *const book = &world->resized;

    for (uint32_t i = book->count; i > 0; i--) {
        if (book->list[i - 1].kept && book->list[i - 1].step <= step)
            return &book->list[i - 1];
    }
    return NULL;
}

double resized_size(const struct world *world, uint32_t step)
{
    const struct resized_change *const change = change_at(world, step);

    return change == NULL ? world->options->code.size : change->size;
}

/* --- on disk -------------------------------------------------------------- */

struct lookup {
    const struct resized_change *change;
    bool found;
};

static void compare(void *context, const struct record *record)
{
    struct lookup *const search = context;

    search->found |= record->kind == RECORD_SIZE &&
                     record->step == search->change->step &&
                     record->size == search->change->size;
}

static bool is_journaled(const struct resized_change *change,
                         const uint8_t *data, size_t size)
{
    struct lookup search = {.change = change};
    struct journal_summary summary;

    return journal_scan(data, size, compare, &search, &summary) == ERR_OK &&
           search.found;
}

/* What was not durable may be lost, if nobody has seen it. */
void resized_recovered(struct world *world, const struct recovery *recovery)
{
    struct resized *const book = &world->resized;

    for (uint32_t i = 0; i < book->count; i++) {
        struct resized_change *const change = &book->list[i];

        change->kept = change->kept && recovery->found &&
                       is_journaled(change, recovery->journal_bytes,
                                    recovery->journal.valid_bytes);
        if (change->used && !change->kept)
            checker_violate(&world->checker,
                            "CHECK-12: the size after step %u was in use and "
                            "is not in the journal",
                            change->step);
    }
}

static void use(struct world *world, struct resized_change *change)
{
    const uint8_t *data;
    size_t size;

    if (change->used)
        return;
    change->used = true;
    if (!disk_model_durable(&world->coordinator.disk, JOURNAL_FILE, &data,
                            &size) ||
        !is_journaled(change, data, size))
        checker_violate(&world->checker,
                        "CHECK-12: the size after step %u is used before it is "
                        "durable",
                        change->step);
}

void resized_round(struct world *world, const struct msg_round *round)
{
    const uint32_t step = round->key.step;
    const struct resized_change *const change = change_at(world, step);
    const bool samples = code_spec_sampled(&world->options->code);
    const double due = samples ? resized_size(world, step) : 0;

    if (change != NULL)
        use(world, &world->resized.list[change - world->resized.list]);
    if (round->size != due)
        checker_violate(&world->checker,
                        "CHECK-12: the round of step %u asks for samples of "
                        "%g of the rows instead of %g",
                        step, round->size, due);
}
