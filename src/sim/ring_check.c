/*
 * ring_check.c - what must hold of a simulated ring.
 */
#include <string.h>

#include "base/check.h"
#include "sim/ring_world.h"

/* CHECK-R1 */
static void check_weights(struct ring_world *world, uint32_t node,
                          uint32_t step)
{
    const struct oracle *oracle = &world->base.oracle;
    const struct trainer *trainer = &world->nodes[node].machine.trainer;
    struct digest hash;

    if (step != trainer->optim.step || world->nodes[node].flipped)
        return;
    hash = trainer_hash(trainer);
    if (step > oracle->steps || !digest_equal(&hash, &oracle->hash[step]))
        checker_violate(&world->base.checker,
                        "CHECK-R1: p%u has other weights at step %u", node,
                        step);
}

static void note_unsaved(struct ring_world *world, uint32_t step)
{
    uint32_t *const most = &world->counted.unsaved_max;

    if (step > world->saved_step && step - world->saved_step > *most)
        *most = step - world->saved_step;
}

void ring_check_trace(struct ring_world *world, uint32_t node,
                      const struct trace *trace)
{
    struct ring_node *at = &world->nodes[node];

    world_mix(&world->base, (uint64_t)trace->kind << 32 ^ trace->key.step ^
                                trace->key.view << 16 ^ (uint64_t)node << 56);
    if (trace->kind == TRACE_ROUND)
        at->rounds++;
    if (trace->kind == TRACE_ROUND && world->counted.first_round == 0)
        world->counted.first_round = world->events;
    if (trace->kind == TRACE_COMMIT) {
        check_weights(world, node, trace->key.step);
        if (trace->key.step <= at->committed && at->machine.stats.doubts == 0)
            checker_violate(&world->base.checker,
                            "CHECK-R5: p%u goes back to step %u", node,
                            trace->key.step);
        at->committed = trace->key.step;
        note_unsaved(world, at->committed);
    }
    if (trace->kind == TRACE_BANNED)
        checker_violate(&world->base.checker, "p%u shuts %s out", node,
                        trace->name);
    if (trace->kind == TRACE_POISON && trace->name[0] == 'p' &&
        world->nodes[trace->name[1] - '0'].flipped)
        world->counted.named++;
}

/* CHECK-R2, by what is sent. */
void ring_check_slice(struct ring_world *world, uint32_t node,
                      const struct msg_slice *slice)
{
    struct ring_parts *parts = NULL;

    if (slice->total || slice->first == slice->end)
        return;
    for (uint32_t i = 0; i < RING_KEYS; i++)
        if (key_equal(&world->parts[i].key, &slice->key) &&
            world->parts[i].from != 0)
            parts = &world->parts[i];
    if (parts == NULL) {
        parts = &world->parts[world->parts_next++ % RING_KEYS];
        *parts = (struct ring_parts){.key = slice->key};
    }
    parts->from |= UINT64_C(1) << node;
    parts->first[node] = slice->first;
    parts->end[node] = slice->end;
    for (uint32_t i = 0; i < RING_NODES_MAX; i++)
        if (i != node && (parts->from >> i & 1) != 0 &&
            parts->first[i] < slice->end && slice->first < parts->end[i])
            checker_violate(&world->base.checker,
                            "CHECK-R2: chunks of p%u and p%u overlap in step "
                            "%u",
                            i, node, slice->key.step);
}

/* CHECK-R4 */
static void check_journal(struct ring_world *world, uint32_t node)
{
    struct journal_summary summary;
    const uint8_t *data;
    size_t size;

    if (!world->options->kept ||
        !disk_model_seen(&world->nodes[node].disk, JOURNAL_FILE, &data, &size))
        return;
    if (journal_scan(data, size, NULL, NULL, &summary) != ERR_OK ||
        summary.torn)
        checker_violate(&world->base.checker,
                        "CHECK-R4: the journal of p%u breaks a rule at record "
                        "%u",
                        node, summary.records);
}

static void check_model(struct ring_world *world, uint32_t node)
{
    const struct oracle *oracle = &world->base.oracle;
    const struct trainer *trainer = &world->nodes[node].machine.trainer;
    uint32_t count;
    const double *model = trainer_model(trainer, &count);
    const struct digest hash = oracle_hash(oracle, model);
    const struct digest wanted = oracle_hash(oracle, oracle->weights);

    if (!digest_equal(&hash, &wanted) || trainer->optim.step != oracle->steps)
        checker_violate(&world->base.checker,
                        "CHECK-R1: p%u ends with another model", node);
    world_mix(&world->base, digest_short(&hash));
}

void ring_check_finish(struct ring_world *world, uint32_t node,
                       const struct action *action)
{
    struct ring_node *at = &world->nodes[node];
    const uint32_t step = at->machine.trainer.optim.step;
    struct ring_result *counted = &world->counted;

    check_journal(world, node);
    if (step > counted->steps_max)
        counted->steps_max = step;
    if (counted->finished + counted->stopped == 0 || step < counted->steps_min)
        counted->steps_min = step;
    if (action->err == ERR_OK) {
        check_model(world, node);
        counted->finished++;
    } else if (action->err == ERR_CANCELLED &&
               (at->stopping || world->stop_asked)) {
        check_weights(world, node, step);
        counted->stopped++;
    } else if (action->err == ERR_MISMATCH && world->options->may_differ) {
        counted->mismatched++;
    } else {
        checker_violate(&world->base.checker, "CHECK-R3: p%u ended: %s", node,
                        action->reason);
    }
}

/* What somebody who stays knows of the others. */
static void show_seats(struct ring_world *world, uint32_t node)
{
    const struct peer *peer = &world->nodes[node].machine;

    ring_note(world, node, '?', "phase %d, view %u of %u, %s", (int)peer->phase,
              (unsigned)peer->view.name.number, peer->view.count,
              peer->broken ? "broken" : "whole");
    for (uint32_t i = 1; i < peer->seat_count; i++) {
        const struct peer_seat *seat = &peer->seats[i];

        ring_note(world, node, '?', "  %s link %d%s%s hears %u view %u",
                  seat->name, (int)seat->link, seat->told ? "" : " untold",
                  seat->done ? " done" : "", (unsigned)seat->hears,
                  (unsigned)seat->view.number);
    }
}

void ring_check_end(struct ring_world *world)
{
    for (uint32_t i = 0; i < world->options->peers_max; i++) {
        const struct ring_node *at = &world->nodes[i];

        if (at->running)
            show_seats(world, i);
        if (at->running && !world->base.checker.violated)
            checker_violate(&world->base.checker,
                            "CHECK-R3: p%u stays in phase %d at step %u", i,
                            (int)at->machine.phase,
                            at->machine.trainer.optim.step);
    }
}
