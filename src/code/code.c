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

#define PLACE_ROW(upper, lower) [PLACE_##upper] = &placement_##lower,
static const struct placement_ops *const placements[] = {PLACEMENTS(PLACE_ROW)};
#undef PLACE_ROW

const struct placement_ops *placement_ops(enum placement placement)
{
    CHECK((size_t)placement < sizeof placements / sizeof *placements);
    return placements[placement];
}

static const struct placement_ops *place_of(const struct code *code)
{
    return placement_ops(code->spec.placement);
}

uint32_t code_part_first(const struct code *code, uint32_t part)
{
    const struct placement_ops *place = place_of(code);

    if (place->part_first != NULL)
        return place->part_first(code, part);
    return (uint32_t)((uint64_t)part * code->chunks / code->parts);
}

uint32_t code_span_first(const struct code *code, uint32_t span)
{
    const struct placement_ops *place = place_of(code);

    return place->span_first == NULL ? span : place->span_first(code, span);
}

bool code_span_empty(const struct code *code, uint32_t span)
{
    return code->span_piece[span] == code->span_piece[span + 1];
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

/* --- what goes together -------------------------------------------------- */

static enum err vet_size(const struct code *code, struct why *why)
{
    const uint32_t s = code->spec.stragglers;
    const bool coded = code->carrier == CARRIER_F64;

    if (code->slots == 0 || code->slots > CODE_SLOTS_MAX)
        return why_set(why, ERR_SHAPE, "a code serves 1 to %u workers, not %u",
                       CODE_SLOTS_MAX, code->slots);
    if (coded && !place_of(code)->summed && code->slots > CODE_NUMERIC_MAX)
        return why_set(why, ERR_SHAPE,
                       "code %s serves at most %u workers, not %u; use `rep`",
                       code->spec.name, CODE_NUMERIC_MAX, code->slots);
    if (code->chunks == 0)
        return why_set(why, ERR_SHAPE, "there is no data to share out");
    if (s >= code->slots)
        return why_set(why, ERR_SHAPE,
                       "code %s cannot lose %u of %u workers; at most %u",
                       code->spec.name, s, code->slots, code->slots - 1);
    if (code->spec.pieces > CODE_PIECES_MAX)
        return why_set(why, ERR_SHAPE,
                       "code %s cannot cut a part into %u pieces; at most %u",
                       code->spec.name, code->spec.pieces, CODE_PIECES_MAX);
    return ERR_OK;
}

static enum err vet_groups(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;
    const struct placement_ops *place = place_of(code);
    const uint32_t groups = place->grouped && place->span_count != NULL
                                ? place->span_count(code)
                                : code->slots;

    if (spec->stop != STOP_GROUPS)
        return ERR_OK;
    if (!place->grouped)
        return why_set(why, ERR_SHAPE,
                       "code %s has no groups to stop at; use deadline:T",
                       spec->name);
    if (spec->k > groups)
        return why_set(why, ERR_SHAPE,
                       "code %s cannot wait for %u groups of workers; there "
                       "are %u",
                       spec->name, spec->k, groups);
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
    if (spec->stop == STOP_DEADLINE && !(spec->deadline_s > 0))
        return why_set(why, ERR_SHAPE,
                       "code %s needs a deadline above zero seconds",
                       spec->name);
    if (stop->partial && !estimate_ops(spec->estimate)->partial &&
        code->carrier == CARRIER_TALLY)
        return why_set(why, ERR_SHAPE,
                       "code %s may end a step with data missing, which "
                       "estimate %s does not allow; add estimate=reference "
                       "or estimate=ratio, or wait for all data: stop=cover",
                       spec->name, estimate_ops(spec->estimate)->name);
    return vet_groups(code, why);
}

static enum err vet_schedule(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;
    const struct placement_ops *place = place_of(code);
    const bool cuts = spec->schedule != SCHED_ALL;

    if (cuts && !place->grouped && !place->cut)
        return why_set(why, ERR_SHAPE,
                       "code %s sends a slot's work whole; schedule %s does "
                       "not go with it",
                       spec->name, schedule_ops(spec->schedule)->name);
    if (spec->schedule == SCHED_STEAL && !place->grouped)
        return why_set(why, ERR_SHAPE,
                       "schedule steal needs groups, and code %s has none",
                       spec->name);
    return ERR_OK;
}

static enum err vet(const struct code *code, struct why *why)
{
    const struct placement_ops *place = place_of(code);
    const struct estimate_ops *estimate = estimate_ops(code->spec.estimate);
    enum err err = vet_size(code, why);

    if (err == ERR_OK)
        err = vet_stop(code, why);
    if (err == ERR_OK)
        err = vet_schedule(code, why);
    if (err == ERR_OK && place->vet != NULL)
        err = place->vet(code, why);
    if (err == ERR_OK && estimate->vet != NULL)
        err = estimate->vet(code, why);
    return err;
}

enum exactness code_spec_class(const struct code_spec *spec)
{
    if (code_spec_estimates(spec) || spec->narrow)
        return EXACT_APPROX;
    if (!code_spec_tally(spec))
        return EXACT_NUMERIC;
    return stop_ops(spec->stop)->partial ? EXACT_APPROX : EXACT_BITWISE;
}

bool code_spec_tally(const struct code_spec *spec)
{
    return placement_ops(spec->placement)->carrier == CARRIER_TALLY;
}

bool code_spec_estimates(const struct code_spec *spec)
{
    return (placement_ops(spec->placement)->traits & TRAIT(ESTIMATE)) != 0;
}

bool code_spec_products(const struct code_spec *spec)
{
    return (placement_ops(spec->placement)->traits & TRAIT(BLOCKS)) != 0;
}

bool code_spec_elastic(const struct code_spec *spec)
{
    return spec->blocks > 0;
}

bool code_spec_replays(const struct code_spec *spec)
{
    return !code_spec_elastic(spec) && spec->shadows == 0;
}

double code_spec_residual_max(const struct code_spec *spec)
{
    return code_spec_elastic(spec) && !spec->result ? CODE_RESIDUAL_BLOCKS
                                                    : CODE_RESIDUAL_MAX;
}

uint32_t code_spec_enough(const struct code_spec *spec, uint32_t n)
{
    return (spec->blocks > 0 ? spec->blocks : n) - spec->stragglers;
}

bool code_spec_sampled(const struct code_spec *spec)
{
    return placement_ops(spec->placement)->sampled;
}

uint32_t code_primaries(const struct code *code)
{
    return code_spec_sampled(&code->spec) ? code->parts / 2 : 0;
}

uint32_t code_data_pieces(const struct code *code)
{
    return code_spec_sampled(&code->spec) ? code->piece_count / 2
                                          : code->piece_count;
}

bool code_spec_bitwise(const struct code_spec *spec)
{
    return code_spec_class(spec) == EXACT_BITWISE;
}

/* --- pieces -------------------------------------------------------------- */

static uint32_t cuts_of(const struct code *code)
{
    const uint32_t own = schedule_ops(code->spec.schedule)->pieces;

    return own > 0 && code->spec.pieces > 0 ? code->spec.pieces : own;
}

/* Chunks [first, end) in `count` pieces as equal as can be. */
static void cut(struct code *code, uint32_t first, uint32_t end, uint32_t count,
                struct piece like)
{
    const uint64_t chunks = end - first;

    if (count > chunks)
        count = (uint32_t)chunks;
    for (uint32_t j = 0; j < count; j++) {
        like.first = first + (uint32_t)(j * chunks / count);
        like.end = first + (uint32_t)((j + 1) * chunks / count);
        code->pieces[code->piece_count++] = like;
    }
}

/* The slot of the part's number if it holds it, or the first that does. */
static uint32_t owner_of(const struct code *code, uint32_t span, uint32_t part)
{
    const struct code_table *table = &code->table;

    if (part < code->slots && table_find(table, part, span) != UINT32_MAX)
        return part;
    return table->column[span] < table->column[span + 1]
               ? table->holder[table->column[span]]
               : 0;
}

/* The pieces of a span, appended. */
static void build_span(struct code *code, uint32_t span)
{
    const uint32_t first = code_span_first(code, span);
    const uint32_t end = code_span_first(code, span + 1);
    const uint32_t cuts = cuts_of(code);
    struct piece like = {.span = span, .group = CODE_GROUP_NONE};

    code->span_piece[span] = code->piece_count;
    if (code->groups != NULL)
        like.group = span;
    for (uint32_t part = first; part < end; part = cuts == 0 ? end : part + 1) {
        const uint32_t next = cuts == 0 ? end : part + 1;

        like.owner = owner_of(code, span, part);
        cut(code, code_part_first(code, part), code_part_first(code, next),
            cuts == 0 ? 1 : cuts, like);
    }
    if (code->groups != NULL)
        code->groups[span] = (struct group){first, end, code->span_piece[span],
                                            code->piece_count};
}

static enum err build_pieces(struct code *code)
{
    const uint64_t cuts = cuts_of(code);
    uint64_t most = (uint64_t)code->parts * (cuts == 0 ? 1 : cuts);

    if (most > code->chunks)
        most = code->chunks;
    code->pieces = mem_new(most, sizeof *code->pieces);
    code->span_piece =
        mem_new((size_t)code->span_count + 1, sizeof *code->span_piece);
    if (code->pieces == NULL || code->span_piece == NULL)
        return ERR_NOMEM;
    if (place_of(code)->grouped) {
        code->groups = mem_new(code->span_count, sizeof *code->groups);
        if (code->groups == NULL)
            return ERR_NOMEM;
        code->group_count = code->span_count;
    }
    for (uint32_t span = 0; span < code->span_count; span++)
        build_span(code, span);
    code->span_piece[code->span_count] = code->piece_count;
    code->plain_count = code->span_piece[code->plain_spans];
    CHECK(code->piece_count > 0 && code->piece_count <= most);
    CHECK(code->pieces[code->piece_count - 1].end == code->chunks);
    return ERR_OK;
}

static bool has_coded_work(const struct code *code, uint32_t slot)
{
    const struct code_table *table = &code->table;

    for (uint32_t i = table->row[slot]; i < table->row[slot + 1]; i++) {
        if (table->span[i] >= code->plain_spans &&
            !code_span_empty(code, table->span[i]))
            return true;
    }
    return false;
}

static enum err build_busy(struct code *code)
{
    uint32_t id;

    code->busy = mem_new(code->slots, sizeof *code->busy);
    if (code->busy == NULL)
        return ERR_NOMEM;
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        code->busy[slot] = code->carrier == CARRIER_F64
                               ? has_coded_work(code, slot)
                               : code_work(code, slot, &id, 1) > 0;
        code->busy_count += code->busy[slot];
    }
    return ERR_OK;
}

