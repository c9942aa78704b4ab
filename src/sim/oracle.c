/*
 * oracle.c - one perfect machine as a plain loop over chunks and steps.  It
 * shares the kernels and the optimiser with what it judges, but no protocol;
 * tallies of small problems are memoised for the workers.
 */
#include "sim/oracle.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "core/run/trainer.h"
#include "math/vec.h"

enum err oracle_scale(const struct oracle *oracle,
                      const struct evaluation *what, int16_t *exponent)
{
    if (oracle->followed.on || oracle->net.model != NULL)
        return vec_finite(what->w, oracle->dims) ? ERR_OK : ERR_RANGE;
    if (oracle->problem != NULL)
        return bounds_exponents(&oracle->bounds, oracle->problem, what,
                                exponent);
    memset(exponent, 0, ((size_t)oracle->dims + 1) * sizeof *exponent);
    return ERR_OK;
}

double oracle_slopes(void *context, uint32_t soft, double *scores)
{
    const struct oracle *oracle = context;

    return oracle->problem == NULL
               ? 0
               : problem_slopes(oracle->problem, soft, scores);
}

void oracle_bends(void *context, uint32_t soft, double *scores)
{
    const struct oracle *oracle = context;

    if (oracle->problem != NULL)
        problem_bends(oracle->problem, soft, scores);
}

/* --- memory -------------------------------------------------------------- */

static size_t memo_at(const struct oracle *oracle, uint32_t step,
                      uint32_t chunk)
{
    return (size_t)step * oracle->chunks + chunk;
}

static bool is_memorable(const struct evaluation *what)
{
    return what->kind == EVALUATE_GRADIENT && what->soft == 0;
}

/* The remembered gradient at these weights and scale; `known` if none is. */
static uint32_t memo_find(const struct oracle *oracle,
                          const struct evaluation *what,
                          const int16_t *exponent)
{
    const size_t dims = oracle->dims;

    if (!is_memorable(what))
        return oracle->known;
    for (uint32_t t = 0; t < oracle->known; t++) {
        if (memcmp(oracle->points + t * dims, what->w,
                   dims * sizeof *what->w) == 0 &&
            memcmp(oracle->exponents + t * (dims + 1), exponent,
                   (dims + 1) * sizeof *exponent) == 0)
            return t;
    }
    return oracle->known;
}

static enum err memo_add(const struct oracle *oracle, uint32_t step,
                         uint32_t chunk, struct tally *tally)
{
    const size_t at = memo_at(oracle, step, chunk);
    const int64_t *sum = oracle->sums + at * oracle->dims;

    if (chunkset_has(&tally->chunks, chunk))
        return ERR_OVERLAP;
    chunkset_add(&tally->chunks, chunk);
    for (uint32_t j = 0; j < oracle->dims; j++)
        tally->sum[j] += sum[j];
    tally->loss += oracle->losses[at];
    return ERR_OK;
}

bool oracle_recall(const struct oracle *oracle, const struct computation *asked)
{
    const uint32_t at = memo_find(oracle, &asked->what, asked->exponent);
    enum err err = ERR_OK;

    if (at == oracle->known)
        return false;
    tally_fill(asked->tally);
    for (uint32_t chunk = asked->first; chunk < asked->end && err == ERR_OK;
         chunk++)
        err = memo_add(oracle, at, chunk, asked->tally);
    CHECK(err == ERR_OK); /* It was empty. */
    return true;
}

/* --- steps of a part alone ----------------------------------------------- */

struct alone {
    struct oracle *oracle; /* Its scratch is as good as any. */
    struct part part;
};

static enum err part_gradient(void *context, const double *w, double *sum,
                              double *loss_sum)
{
    struct alone *alone = context;
    struct oracle *oracle = alone->oracle;
    struct part *part = &alone->part;
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    enum err err = part_begin(part, w);

    if (err == ERR_OK)
        err = problem_round_prepare(&oracle->round, part->problem, &what);
    for (uint32_t chunk = part->first; chunk < part->end && err == ERR_OK;
         chunk++)
        err = problem_add(part->problem, &oracle->round, &what, chunk,
                          part->exponent, oracle->scratch, &part->tally);
    if (err == ERR_OK)
        part_end(part, sum, loss_sum);
    return err;
}

static struct sgd_row part_read(void *context, uint32_t i)
{
    const struct alone *alone = context;
    const struct reading_row read = part_row(&alone->part, i);

