/*
 * compute.c - what workers and the judge compute: evaluators (eval/evaluator.h)
 * behind the oracle's memory, and the strips of coded data they are sent.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/product.h"
#include "core/star/products.h"
#include "data/rows/coded.h"
#include "eval/briefs.h"
#include "eval/registry.h"
#include "sim/world.h"

static bool multiplies(const struct world *world)
{
    return code_spec_products(&world->options->code);
}

/* Blocks of coded data are each worker's own. */
static bool has_own(const struct world *world, const struct sim_worker *worker)
{
    return !worker->resident || multiplies(world);
}

struct shadowing sim_compute_shadowing(const struct world *world)
{
    const struct sim_options *const options = world->options;
    struct shadowing shadows = {.draw = options->code.draw,
                                .seed = options->code.seed};
    const uint32_t primaries = options->slots > options->code.shadows
                                   ? options->slots - options->code.shadows
                                   : 1;

    CHECK(shadowing_choose(&shadows, options->code.size, options->problem->data,
                           &options->optim.sampler, primaries,
                           options->code.filters, NULL) == ERR_OK);
    return shadows;
}

static struct brief plain_brief(const struct world *world,
                                uint8_t room[BRIEF_MAX])
{
    const struct sim_options *options = world->options;
    const struct user_function user = {.dims = world->oracle.followed.dims,
                                       .chunks = world->oracle.chunks};

    if (options->net != NULL) {
        const struct dataset_shape rows = dataset_shape(options->problem->data);

        return brief_net(room, &rows, options->net, &options->optim.sampler,
                         options->optim.seed);
    }
    return options->follow
               ? brief_user(room, &user)
               : brief_rows(room, options->problem, multiplies(world),
                            options->code.narrow, &options->optim);
}

struct brief sim_compute_brief(const struct world *world,
                               uint8_t room[BRIEF_MAX])
{
    uint8_t own[BRIEF_MAX];
    struct shadowing shadows;
    struct brief inside;

    if (!code_spec_sampled(&world->options->code))
        return plain_brief(world, room);
    inside = plain_brief(world, own);
    shadows = sim_compute_shadowing(world);
    return brief_shadow(room, &inside, &shadows);
}

/* Of these rows, when it is first needed. */
static struct evaluator *evaluator_of(struct world *world,
                                      struct sim_evaluator *own,
                                      const struct brief *brief,
                                      const struct dataset *data)
{
    struct shelf shelf = {
        .data = data, .user = &own->user, .isa = world->options->problem->isa};
    struct oracle *oracle = &world->oracle;

    if (own->made != NULL)
        return own->made;
    if (world->options->follow) {
        own->function = (struct followed_function){
            .followed = &oracle->followed,
            .problem = *world->options->problem,
            .bounds = &oracle->bounds,
            .round = &oracle->round,
            .scratch = oracle->scratch,
        };
        own->function.problem.data = data;
        own->user = followed_user(&own->function);
    }
    CHECK(evaluator_open(brief, &shelf, pool_serial(), &own->made) == ERR_OK);
    return own->made;
}

static struct evaluator *workers_evaluator(struct world *world,
                                           struct sim_worker *worker)
{
    const struct dataset *all = world->options->problem->data;
    const struct brief *brief = &worker->machine.job.brief;

    if (!has_own(world, worker))
        return evaluator_of(world, &world->evaluator, brief, all);
    if (!multiplies(world))
        all = &worker->data;
    else if (!worker->resident)
        all = NULL; /* It is sent strips. */
    return evaluator_of(world, &worker->evaluator, brief, all);
}

void sim_evaluator_close(struct sim_evaluator *evaluator)
{
    evaluator_close(evaluator->made);
    evaluator->made = NULL;
}

/* --- computing ------------------------------------------------------------ */