static void count_parts(struct code *code)
{
    const struct placement_ops *place = place_of(code);

    code->parts = place->parts == NULL ? code->slots : place->parts(code);
    code->segments = !code_spec_elastic(&code->spec) ? 1
                     : code->spec.pieces > 0         ? code->spec.pieces
                                                     : CODE_SEGMENTS;
    code->span_count =
        place->span_count == NULL ? code->parts : place->span_count(code);
    if (place->plain_spans != NULL)
        code->plain_spans = place->plain_spans(code);
    else
        code->plain_spans =
            code->carrier == CARRIER_TALLY ? code->span_count : 0;
}

/* Coefficients, the room to decode in and the certificate. */
static enum err build_coded(struct code *code)
{
    const struct placement_ops *place = place_of(code);
    enum err err;

    code->folds = place->folds == NULL ? 0 : place->folds(code);
    code->basis =
        mem_new((size_t)code->folds * code->slots, sizeof *code->basis);
    if (code->basis == NULL)
        return ERR_NOMEM;
    if (place->uncertified)
        return place->draw(code, 0);
    err = code_spec_products(&code->spec) ? ERR_OK : decoder_new(code);
    if (err == ERR_OK)
        err = certify_best(code);
    if (err == ERR_OK &&
        !(code->certificate.worst_residual <= CODE_RESIDUAL_MAX))
        code->exactness = EXACT_APPROX;
    return err;
}