    return (struct sgd_row){.value = read.value,
                            .wide = read.wide,
                            .index = read.index,
                            .count = read.count,
                            .y = read.y,
                            .weight = read.weight};
}

enum err oracle_local(struct oracle *oracle, const struct problem *problem,
                      uint32_t round, const double *w, uint32_t first,
                      uint32_t end, double *out)
{
    struct alone alone = {.oracle = oracle};
    struct local_part view = {.context = &alone,
                              .dims = oracle->dims,
                              .gradient = part_gradient,
                              .row = part_read};
    enum err err;

    memset(out, 0, ((size_t)oracle->dims + 1) * sizeof *out);
    if (problem == NULL)
        return ERR_OK;
    err = part_init(&alone.part, problem);
    if (err == ERR_OK)
        err = part_take(&alone.part, first, end, pool_serial());
    if (err == ERR_OK) {
        view.cols = problem->data->cols;
        view.loss = problem->model->loss;
        view.first_row = alone.part.first_row;
        view.rows = alone.part.rows;
        view.counted = alone.part.counted;
        err = local_run(&oracle->local, &view, round, w, out);
    }
    part_close(&alone.part);
    return err;
}

/* --- minibatches ---------------------------------------------------------- */

static enum err init_batches(struct oracle *oracle,
                             const struct optim_options *optim)
{
    const struct dataset *data = oracle->problem->data;

    oracle->sampler = optim->sampler;
    oracle->remembers = false;
    oracle->times = mem_new(data->rows, sizeof *oracle->times);
    if (oracle->times == NULL)
        return ERR_NOMEM;
    return gather_init(&oracle->gather, data, oracle->chunks,
                       sampler_chunk_most(&oracle->sampler));
}

/* Whoever ends with the hashes of this machine has summed over the very same
 * rows: they are counted here. */
static void count_rows(struct oracle *oracle, uint32_t step, uint32_t chunk,
                       uint32_t count)
{
    const struct sampler *sampler = &oracle->sampler;
    const uint32_t steps = sampler_steps(sampler);

    if (step % steps == 0 && chunk == 0)
        memset(oracle->times, 0, sampler->rows * sizeof *oracle->times);
    for (uint32_t i = 0; i < count; i++)
        oracle->times[oracle->gather.row[i]]++;
    if (step % steps < steps - 1 || chunk < oracle->chunks - 1)
        return;
    for (uint32_t i = 0; i < sampler->rows && oracle->uneven.pass == 0; i++) {
        if (oracle->times[i] != 1)
            oracle->uneven = (struct uneven){
                .pass = step / steps + 1, .row = i, .times = oracle->times[i]};
    }
}

static enum err add_batch(struct oracle *oracle, uint32_t step,
                          const struct evaluation *what, uint32_t chunk,
                          struct tally *one)
{
    struct problem problem = *oracle->problem;
    const uint32_t count =
        sampler_select(&oracle->sampler, step, chunk, oracle->gather.row);
    enum err err =
        gather_take(&oracle->gather, oracle->problem->data, chunk, count);

    count_rows(oracle, step, chunk, count);
    problem.data = &oracle->gather.rows;
    if (count == 0)
        chunkset_add(&one->chunks, chunk);
    else if (err == ERR_OK)
        err = problem_add(&problem, &oracle->round, what, chunk, oracle->scale,
                          oracle->scratch, one);
    return err;
}

/* --- the loop ------------------------------------------------------------ */

/* One chunk alone into `one`, remembered, and on into `total`. */
static enum err add_chunk(struct oracle *oracle, uint32_t step,
                          const struct evaluation *what, bool remember,
                          uint32_t chunk, struct tally *one,
                          struct tally *total)
{
    const size_t at = memo_at(oracle, oracle->known, chunk);
    enum err err;

    tally_clear(one);
    err = oracle->sampler.kind == SAMPLER_WHOLE
              ? problem_add(oracle->problem, &oracle->round, what, chunk,
                            oracle->scale, oracle->scratch, one)
              : add_batch(oracle, step, what, chunk, one);
    problem_settle(oracle->problem, oracle->scratch, one);
    if (err != ERR_OK)
        return err;
    if (remember) {
        memcpy(oracle->sums + at * oracle->dims, one->sum,
               oracle->dims * sizeof *one->sum);
        oracle->losses[at] = one->loss;
    }
    return tally_merge(total, one);
}

