/*
 * config_digest.c - one digest of everything that decides the bits.
 *
 * Journal, checkpoint and handshake carry it: state of one configuration is
 * never continued under another.  It is a hash over lines of text:
 *
 *     in    arithmetic (every part of it), profile, data (shape, labels,
 *           values), chunk rows, model, optimiser with its numbers as hex
 *           floats; batches, with their seed; of private rows the sizes and
 *           bounds that owners were told
 *     out   number of workers, threads, instruction set, and for bitwise codes
 *           the code: they change who computes, never what
 *           steps, --tol, --max-time: they say where to stop on a path that
 *           is the same, so that a finished run can be resumed with more steps;
 *           --accuracy, too, but where kinks are softened
 *     seed  only through what was drawn from it: generated rows are in the
 *           data's digest, coefficients of a numeric code below
 *
 * tests/unit/learn/test_config.c has a row for every choice of a recipe: does
 * it decide bits?
 *
 * A numeric or approximate code rounds or drops according to who took part, so
 * its name, parameters and n are part of the configuration.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "learn/family/family.h"
#include "node/arithmetic.h"

#define LINE_SIZE 256u

static void add_line(struct hasher *hasher, const char *line, int length)
{
    CHECK(length > 0);
    CHECK((size_t)length < LINE_SIZE);
    hasher_add(hasher, line, (size_t)length + 1);
}

/* A last stretch that is shorter than the others ends where no longer job's
 * does. */
static void add_averages(struct hasher *hasher, const struct setup *setup)
{
    const struct local local = setup_optim(setup, &setup->code).local;
    char line[LINE_SIZE];

    add_line(hasher, line,
             snprintf(line, sizeof line, "local %u end %u", local.every,
                      local.every > 0 && local.steps % local.every != 0
                          ? local.steps
                          : 0));
}

static void add_code(struct hasher *hasher, const struct setup *setup)
{
    const struct code_spec *code = &setup->code;
    char line[LINE_SIZE];

    add_line(hasher, line,
             snprintf(line, sizeof line,
                      "code %s n %u s %u k %u placement %s schedule %s stop %s "
                      "estimate %s seed %llu",
                      setup_code_name(setup), setup->slots, code->stragglers,
                      code->k, placement_name(code->placement),
                      schedule_name(code->schedule), stop_name(code->stop),
                      estimate_name(code->estimate),
                      (unsigned long long)code->seed));
    add_line(hasher, line,
             snprintf(line, sizeof line,
                      "deadline %a parts %u pieces %u replicas %u decoding %d",
                      code->deadline_s, code->parts, code->pieces,
                      code->replicas, (int)code->decoding));
    if (code->narrow)
        add_line(hasher, line, snprintf(line, sizeof line, "blocks f32"));
    if (code_spec_products(code))
        add_line(hasher, line,
                 snprintf(line, sizeof line, "blocks %u copies %u rule %d",
                          code->blocks, code->copies, (int)code->rule));
    if (code->placement == PLACE_STALE)
        add_line(hasher, line,
                 snprintf(line, sizeof line, "staleness %u", code->staleness));
    if (code_spec_sampled(code))
        add_line(hasher, line,
                 snprintf(line, sizeof line,
                          "shadows %u size %a sampler %s filters %.200s",
                          code->shadows, code->size, draw_name(code->draw),
                          code->filters == NULL ? "" : code->filters));
    if (code->placement == PLACE_LOCAL)
        add_averages(hasher, setup);
    if (code->matrix != NULL)
        hasher_add_f64(hasher, code->matrix->entry,
                       (size_t)code->matrix->rows * code->matrix->cols);
    hasher_add_f64(hasher, code->speed, code->speeds);
}

/* Numbers that some optimisers have no use for; 0 there. */
static void add_optimiser(struct hasher *hasher,
                          const struct optim_options *optim)
{
    char line[LINE_SIZE];

    add_line(
        hasher, line,
        snprintf(line, sizeof line,
                 "schedule %d every %u warmup %u clip %a momentum %a beta %a "
                 "%a epsilon %a memory %u dense %u cg %u free %u %u",
                 (int)optim->schedule, optim->decay_every, optim->warmup,
                 optim->clip, optim->momentum, optim->beta1, optim->beta2,
                 optim->epsilon, optim->memory, optim->dense_max, optim->cg_max,
                 optim->l2_free, optim->l2_stride));
}