static enum err build_tables(struct code *code, struct why *why)
{
    const struct placement_ops *place = place_of(code);
    enum err err = ERR_OK;

    count_parts(code);
    if (place->prepare != NULL)
        err = place->prepare(code);
    if (err == ERR_OK)
        err = table_build(code);
    if (err == ERR_OK)
        err = build_pieces(code);
    if (err == ERR_OK)
        err = build_busy(code);
    if (err == ERR_OK && code->carrier == CARRIER_F64)
        err = build_coded(code);
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
    struct code made = {.spec = *spec,
                        .slots = spec->blocks > 0 ? spec->blocks : slots,
                        .chunks = chunks,
                        .samples = chunks};
    enum err err;

    if (code_spec_sampled(spec))
        made.chunks = 2 * chunks;

    made.carrier = placement_ops(spec->placement)->carrier;
    made.exactness = code_spec_class(spec);
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
    mem_free(code->span_piece);
    mem_free(code->arc);
    mem_free(code->basis);
    mem_free(code->busy);
    table_close(&code->table);
    erasure_close(&code->erasure);
    decoder_free(code->decoder);
    *code = (struct code){0};
}

/* --- questions ----------------------------------------------------------- */

uint32_t code_work(const struct code *code, uint32_t slot, uint32_t *ids,
                   uint32_t max)
{
    CHECK(slot < code->slots);
    return schedule_ops(code->spec.schedule)->work(code, slot, ids, max);
}

uint32_t code_held(const struct code *code, uint32_t slot, uint32_t *ids,
                   uint32_t max)
{
    const struct code_table *table = &code->table;
    uint32_t count = 0;

    CHECK(slot < code->slots);
    for (uint32_t i = table->row[slot]; i < table->row[slot + 1]; i++)
        count = code_ids(ids, count, max, code->span_piece[table->span[i]],
                         code->span_piece[table->span[i] + 1]);
    return count;
}

bool code_holds(const struct code *code, uint32_t slot, uint32_t piece)
{
    CHECK(slot < code->slots);
    CHECK(piece < code->piece_count);
    return table_find(&code->table, slot, code->pieces[piece].span) !=
           UINT32_MAX;
}