static void remember_point(struct oracle *oracle, const double *w)
{
    const size_t at = (size_t)oracle->known * oracle->dims;

    memcpy(oracle->points + at, w, oracle->dims * sizeof *w);
    memcpy(oracle->exponents + oracle->known * ((size_t)oracle->dims + 1),
           oracle->scale, ((size_t)oracle->dims + 1) * sizeof *oracle->scale);
    oracle->known++;
}

static enum err evaluate(struct oracle *oracle, uint32_t step,
                         const struct evaluation *what, struct tally *one,
                         struct tally *total)
{
    const bool remember = oracle->remembers && is_memorable(what) &&
                          oracle->known < oracle->capacity;
    enum err err = oracle_scale(oracle, what, oracle->scale);

    one->dims = total->dims = evaluation_dims(what->kind, oracle->dims);
    tally_clear(total);
    if (oracle->problem == NULL || err != ERR_OK)
        return err;
    err = problem_round_prepare(&oracle->round, oracle->problem, what);
    for (uint32_t chunk = 0; chunk < oracle->chunks && err == ERR_OK; chunk++)
        err = add_chunk(oracle, step, what, remember, chunk, one, total);
    if (remember && err == ERR_OK)
        remember_point(oracle, what->w);
    return err;
}

struct digest oracle_hash(const struct oracle *oracle, const double *w)
{
    if (oracle->followed.on)
        return hash_f64(w, oracle->followed.dims);
    if (oracle->net.model != NULL)
        return hash_f64(w, oracle->net.model->neural.parameters);
    return oracle->problem != NULL ? problem_hash(oracle->problem, w)
                                   : hash_f64(w, oracle->dims);
}

/* What a receipt says of weights: of many, the name by which rounds go. */
static struct digest receipt_of(const struct oracle *oracle, const double *w)
{
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    struct digest digest = {.bytes[DIGEST_BYTES - 1] = 1};
    struct writer out = writer_on(digest.bytes, sizeof digest.bytes);

    if (oracle->dims < RECEIPT_NAMED)
        return oracle_hash(oracle, w);
    put_u64(&out, evaluation_name(&what, oracle->dims, NULL));
    return digest;
}

static enum err follow_alone(struct oracle *oracle,
                             const struct evaluation *what, struct tally *total,
                             double *sum)
{
    const struct followed_call call = {.problem = oracle->problem,
                                       .bounds = &oracle->bounds,
                                       .round = &oracle->round,
                                       .what = what,
                                       .scratch = oracle->scratch};
    const enum err err =
        problem_round_prepare(&oracle->round, oracle->problem, what);

    total->dims = oracle->dims;
    return err == ERR_OK ? followed_sums(&oracle->followed, &call,
                                         oracle->scale, total, sum)
                         : err;
}

static enum err network_alone(struct oracle *oracle, uint32_t step,
                              const struct evaluation *what,
                              struct tally *total, double *sum)
{
    total->dims = oracle->dims;
    for (uint32_t k = 0; oracle->times != NULL && k < oracle->chunks; k++)
        count_rows(
            oracle, step, k,
            sampler_select(&oracle->sampler, step, k, oracle->gather.row));
    return networked_sums(&oracle->net, step, what, oracle->scale, total, sum);
}

/* Loss and slope at a point of a line, by the gradient there. */
static enum err line_sums(struct oracle *oracle, const struct evaluation *what,
                          struct tally *one, struct tally *total, double *sum)
{
    double *point = mem_new(oracle->dims, sizeof *point);
    const struct evaluation at = {
        .kind = EVALUATE_GRADIENT, .w = point, .soft = what->soft};
    enum err err = point == NULL ? ERR_NOMEM : ERR_OK;

    for (uint32_t j = 0; j < oracle->dims && err == ERR_OK; j++)
        point[j] = what->w[j] + what->step * what->v[j];
    if (err == ERR_OK)
        err = evaluate(oracle, 0, &at, one, total);
    if (err == ERR_OK) {
        (void)tally_gradient(total, oracle->scale, sum);
        sum[0] = vec_dot(sum, what->v, oracle->dims);
        sum[1] = tally_loss_value(total, oracle->scale);
    }
    total->dims = 1;
    mem_free(point);
    return err;
}