/* No rows: all sums are zero. */
static enum err compute_nothing(const struct computation *asked,
                                uint32_t sum_dims)
{
    if (evaluation_is_product(asked->what.kind) ||
        asked->what.kind == EVALUATE_LOCAL) {
        memset(asked->vector, 0,
               ((size_t)sum_dims + 1) * sizeof *asked->vector);
        return ERR_OK;
    }
    tally_fill(asked->tally);
    chunkset_add_range(&asked->tally->chunks, asked->first, asked->end);
    return ERR_OK;
}

void sim_compute_begin(struct world *world, struct sim_worker *worker,
                       const struct computation *asked)
{
    if (world->options->problem != NULL && has_own(world, worker))
        CHECK(evaluator_begin(workers_evaluator(world, worker), asked) ==
              ERR_OK);
}

static bool was_sent(struct world *world, const struct sim_worker *worker,
                     const struct computation *asked)
{
    const bool sent = worker->resident ||
                      evaluation_is_product(asked->what.kind) ||
                      job_suffices(&worker->machine.job, &worker->data.present,
                                   asked->first, asked->end);

    if (!sent)
        checker_violate(&world->checker,
                        "worker computes chunks %u..%u of rows that it was "
                        "never sent",
                        asked->first, asked->end);
    return sent;
}

enum err sim_compute(struct world *world, struct sim_worker *worker,
                     const struct computation *asked)
{
    if (world->options->problem == NULL)
        return compute_nothing(asked, worker->machine.sum_dims);
    if (worker->resident && asked->end <= world->oracle.chunks &&
        oracle_recall(&world->oracle, asked))
        return ERR_OK;
    return was_sent(world, worker, asked)
               ? evaluator_run(workers_evaluator(world, worker), asked, NULL)
               : ERR_NOTFOUND;
}

void sim_compute_end(struct world *world, struct sim_worker *worker)
{
    if (world->options->problem != NULL && has_own(world, worker))
        evaluator_end(workers_evaluator(world, worker));
}

enum err sim_compute_judge(struct world *world, const struct computation *asked)
{
    const struct problem *problem = world->options->problem;

    if (problem == NULL)
        return compute_nothing(asked, asked->tally->dims);
    if (oracle_recall(&world->oracle, asked))
        return ERR_OK;
    return evaluator_run(evaluator_of(world, &world->evaluator,
                                      &world->coordinator.options.job.brief,
                                      problem->data),
                         asked, NULL);
}

/* --- coded data ----------------------------------------------------------- */

void sim_compute_store(struct world *world, struct sim_worker *worker,
                       const struct block_share *share,
                       const struct msg_data *data)
{
    CHECK(share->block == data->block);
    if (evaluator_store(workers_evaluator(world, worker), share, data->chunk,
                        data->bytes, data->size) != ERR_OK)
        checker_violate(&world->checker, "worker cannot read strip %u",
                        data->chunk);
}

void sim_block_ship(struct world *world, uint32_t conn, uint32_t link,
                    uint32_t first, uint32_t end)
{
    const struct dataset *data = world->options->problem->data;
    const struct coordinator *machine = &world->coordinator.machine;
    const struct block_shape shape =
        product_shape(&machine->options.job, machine->code.parts);
    struct block_term *terms = mem_new(shape.parts, sizeof *terms);
    uint8_t *bytes = mem_new(coded_strip_bytes_max(&shape), 1);
    struct coded_strip made = {.terms = terms, .to = bytes};
    struct msg msg = {.kind = MSG_DATA};

    CHECK(terms != NULL && bytes != NULL);
    made.count = product_terms(machine, link, terms, &msg.data.block);
    for (uint32_t strip = first; strip < end && made.count > 0; strip++) {
        if (!block_has_strip(&shape, strip))
            continue;
        CHECK(coded_strips_encode(data, &shape, &made, 1, strip) == ERR_OK);
        msg.data.chunk = strip;
        msg.data.bytes = bytes;
        msg.data.size = coded_strip_bytes(&shape, strip);
        network_send(world, conn, TO_WORKER, &msg, false);
    }
    mem_free(terms);
    mem_free(bytes);
}