bool code_plain(const struct code *code, uint32_t piece)
{
    CHECK(piece < code->piece_count);
    return piece < code->plain_count;
}

double code_entry(const struct code *code, uint32_t slot, uint32_t span)
{
    const uint32_t at = table_find(&code->table, slot, span);

    CHECK(slot < code->slots);
    CHECK(span < code->span_count);
    return at == UINT32_MAX ? 0 : code->table.value[at];
}

double code_coefficient(const struct code *code, uint32_t slot, uint32_t piece)
{
    CHECK(piece < code->piece_count);
    return code_entry(code, slot, code->pieces[piece].span);
}

bool code_enough(const struct code *code, const struct code_progress *progress)
{
    return stop_ops(code->spec.stop)->enough(code, progress);
}

bool code_decodable(const struct code *code, const bool *slot_alive)
{
    return stop_ops(code->spec.stop)->feasible(code, slot_alive);
}

/* The plain pieces of a coded round are all needed, so each needs a holder. */
bool code_feasible(const struct code *code, const bool *slot_alive)
{
    const uint32_t plain = code->carrier == CARRIER_F64 ? code->plain_spans : 0;

    for (uint32_t span = 0; span < plain; span++) {
        if (!code_span_empty(code, span) &&
            !table_covers(&code->table, span, slot_alive))
            return false;
    }
    return code_decodable(code, slot_alive);
}

static uint32_t span_chunks(const struct code *code, uint32_t span)
{
    return code_part_first(code, code_span_first(code, span + 1)) -
           code_part_first(code, code_span_first(code, span));
}

double code_piece_work(const struct code *code, uint32_t piece)
{
    const struct piece *const at = &code->pieces[piece];
    const double chunks = at->end - at->first;

    return at->first >= code->samples ? code->spec.size * chunks : chunks;
}

/* Chunks that are computed of it. */
static double code_span_work(const struct code *code, uint32_t span)
{
    double work = 0;

    for (uint32_t id = code->span_piece[span]; id < code->span_piece[span + 1];
         id++)
        work += code_piece_work(code, id);
    return work;
}

uint32_t code_covered(const struct code *code, const bool *piece_in,
                      const bool *slot_in)
{
    uint32_t chunks = 0;

    for (uint32_t id = 0; id < code->plain_count; id++) {
        if (piece_in[id])
            chunks += code->pieces[id].end - code->pieces[id].first;
    }
    for (uint32_t q = code->plain_spans; q < code->span_count; q++) {
        if (table_covers(&code->table, q, slot_in))
            chunks += span_chunks(code, q);
    }
    return chunks;
}

/* Chunks of the longest part. */
static uint32_t tallest(const struct code *code)
{
    return (code->chunks + code->parts - 1) / code->parts;
}

double code_copies(const struct code *code)
{
    uint64_t held = 0;

    if (code_spec_products(&code->spec)) /* A block of rows, and of columns. */
        return (double)code->spec.copies * code->slots * tallest(code) /
               code->chunks;

    for (uint32_t slot = 0; slot < code->slots; slot++) {
        for (uint32_t id = 0; id < code->piece_count; id++) {
            if (code_holds(code, slot, id))
                held += code->pieces[id].end - code->pieces[id].first;
        }
    }
    return (double)held / code->samples;
}

double code_load(const struct code *code)
{
    const double block = (double)tallest(code) / code->chunks;
    double most = 0;

    if (code_spec_elastic(&code->spec)) /* An arc of it. */
        return block * code->parts / code->slots;
    if (code_spec_products(&code->spec))
        return block;
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        const struct code_table *table = &code->table;
        const bool own = code->spec.schedule == SCHED_STEAL;
        double load =
            own ? code_part_first(code, slot + 1) - code_part_first(code, slot)
                : 0;

        for (uint32_t i = table->row[slot]; !own && i < table->row[slot + 1];
             i++)
            load += code_span_work(code, table->span[i]);
        most = load > most ? load : most;
    }
    return most / code->samples;
}

double code_rescale(const struct code *code, uint64_t rows_covered,
                    uint64_t rows)
{
    CHECK(rows_covered <= rows);
    return estimate_ops(code->spec.estimate)->rescale(code, rows_covered, rows);
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

const char *carrier_name(enum carrier carrier)
{
    return carrier == CARRIER_TALLY ? "tally" : "fp64";
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

/* Multiples of the golden ratio spread the beginnings of neighbouring steps. */
uint32_t code_first_slot(const struct code *code, uint32_t step)
{
    const uint32_t fraction = step * UINT32_C(2654435769);

    return (uint32_t)(((uint64_t)fraction * code->slots) >> 32);
}