/* What one machine feeds its optimiser, the loss behind the sums.  One part of
 * all rows is what `local` is alone. */
static enum err round_sums(struct oracle *oracle, uint32_t step,
                           const struct evaluation *what, struct tally *one,
                           struct tally *total, double *sum)
{
    enum err err;

    if (what->kind == EVALUATE_LOCAL) {
        total->dims = oracle->dims;
        return oracle_local(oracle, oracle->problem, step, what->w, 0,
                            oracle->chunks, sum);
    }
    if (what->kind == EVALUATE_LINE)
        return line_sums(oracle, what, one, total, sum);
    if (oracle->followed.on)
        return follow_alone(oracle, what, total, sum);
    if (oracle->net.model != NULL)
        return network_alone(oracle, step, what, total, sum);
    err = evaluate(oracle, step, what, one, total);
    if (err != ERR_OK)
        return err;
    (void)tally_gradient(total, oracle->scale, sum);
    sum[total->dims] = tally_loss_value(total, oracle->scale);
    return ERR_OK;
}

/* One evaluation, fed.  The first of a step gives the step its key. */
static enum err round_alone(struct oracle *oracle, struct optim *optim,
                            const struct ask *ask, struct tally *one,
                            struct tally *total, double *sum)
{
    const uint64_t key = evaluation_name(&ask->what, oracle->dims, NULL);
    enum err err = oracle_scale(oracle, &ask->what, oracle->scale);

    if (err != ERR_OK && optim_reject(optim))
        return ERR_OK;
    if (optim->round == 0)
        oracle->keys[oracle->steps] = key;
    err = round_sums(oracle, optim->step, &ask->what, one, total, sum);
    if (err == ERR_RANGE && oracle->followed.on && optim_reject(optim))
        return ERR_OK;
    if (err != ERR_OK)
        return err;
    if (optim_feed(optim, sum, sum[total->dims])) {
        oracle->steps++;
        oracle->hash[oracle->steps] = receipt_of(oracle, optim_weights(optim));
    }
    return ERR_OK;
}

static void keep_model(struct oracle *oracle, const struct optim *optim)
{
    memcpy(oracle->weights, optim_weights(optim),
           oracle->dims * sizeof *oracle->weights);
}

/* Early stopping by its definition: the loss of held-out rows after each pass;
 * the weights of the least one are the model. */
static enum err end_pass(struct oracle *oracle, const struct optim *optim,
                         bool *over)
{
    const struct optim_options *options = &optim->options;
    const struct held_out *held_out = &oracle->held_out;
    double loss;
    enum err err;

    if (!options->held_out || optim->round > 0 || optim->step == 0 ||
        optim->step % sampler_steps(&options->sampler) != 0)
        return ERR_OK;
    err = held_out->loss(held_out->context, optim_weights(optim), &loss);
    oracle->waited++;
    if (err == ERR_OK && loss < oracle->best) {
        oracle->best = loss;
        oracle->waited = 0;
        keep_model(oracle, optim);
    }
    *over = options->patience > 0 && oracle->waited >= options->patience;
    return err;
}

static enum err loop(struct oracle *oracle, struct optim *optim,
                     struct tally *one, struct tally *total)
{
    double *sum = mem_new((size_t)optim_sum_dims(optim) + 1, sizeof *sum);
    struct ask ask = optim_next(optim);
    enum err err = sum == NULL ? ERR_NOMEM : ERR_OK;
    bool over = false;

    oracle->hash[0] = receipt_of(oracle, optim_weights(optim));
    while (ask.kind != ASK_DONE && err == ERR_OK && !over) {
        err = round_alone(oracle, optim, &ask, one, total, sum);
        if (err == ERR_OK)
            err = end_pass(oracle, optim, &over);
        ask = optim_next(optim);
    }
    if (optim->options.patience == 0 || oracle->best == HUGE_VAL)
        keep_model(oracle, optim);
    mem_free(sum);
    return err;
}

static enum err make_room(struct oracle *oracle, uint32_t steps)
{
    const size_t cells = (size_t)steps * oracle->chunks;
    const uint32_t columns =
        oracle->problem != NULL ? oracle->problem->data->stride : oracle->dims;
    enum err err = bounds_init(&oracle->bounds, columns);

