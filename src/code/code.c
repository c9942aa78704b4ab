/*
 * code.c - building a code from its axes, and asking it.
 *
 * The axes meet here and only here: placement deals the parts to slots in
 * spans, schedule cuts each span into pieces, placement adds coefficients if
 * it has any.  Which combinations make sense is checked once, at build.
 */
#include "code/code.h"

#include "base/check.h"
#include "base/mem.h"
#include "code/axes.h"

static const struct placement_ops *const placements[] = {
    [PLACE_ONCE] = &placement_once,
    [PLACE_REP] = &placement_rep,
    [PLACE_CYCLIC] = &placement_cyclic,
};

const struct placement_ops *placement_ops(enum placement placement)
{
    CHECK((size_t)placement < sizeof placements / sizeof *placements);
    return placements[placement];
}

uint32_t code_part_first(const struct code *code, uint32_t part)
{
    return (uint32_t)((uint64_t)part * code->chunks / code->slots);
}

bool code_part_empty(const struct code *code, uint32_t part)
{
    return code_part_first(code, part) == code_part_first(code, part + 1);
}

uint32_t code_piece_at(const struct code *code, uint32_t chunk)
{
    uint32_t low = 0;
    uint32_t high = code->piece_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (code->pieces[middle].first < chunk)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t code_ids(uint32_t *ids, uint32_t count, uint32_t max, uint32_t first,
                  uint32_t end)
{
    for (uint32_t id = first; id < end && count < max; id++)
        ids[count++] = id;
    return count;
}

bool group_holds(const struct code *code, uint32_t slot, uint32_t piece)
{
    const struct group *group = &code->groups[code->pieces[piece].group];

    return group->slot_first <= slot && slot < group->slot_end;
}

double group_coefficient(const struct code *code, uint32_t slot, uint32_t piece)
{
    return group_holds(code, slot, piece) ? 1 : 0;
}

static enum err vet_size(const struct code *code, struct why *why)
{
    const uint32_t s = code->spec.stragglers;

    if (code->slots == 0 || code->slots > CODE_SLOTS_MAX)
        return why_set(why, ERR_SHAPE, "a code serves 1 to %u workers, not %u",
                       CODE_SLOTS_MAX, code->slots);
    if (code->chunks == 0)
        return why_set(why, ERR_SHAPE, "there is no data to share out");
    if (s >= code->slots)
        return why_set(why, ERR_SHAPE,
                       "code %s cannot lose %u of %u workers; at most %u",
                       code->spec.name, s, code->slots, code->slots - 1);
    return ERR_OK;
}

/* A step that may end with pieces missing needs an estimate that says what
 * their absence means; nothing is approximated silently. */
static enum err vet_stop(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;
    const struct stop_ops *stop = stop_ops(spec->stop);

    if (stop->counts && (spec->k < 1 || spec->k > code->slots))
        return why_set(why, ERR_SHAPE,
                       "code %s cannot wait for %u of %u workers; 1 to %u",
                       spec->name, spec->k, code->slots, code->slots);
    if (stop->partial && !estimate_ops(spec->estimate)->partial &&
        code->carrier == CARRIER_TALLY)
        return why_set(why, ERR_SHAPE,
                       "code %s may end a step with data missing, which "
                       "estimate %s does not allow; use reference or ratio, "
                       "or the code `rep`",
                       spec->name, estimate_ops(spec->estimate)->name);
    return ERR_OK;
}

static enum err vet(const struct code *code, struct why *why)
{
    const struct placement_ops *place = placement_ops(code->spec.placement);
    enum err err = vet_size(code, why);

    if (err == ERR_OK)
        err = vet_stop(code, why);
    if (err == ERR_OK && place->vet != NULL)
        err = place->vet(code, why);
    return err;
}

static enum exactness reach(const struct code *code)
{
    if (code->carrier == CARRIER_F64)
        return EXACT_NUMERIC;
    return stop_ops(code->spec.stop)->partial ? EXACT_APPROX : EXACT_BITWISE;
}

/* The pieces of span q, appended; tally codes also get its group. */
static void build_span(struct code *code, uint32_t q, uint32_t pieces_max)
{
    const struct placement_ops *place = placement_ops(code->spec.placement);
    const struct schedule_ops *sched = schedule_ops(code->spec.schedule);
    const uint32_t first = place->span_first(code, q);
    const uint32_t end = place->span_first(code, q + 1);
    const uint32_t piece_first = code->piece_count;

    code->piece_count += sched->cut(
        code, first, end, code->pieces + piece_first, pieces_max - piece_first);
    for (uint32_t id = piece_first; id < code->piece_count; id++)
        code->pieces[id].group = code->groups == NULL ? CODE_GROUP_NONE : q;
    if (code->groups != NULL)
        code->groups[q] =
            (struct group){first, end, piece_first, code->piece_count};
}

static enum err build_pieces(struct code *code)
{
    const struct placement_ops *place = placement_ops(code->spec.placement);
    const uint32_t spans = place->span_count(code);
    const uint32_t pieces_max = code->slots * CODE_STEAL_PIECES;

    code->pieces = mem_new(pieces_max, sizeof *code->pieces);
    if (code->pieces == NULL)
        return ERR_NOMEM;
    if (code->carrier == CARRIER_TALLY) {
        code->groups = mem_new(spans, sizeof *code->groups);
        if (code->groups == NULL)
            return ERR_NOMEM;
        code->group_count = spans;
    }
    for (uint32_t q = 0; q < spans; q++)
        build_span(code, q, pieces_max);
    CHECK(code->piece_count > 0);
    CHECK(code->pieces[code->piece_count - 1].end == code->chunks);
    return ERR_OK;
}

static enum err build_busy(struct code *code)
{
    uint32_t id;

    code->busy = mem_new(code->slots, sizeof *code->busy);
    if (code->busy == NULL)
        return ERR_NOMEM;
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        code->busy[slot] = code_work(code, slot, &id, 1) > 0;
        code->busy_count += code->busy[slot];
    }
    return ERR_OK;
}

