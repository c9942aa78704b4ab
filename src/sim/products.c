/*
 * products.c - coded data in the simulator: blocks held, shipped, multiplied.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/product.h"
#include "core/star/products.h"
#include "sim/world.h"

void sim_block_drop(struct sim_worker *worker)
{
    coded_close(&worker->coded);
    worker->block = 0;
}

void sim_block_take(struct world *world, struct sim_worker *worker,
                    const struct block_share *share)
{
    const struct problem *problem = world->options->problem;
    struct block_term *terms;
    struct block_shape shape;

    if (problem == NULL || worker->block == share->block)
        return;
    sim_block_drop(worker);
    terms = mem_new(share->count, sizeof *terms);
    CHECK(terms != NULL);
    for (uint32_t i = 0; i < share->count; i++)
        terms[i] = share->terms[i];
    shape = coded_shape(problem->data, share->parts);
    CHECK(coded_init(&worker->coded, &shape, terms, share->count) == ERR_OK);
    mem_free(terms);
    worker->block = share->block;
    if (worker->resident)
        CHECK(coded_fill(&worker->coded, problem->data, pool_serial(), NULL) ==
              ERR_OK);
}

void sim_block_store(struct world *world, struct sim_worker *worker,
                     const struct msg_data *data)
{
    CHECK(worker->block == data->block);
    if (coded_strip_store(&worker->coded, data->chunk, data->bytes,
                          data->size) != ERR_OK)
        checker_violate(&world->checker, "worker cannot read strip %u",
                        data->chunk);
}

enum err sim_block_multiply(struct world *world, struct sim_worker *worker)
{
    const struct computation *computation = &worker->computation.asked;
    const struct problem *problem = world->options->problem;
    const struct worker *machine = &worker->machine;

    if (problem == NULL) {
        memset(computation->vector, 0,
               machine->sum_dims * sizeof *computation->vector);
        return ERR_OK;
    }
    return coded_multiply(&worker->coded, computation->what.kind, problem->isa,
                          computation->what.w, computation->vector,
                          pool_serial(), NULL);
}

void sim_block_ship(struct world *world, uint32_t conn, uint32_t link,
                    uint32_t first, uint32_t end)
{
    const struct dataset *data = world->options->problem->data;
    const struct coordinator *machine = &world->coordinator.machine;
    const struct block_shape shape = coded_shape(data, machine->code.parts);
    struct block_term *terms = mem_new(shape.parts, sizeof *terms);
    uint8_t *bytes = mem_new(coded_strip_bytes_max(&shape), 1);
    struct msg msg = {.kind = MSG_DATA};
    uint32_t count;

    CHECK(terms != NULL && bytes != NULL);
    count = product_terms(machine, link, terms, &msg.data.block);
    for (uint32_t strip = first; strip < end && count > 0; strip++) {
        if (!block_has_strip(&shape, strip))
            continue;
        CHECK(coded_strip_encode(data, &shape, terms, count, strip, bytes) ==
              ERR_OK);
        msg.data.chunk = strip;
        msg.data.bytes = bytes;
        msg.data.size = coded_strip_bytes(&shape, strip);
        network_send(world, conn, TO_WORKER, &msg, false);
    }
    mem_free(terms);
    mem_free(bytes);
}
