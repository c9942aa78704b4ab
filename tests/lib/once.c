/*
 * once.c - one machine, no libraries: train a generated problem and write the
 * final weights' bytes to standard output.
 *
 * Built for other processors by aarch64.sh and compared with what `muster
 * train` prints as hash: the promise "same bits on every machine" on a real
 * other machine, as far as an emulator is one.
 *
 *     once MODEL OPTIM gen:... STEPS SEED [ISA]
 *
 * or what the digest of networks is taken over, and that digest as it is
 * compiled in (model/net/golden.h):
 *
 *     once net
 *     once net-digest
 *
 * or train a network: once_net.c.
 */
#include "once.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/make/gen.h"
#include "model/linear/bounds.h"
#include "model/linear/problem.h"
#include "model/net/golden.h"
#include "optim/optim.h"

/* libcrypto need not exist for the other processor: what would be hashed is
 * written, for who has sha256sum. */
void hasher_init(struct hasher *hasher)
{
    (void)hasher;
}
void hasher_add(struct hasher *hasher, const void *data, size_t size)
{
    (void)hasher;
    if (fwrite(data, 1, size, stdout) != size)
        exit(1);
}
void hasher_add_f64(struct hasher *hasher, const double *values, size_t count)
{
    hasher_add(hasher, values, count * sizeof *values);
}
void hasher_add_i64(struct hasher *hasher, const int64_t *values, size_t count)
{
    hasher_add(hasher, values, count * sizeof *values);
}
struct digest hasher_end(struct hasher *hasher)
{
    (void)hasher;
    return (struct digest){{0}};
}
struct digest hash_bytes(const void *data, size_t size)
{
    (void)data;
    (void)size;
    abort();
}

static void must(enum err err, const char *what)
{
    if (err == ERR_OK)
        return;
    (void)fprintf(stderr, "once: %s: %s\n", what, err_text(err));
    exit(1);
}

/* One evaluation: every chunk into one tally, then sums. */
static void evaluate(const struct problem *problem, const struct bounds *bounds,
                     const struct evaluation *what, struct tally *tally,
                     double *sum, int16_t *exponent, void *scratch)
{
    struct problem_round round;

    must(problem_round_init(&round, problem), "round");
    must(problem_round_prepare(&round, problem, what), "round");
    tally->dims = evaluation_dims(what->kind, problem_dims(problem));
    tally_clear(tally);
    must(bounds_exponents(bounds, problem, what, exponent), "exponents");
    for (uint32_t c = 0; c < dataset_chunks(problem->data); c++)
        must(problem_add(problem, &round, what, c, exponent, scratch, tally),
             "chunk");
    problem_settle(problem, scratch, tally);
    tally_gradient(tally, exponent, sum);
    problem_round_close(&round);
}

int main(int argc, char **argv)
{
    struct dataset data;
    struct problem problem;
    struct optim_options options;
    enum optim_kind kind;
    struct optim optim;
    struct bounds bounds;
    struct tally tally;
    enum model_kind model;
    enum isa isa = ISA_PORTABLE;
    struct why why = {0};
    uint32_t dims;
    double *sum;
    int16_t *exponent;
    void *scratch;
    struct ask ask;

    if (argc == 2 && strcmp(argv[1], "net") == 0) {
        (void)neural_golden.compute(NULL);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "net-digest") == 0)
        return puts(neural_golden.expected) < 0;
    if (argc > 1 && strcmp(argv[1], "train-net") == 0)
        return once_net(argc, argv);
    if (argc < 6 || argc > 7)
        return 2;
    if (argc == 7 && (!isa_parse(argv[6], &isa) || !isa_runs(isa)))
        return 2;
    must(model_parse(argv[1], &model), "model");
    must(optim_parse(argv[2], &kind), "optim");
    must(gen_load(&(struct source_options){.spec = argv[3],
                                           .classes = model == MODEL_SOFTMAX,
                                           .seed = strtoull(argv[5], NULL, 10)},
                  &data, NULL, NULL, &why),
         why.text);
    problem = problem_of(&data, model, isa);
    options = optim_defaults(kind);
    options.steps = (uint32_t)strtoul(argv[4], NULL, 10);
    options.rows = data.rows;
    options.l2 = 1.0 / data.rows;
    if (kind == OPTIM_GD || kind == OPTIM_AGD)
        must(problem_default_rate(&problem, options.l2, &options.rate), "rate");
    must(optim_init(&optim, &options, problem_dims(&problem)), "optim");
    dims = optim_sum_dims(&optim);
    must(bounds_init(&bounds, data.stride), "bounds");
    must(bounds_measure(&bounds, &problem, pool_serial()), "bounds");
    must(tally_init(&tally, dims, dataset_chunks(&data)), "tally");
    sum = mem_new(dims, sizeof *sum);
    exponent = mem_new((size_t)dims + 1, sizeof *exponent);
    scratch = mem_new(problem_scratch_bytes(&problem), 1);
    while ((ask = optim_next(&optim)).kind != ASK_DONE) {
        evaluate(&problem, &bounds, &ask.what, &tally, sum, exponent, scratch);
        (void)optim_feed(&optim, sum, tally_loss_value(&tally, exponent));
    }
    for (uint32_t k = 0; k < problem_outputs(&problem); k++)
        if (fwrite(optim_weights(&optim) + (size_t)k * data.stride,
                   sizeof(double), data.cols, stdout) != data.cols)
            return 1;
    return 0;
}
