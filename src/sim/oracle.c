#include "sim/oracle.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum err oracle_scale(void *context, const double *w, int16_t *exponent)
{
    const struct oracle *oracle = context;

    if (oracle->problem != NULL)
        return bounds_exponents(&oracle->bounds, oracle->problem->model, w,
                                exponent);
    memset(exponent, 0, oracle->dims * sizeof *exponent);
    return ERR_OK;
}

/* --- memory -------------------------------------------------------------- */

static size_t memo_at(const struct oracle *oracle, uint32_t step,
                      uint32_t chunk)
{
    return (size_t)step * oracle->chunks + chunk;
}

/* The step whose weights and scale these are; `steps` if there is none. */
static uint32_t memo_find(const struct oracle *oracle, const double *w,
                          const int16_t *exponent)
{
    const size_t dims = oracle->dims;

    for (uint32_t t = 0; oracle->remembers && t < oracle->steps; t++) {
        if (memcmp(oracle->points + t * dims, w, dims * sizeof *w) == 0 &&
            memcmp(oracle->exponents + t * dims, exponent,
                   dims * sizeof *exponent) == 0)
            return t;
    }
    return oracle->steps;
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

enum err oracle_compute(const struct oracle *oracle, const double *w,
                        const int16_t *exponent, uint32_t first, uint32_t end,
                        struct tally *tally)
{
    const uint32_t known = memo_find(oracle, w, exponent);
    enum err err = ERR_OK;

    CHECK(end <= oracle->chunks);
    if (oracle->problem == NULL) {
        chunkset_add_range(&tally->chunks, first, end);
        return ERR_OK;
    }
    for (uint32_t chunk = first; chunk < end && err == ERR_OK; chunk++) {
        if (known < oracle->steps)
            err = memo_add(oracle, known, chunk, tally);
        else
            err = problem_add_chunk(oracle->problem, w, chunk, exponent,
                                    oracle->scratch, tally);
    }
    return err;
}

/* --- the loop ------------------------------------------------------------ */

/* One chunk alone into `one`, remembered, and on into `total`. */
static enum err add_chunk(struct oracle *oracle, const double *w,
                          const int16_t *exponent, uint32_t chunk,
                          struct tally *one, struct tally *total)
{
    const size_t at = memo_at(oracle, oracle->steps, chunk);
    enum err err;

    tally_clear(one);
    err = problem_add_chunk(oracle->problem, w, chunk, exponent,
                            oracle->scratch, one);
    if (err != ERR_OK)
        return err;
    if (oracle->remembers) {
        memcpy(oracle->sums + at * oracle->dims, one->sum,
               oracle->dims * sizeof *one->sum);
        oracle->losses[at] = one->loss;
    }
    return tally_merge(total, one);
}

static enum err evaluate(struct oracle *oracle, const double *w,
                         struct tally *one, struct tally *total)
{
    int16_t *exponent =
        oracle->exponents + (size_t)oracle->steps * oracle->dims;
    enum err err = oracle_scale(oracle, w, exponent);
    struct digest point;

    tally_clear(total);
    memcpy(oracle->points + (size_t)oracle->steps * oracle->dims, w,
           oracle->dims * sizeof *w);
    point = hash_f64(w, oracle->dims);
    oracle->keys[oracle->steps] = digest_short(&point);
    if (oracle->problem == NULL)
        return err;
    for (uint32_t chunk = 0; chunk < oracle->chunks && err == ERR_OK; chunk++)
        err = add_chunk(oracle, w, exponent, chunk, one, total);
    return err;
}

struct digest oracle_hash(const struct oracle *oracle, const double *w)
{
    return hash_f64(w, oracle->problem != NULL ? oracle->problem->data->cols
                                               : oracle->dims);
}

static enum err loop(struct oracle *oracle, struct optim *optim,
                     struct tally *one, struct tally *total)
{
    double *gradient = mem_new(oracle->dims, sizeof *gradient);
    struct ask ask = optim_next(optim);
    enum err err = gradient == NULL ? ERR_NOMEM : ERR_OK;

    oracle->hash[0] = oracle_hash(oracle, optim_weights(optim));
    while (ask.kind != ASK_DONE && err == ERR_OK) {
        err = evaluate(oracle, ask.point, one, total);
        if (err != ERR_OK)
            break;
        tally_gradient(total,
                       oracle->exponents + (size_t)oracle->steps * oracle->dims,
                       gradient);
        optim_feed(optim, gradient, tally_loss_value(total));
        oracle->steps++;
        oracle->hash[oracle->steps] = oracle_hash(oracle, optim_weights(optim));
        ask = optim_next(optim);
    }
    memcpy(oracle->weights, optim_weights(optim),
           oracle->dims * sizeof *oracle->weights);
    mem_free(gradient);
    return err;
}

static enum err make_room(struct oracle *oracle, uint32_t steps)
{
    const size_t cells = (size_t)steps * oracle->chunks;
    enum err err = bounds_init(&oracle->bounds, oracle->dims);

    if (err != ERR_OK)
        return err;
    oracle->remembers =
        oracle->problem != NULL && cells * oracle->dims <= ORACLE_MEMO_MAX;
    oracle->hash = mem_new((size_t)steps + 1, sizeof *oracle->hash);
    oracle->weights = mem_new(oracle->dims, sizeof *oracle->weights);
    oracle->points = mem_new((size_t)steps * oracle->dims, sizeof(double));
    oracle->keys = mem_new(steps, sizeof *oracle->keys);
    oracle->exponents = mem_new((size_t)steps * oracle->dims, sizeof(int16_t));
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
    err = tally_init(&one, oracle->dims, oracle->chunks);
    if (err == ERR_OK)
        err = tally_init(&total, oracle->dims, oracle->chunks);
    if (err == ERR_OK)
        err = loop(oracle, &optim, &one, &total);
    tally_close(&one);
    tally_close(&total);
    optim_close(&optim);
    return err;
}

enum err oracle_init(struct oracle *oracle, const struct problem *problem,
                     uint32_t dims, uint32_t chunks,
                     const struct optim_options *optim)
{
    enum err err;

    *oracle =
        (struct oracle){.problem = problem, .dims = dims, .chunks = chunks};
    err = make_room(oracle, optim->steps);
    if (err == ERR_OK && problem != NULL)
        err = bounds_measure(&oracle->bounds, problem->data, pool_serial());
    if (err == ERR_OK)
        err = run_alone(oracle, optim);
    if (err != ERR_OK)
        oracle_close(oracle);
    return err;
}

void oracle_close(struct oracle *oracle)
{
    bounds_close(&oracle->bounds);
    mem_free(oracle->hash);
    mem_free(oracle->weights);
    mem_free(oracle->points);
    mem_free(oracle->keys);
    mem_free(oracle->exponents);
    mem_free(oracle->sums);
    mem_free(oracle->losses);
    mem_free(oracle->scratch);
    *oracle = (struct oracle){0};
}