    if (err != ERR_OK)
        return err;
    oracle->remembers = oracle->problem != NULL && !oracle->followed.on &&
                        oracle->net.model == NULL &&
                        cells * oracle->dims <= ORACLE_MEMO_MAX;
    oracle->capacity = steps;
    oracle->hash = mem_new((size_t)steps + 1, sizeof *oracle->hash);
    oracle->weights = mem_new(oracle->dims, sizeof *oracle->weights);
    oracle->points = mem_new((size_t)steps * oracle->dims, sizeof(double));
    oracle->keys = mem_new((size_t)steps + 1, sizeof *oracle->keys);
    oracle->exponents =
        mem_new(steps * ((size_t)oracle->dims + 1), sizeof(int16_t));
    if (oracle->remembers) {
        oracle->sums = mem_new(cells * oracle->dims, sizeof *oracle->sums);
        oracle->losses = mem_new(cells, sizeof *oracle->losses);
        if (oracle->sums == NULL || oracle->losses == NULL)
            return ERR_NOMEM;
    }
    if (oracle->problem != NULL) {
        oracle->scratch = mem_new(problem_scratch_bytes(oracle->problem), 1);
        if (oracle->scratch == NULL)
            return ERR_NOMEM;
        err = problem_round_init(&oracle->round, oracle->problem);
        if (err != ERR_OK)
            return err;
    }
    if (oracle->keys == NULL || oracle->hash == NULL ||
        oracle->weights == NULL || oracle->points == NULL ||
        oracle->exponents == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

static enum err run_alone(struct oracle *oracle,
                          const struct optim_options *options)
{
    struct optim optim;
    struct tally one = {0};
    struct tally total = {0};
    enum err err = optim_init(&optim, options, oracle->dims);

    if (err != ERR_OK)
        return err;
    oracle->sum_dims = optim_sum_dims(&optim);
    oracle->scale =
        mem_new((size_t)oracle->sum_dims + 1, sizeof *oracle->scale);
    err = oracle->scale == NULL ? ERR_NOMEM : ERR_OK;
    if (err == ERR_OK)
        err = tally_init(&one, oracle->sum_dims, oracle->chunks);
    if (err == ERR_OK)
        err = tally_init(&total, oracle->sum_dims, oracle->chunks);
    if (err == ERR_OK)
        err = loop(oracle, &optim, &one, &total);
    tally_close(&one);
    tally_close(&total);
    optim_close(&optim);
    return err;
}

enum err oracle_init(struct oracle *oracle, const struct problem *problem,
                     uint32_t dims, uint32_t chunks,
                     const struct optim_options *optim, const int *shift,
                     const struct neural_model *net,
                     const struct held_out *held_out)
{
    enum err err = ERR_OK;

    *oracle = (struct oracle){.problem = problem,
                              .dims = dims,
                              .chunks = chunks,
                              .held_out = *held_out,
                              .best = HUGE_VAL,
                              .averages = optim->kind == OPTIM_AVERAGE,
                              .local = optim->local};
    if (shift != NULL)
        err = followed_init(&oracle->followed, dims, chunks, *shift);
    if (oracle->followed.on)
        oracle->dims = follow_dims(dims);
    if (err == ERR_OK && net != NULL)
        err = networked_init(&oracle->net, net, problem->data, problem->isa,
                             optim, chunks);
    if (err == ERR_OK)
        err = make_room(oracle, optim->steps);
    if (err == ERR_OK && problem != NULL &&
        optim->sampler.kind != SAMPLER_WHOLE)
        err = init_batches(oracle, optim);
    if (err == ERR_OK && problem != NULL)
        err = bounds_measure(&oracle->bounds, problem, pool_serial());
    if (err == ERR_OK)
        err = run_alone(oracle, optim);
    if (err != ERR_OK)
        oracle_close(oracle);
    return err;
}

void oracle_close(struct oracle *oracle)
{
    followed_close(&oracle->followed);
    networked_close(&oracle->net);
    bounds_close(&oracle->bounds);
    problem_round_close(&oracle->round);
    mem_free(oracle->scale);
    mem_free(oracle->hash);
    mem_free(oracle->weights);
    mem_free(oracle->points);
    mem_free(oracle->keys);
    mem_free(oracle->exponents);
    mem_free(oracle->sums);
    mem_free(oracle->losses);
    mem_free(oracle->scratch);
    mem_free(oracle->times);
    gather_close(&oracle->gather);
    *oracle = (struct oracle){0};
}