static enum err build_tables(struct code *code, struct why *why)
{
    const struct placement_ops *place = placement_ops(code->spec.placement);
    enum err err = build_pieces(code);

    if (err == ERR_OK)
        err = build_busy(code);
    if (err == ERR_OK && place->finish != NULL)
        err = place->finish(code, why);
    if (err == ERR_NOMEM)
        return why_set(why, err, "not enough memory for a code of %u workers",
                       code->slots);
    return err;
}

enum err code_build(struct code *code, const struct code_spec *spec,
                    uint32_t slots, uint32_t chunks, struct why *why)
{
    struct code made = {.spec = *spec, .slots = slots, .chunks = chunks};
    enum err err;

    made.carrier = placement_ops(spec->placement)->carrier;
    made.exactness = reach(&made);
    err = vet(&made, why);
    if (err == ERR_OK)
        err = build_tables(&made, why);
    if (err != ERR_OK) {
        code_close(&made);
        return err;
    }
    *code = made;
    return ERR_OK;
}

void code_close(struct code *code)
{
    mem_free(code->pieces);
    mem_free(code->groups);
    mem_free(code->matrix);
    mem_free(code->basis);
    mem_free(code->busy);
    *code = (struct code){0};
}

uint32_t code_work(const struct code *code, uint32_t slot, uint32_t *ids,
                   uint32_t max)
{
    CHECK(slot < code->slots);
    return schedule_ops(code->spec.schedule)->work(code, slot, ids, max);
}

bool code_holds(const struct code *code, uint32_t slot, uint32_t piece)
{
    CHECK(slot < code->slots);
    CHECK(piece < code->piece_count);
    return placement_ops(code->spec.placement)->holds(code, slot, piece);
}

double code_coefficient(const struct code *code, uint32_t slot, uint32_t piece)
{
    CHECK(slot < code->slots);
    CHECK(piece < code->piece_count);
    return placement_ops(code->spec.placement)->coefficient(code, slot, piece);
}

bool code_enough(const struct code *code, const struct code_progress *progress)
{
    return stop_ops(code->spec.stop)->enough(code, progress);
}

bool code_feasible(const struct code *code, const bool *slot_alive)
{
    return stop_ops(code->spec.stop)->feasible(code, slot_alive);
}

enum err code_decode(const struct code *code, const bool *slot_in,
                     double *weight, double *residual)
{
    struct decoder decoder;
    enum err err;

    CHECK(code->carrier == CARRIER_F64);
    err = decoder_init(&decoder, code);
    if (err == ERR_OK)
        err = decoder_run(&decoder, slot_in, weight, residual);
    decoder_close(&decoder);
    return err;
}

double code_rescale(const struct code *code, uint64_t rows_covered,
                    uint64_t rows)
{
    CHECK(rows_covered <= rows);
    return estimate_ops(code->spec.estimate)->rescale(rows_covered, rows);
}

const char *exactness_name(enum exactness exactness)
{
    static const char *const names[] = {
        [EXACT_BITWISE] = "bitwise",
        [EXACT_NUMERIC] = "numeric",
        [EXACT_APPROX] = "approx",
    };

    CHECK((size_t)exactness < sizeof names / sizeof *names);
    return names[exactness];
}

const char *placement_name(enum placement placement)
{
    return placement_ops(placement)->name;
}

const char *schedule_name(enum schedule schedule)
{
    return schedule_ops(schedule)->name;
}

const char *stop_name(enum stop stop)
{
    return stop_ops(stop)->name;
}

const char *estimate_name(enum estimate estimate)
{
    return estimate_ops(estimate)->name;
}