/* The data's own digest may be that of its file, which has no weights. */
static void add_weights(struct hasher *hasher, const struct dataset *data)
{
    if (data->weight != NULL)
        hasher_add(hasher, data->weight, data->rows * sizeof *data->weight);
}

/* They choose the model, at the ends of passes. */
static void add_held_out(struct hasher *hasher, const struct setup *setup)
{
    const struct digest rows = dataset_digest(&setup->valid);
    char hex[DIGEST_TEXT];
    char line[LINE_SIZE];

    add_line(hasher, line,
             snprintf(line, sizeof line, "held out %s patience %u",
                      digest_text(&rows, hex), setup->optim.patience));
}

static struct digest given_in(const struct setup *setup,
                              const struct digest *arithmetic)
{
    const struct digest data = dataset_digest(&setup->data);
    const struct optim_options *optim = &setup->optim;
    char hex[DIGEST_TEXT];
    char line[LINE_SIZE];
    struct hasher hasher;

    hasher_init(&hasher);
    add_line(&hasher, line,
             snprintf(line, sizeof line, "muster config 2 arithmetic %s %s",
                      digest_text(arithmetic, hex),
                      setup_family(setup)->profile(setup)));
    add_line(&hasher, line,
             snprintf(line, sizeof line, "data %s chunk rows %u",
                      digest_text(&data, hex), setup->data.chunk_rows));
    add_line(&hasher, line,
             snprintf(line, sizeof line, "model %s optim %s",
                      model_ops(setup->model)->name, optim_name(optim->kind)));
    add_line(&hasher, line,
             snprintf(line, sizeof line, "rate %a decay %a l2 %a rows %llu",
                      optim->rate, optim->decay, optim->l2,
                      (unsigned long long)optim->rows));
    add_optimiser(&hasher, optim);
    if ((optim_schedule_needs(optim->schedule) & SCHEDULE_END) != 0)
        add_line(&hasher, line,
                 snprintf(line, sizeof line, "steps %u", optim->steps));
    /* Where the loss has kinks it says when they are narrowed: the way, not
     * only its end (optim/soften.c). */
    if (optim->kinks)
        add_line(&hasher, line,
                 snprintf(line, sizeof line, "accuracy %a", optim->accuracy));
    if (optim->kind == OPTIM_SGD)
        add_line(&hasher, line,
                 snprintf(line, sizeof line, "shuffle %llu",
                          (unsigned long long)optim->seed));
    if (optim->sampler.kind != SAMPLER_WHOLE)
        add_line(&hasher, line,
                 snprintf(line, sizeof line, "batch %u of %s in %u seed %llu",
                          optim->sampler.batch,
                          sampler_name(optim->sampler.kind),
                          optim->sampler.chunk_rows,
                          (unsigned long long)optim->sampler.seed));
    if (optim->kind == OPTIM_COLUMNS)
        hasher_add_f64(&hasher, optim->columns.first,
                       (size_t)optim->steps * optim->columns.stride);
    add_weights(&hasher, &setup->data);
    if (optim->patience > 0)
        add_held_out(&hasher, setup);
    if (setup_family(setup)->digest != NULL)
        setup_family(setup)->digest(setup, &hasher);
    if (setup->slots > 0 && setup->exactness != EXACT_BITWISE)
        add_code(&hasher, setup);
    return hasher_end(&hasher);
}

/* What is derived from rows that are here follows from them.  Of private rows
 * it was told (parts.h), and a folder or a caller of the roll may lie. */
struct digest config_digest_in(const struct setup *setup,
                               const struct digest *arithmetic)
{
    const struct digest given = given_in(setup, arithmetic);
    struct digest derived;
    struct hasher hasher;

    if (!setup->hollow)
        return given;
    derived = parts_derived(&setup->parts);
    hasher_init(&hasher);
    hasher_add(&hasher, given.bytes, DIGEST_BYTES);
    hasher_add(&hasher, derived.bytes, DIGEST_BYTES);
    return hasher_end(&hasher);
}

struct digest config_given(const struct setup *setup)
{
    const struct digest arithmetic = arithmetic_digest();

    return given_in(setup, &arithmetic);
}

struct digest config_digest(const struct setup *setup)
{
    const struct digest arithmetic = arithmetic_digest();

    return config_digest_in(setup, &arithmetic);
}
