/*
 * segments.c - the pieces of a product with coded data: what is in, and what
 * the answers come to.  Who is asked for which is deal.c's.
 */
#include "core/star/segments.h"

#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"
#include "core/product.h"
#include "core/star/coordinator_parts.h"
#include "math/vec.h"

struct item segments_item(const struct coordinator *c, uint32_t id)
{
    const struct segment *segment = &c->segments.list[id];

    CHECK(id < c->piece_count);
    return (struct item){.id = id,
                         .first = segment->first,
                         .end = segment->end,
                         .coefficient = 1};
}

/* Does everybody compute everything? */
static bool asks_all(const struct coordinator *c)
{
    return !code_spec_elastic(&c->code.spec);
}

/* --- room ---------------------------------------------------------------- */

void segments_close(struct coordinator *c)
{
    struct segments *s = &c->segments;

    mem_free(s->list);
    mem_free(s->kept);
    mem_free(s->given);
    mem_free(s->seated);
    mem_free(s->dealt);
    mem_free(s->sets);
    mem_free(s->whole);
    mem_free(s->answer);
    mem_free(s->part);
    mem_free(s->scratch);
    mem_free(s->done);
    mem_free(s->doing);
    mem_free(s->members);
    mem_free(s->arcs);
    mem_free(s->speeds);
    mem_free(s->inputs);
    mem_free(s->unsummed);
    residual_close(&s->plan);
    *s = (struct segments){0};
}

/* What is left to multiply, and what each is to multiply with its rows. */
static enum err combine_room(struct coordinator *c, const struct code *code)
{
    const struct block_shape shape =
        product_shape(&c->options.job, code->parts);
    const size_t rows = block_in(&shape, EVALUATE_COMBINE);
    struct segments *s = &c->segments;

    if (c->options.job.copies > 1)
        return ERR_OK;
    s->inputs = mem_new(rows * code->slots, sizeof *s->inputs);
    s->unsummed = mem_new(rows * code->parts, sizeof *s->unsummed);
    return s->inputs == NULL || s->unsummed == NULL ? ERR_NOMEM : ERR_OK;
}

enum err segments_room(struct coordinator *c, const struct code *code)
{
    const uint32_t spare = code->parts + ERASURE_SPARE;
    struct segments *s = &c->segments;
    enum err err;

    segments_close(c);
    s->max = code->piece_count;
    if (!product_on(c))
        return ERR_OK;
    if (code->segments > s->max)
        s->max = code->segments;
    s->need = code->parts;
    s->keeps = spare < code->slots ? spare : code->slots;
    s->rule = code->spec.rule;
    s->look_at = TIME_NEVER;
    s->list = mem_new(s->max, sizeof *s->list);
    s->kept = mem_new((size_t)s->max * s->keeps, sizeof *s->kept);
    s->given = mem_new((size_t)s->max * code->slots, sizeof *s->given);
    s->seated = mem_new(code->slots, sizeof *s->seated);
    s->dealt = mem_new(s->max, sizeof *s->dealt);
    s->sets = mem_new(s->max, sizeof *s->sets);
    s->whole = mem_new(s->max, sizeof *s->whole);
    s->done = mem_new(code->segments, sizeof *s->done);
    s->doing = mem_new(code->segments, sizeof *s->doing);
    s->members = mem_new(code->slots, sizeof *s->members);
    s->arcs = mem_new(code->slots, sizeof *s->arcs);
    s->speeds = mem_new(code->slots, sizeof *s->speeds);
    s->answer = mem_new(code->slots, sizeof *s->answer);
    s->part = mem_new(code->slots, sizeof *s->part);
    s->scratch = mem_new(segments_numbers(c, code), sizeof *s->scratch);
    if (s->list == NULL || s->kept == NULL || s->given == NULL ||
        s->seated == NULL || s->dealt == NULL || s->sets == NULL ||
        s->whole == NULL || s->done == NULL || s->doing == NULL ||
        s->members == NULL || s->arcs == NULL || s->speeds == NULL ||
        s->answer == NULL || s->part == NULL || s->scratch == NULL)
        return ERR_NOMEM;
    err = combine_room(c, code);
    if (err == ERR_OK)
        err = residual_init(&s->plan, code->slots, code->segments);
    return err;
}

/* Numbers of all answers that may be kept: those of a piece lie one behind the
 * other, where its first would begin if there were only one of each. */
size_t segments_numbers(const struct coordinator *c, const struct code *code)
{
    const struct block_shape shape =
        product_shape(&c->options.job, code->parts);
    const uint32_t rows = block_range(&shape, EVALUATE_SCORES);
    const uint32_t cols = block_range(&shape, EVALUATE_BACK);

    return (size_t)c->segments.keeps * (rows > cols ? rows : cols);
}

static uint32_t segment_numbers(const struct coordinator *c, uint32_t id)
{
    return c->segments.list[id].end - c->segments.list[id].first;
}

static double *answer_at(struct coordinator *c, uint32_t id, uint32_t i)
{
    const struct segment *segment = &c->segments.list[id];

    return c->coded + (size_t)c->segments.keeps * segment->first +
           (size_t)i * (segment->end - segment->first);
}

static struct segment *segment_of(struct coordinator *c, uint32_t id)
{
    CHECK(id < c->piece_count);
    return &c->segments.list[id];
}

/* --- opening ------------------------------------------------------------- */

static void lay_piece(struct coordinator *c, uint32_t id, uint32_t first,
                      uint32_t end)
{
    c->segments.list[id] = (struct segment){.first = first, .end = end};
    if (first < end)
        return;
    c->piece_in[id] = true; /* More pieces than numbers. */
    c->pieces_in++;
}

static void lay_pieces(struct coordinator *c)
{
    const struct block_shape shape = product_blocks(c);
    const uint64_t range = block_range(&shape, c->what.kind);

    for (uint64_t id = 0; id < c->piece_count; id++)
        lay_piece(c, (uint32_t)id, (uint32_t)(id * range / c->piece_count),
                  (uint32_t)((id + 1) * range / c->piece_count));
}

void segments_open(struct coordinator *c, struct actions *actions)
{
    struct segments *s = &c->segments;

    memset(s->given, 0, (size_t)s->max * c->code.slots * sizeof *s->given);
    memset(s->seated, 0, c->code.slots * sizeof *s->seated);
    s->gives = 0;
    s->look_at = TIME_NEVER;
    s->turns = combine_again(c) ? s->turns : 0;
    /* Who lagged on the way back is not asked again on the same way. */
    for (uint32_t i = 0; i < c->alive && !combine_again(c); i++)
        c->members[c->present[i]].lags = false;
    lay_pieces(c);
    if (combine_on(c)) {
        combine_open(c, actions);
        return;
    }
    if (asks_all(c)) {
        deal_all(c, actions);
        return;
    }
    deal_plan(c, actions);
    deal_trials(c, actions);
}

/* --- what comes back ----------------------------------------------------- */

/* Pieces that there are, and as many numbers as they have. */
bool segments_fit(const struct coordinator *c, const struct msg_row *msg)
{
    const struct block_shape shape = product_blocks(c);
    uint64_t numbers = 0;

    for (uint32_t i = 0; i < msg->count; i++) {
        if (msg->pieces[i] >= c->piece_count)
            return false;
        numbers += segment_numbers(c, msg->pieces[i]);
    }
    if (combine_on(c))
        numbers = block_out(&shape, c->what.kind);
    return msg->count > 0 && msg->dims == numbers;
}

void segments_seated(struct coordinator *c, uint32_t slot)
{
    c->segments.seated[slot] = ++c->segments.gives;
}

bool segments_asked(const struct coordinator *c, uint32_t link,
                    const struct msg_row *msg)
{
    const struct segments *s = &c->segments;
    const uint32_t slot = c->members[link].slot;
    const uint32_t *given = s->given + (size_t)slot * s->max;

    for (uint32_t i = 0; i < msg->count; i++) {
        if (given[msg->pieces[i]] <= s->seated[slot])
            return false;
    }
    return true;
}

bool segments_newcomer(const struct coordinator *c, uint32_t link)
{
    return c->segments.seated[c->members[link].slot] > 0;
}

/* Nobody need go on with a piece that is in. */
static void spare(struct coordinator *c, uint32_t id, struct actions *actions)
{
    struct piece_state *piece = &c->pieces[id];

    while (piece->assignee_count > 0)
        work_take_back(c, piece->assignee[piece->assignee_count - 1], &id, 1,
                       actions);
}

static void piece_arrived(struct coordinator *c, uint32_t id,
                          struct actions *actions)
{
    if (!c->piece_in[id])
        c->pieces_in++;
    c->piece_in[id] = true;
    if (!asks_all(c))
        spare(c, id, actions);
}

/* Where number `first` of part `part` belongs, and how many follow it there:
 * a block is as long as its longest part. */
static double *part_at(struct coordinator *c, uint32_t part, uint32_t first,
                       uint32_t *count)
{
    const struct block_shape shape = product_blocks(c);
    uint32_t from = block_part_row(&shape, part);
    uint32_t end = block_part_row(&shape, part + 1);
    double *to = c->products.scores;

    if (c->what.kind == EVALUATE_BACK) {
        from = block_first_col(&shape, part);
        end = block_first_col(&shape, part + 1);
        to = c->gradient;
    }
    *count = first < end - from ? end - from - first : 0;
    return to + from + first;
}

static const double *answer_of(struct coordinator *c, uint32_t id,
                               uint32_t block)
{
    const struct segments *s = &c->segments;
    const uint32_t *kept = s->kept + (size_t)id * s->keeps;
    uint32_t i = 0;

    while (kept[i] != block)
        i++;
    CHECK(i < s->list[id].count);
    return answer_at(c, id, i);
}

/* All parts of the piece; the ends of short parts are zeros nobody wants. */
static void decode(struct coordinator *c, uint32_t id,
                   const struct erasure_set *set)
{
    struct segments *s = &c->segments;
    const uint32_t first = s->list[id].first;
    const uint32_t numbers = s->list[id].end - first;
    uint32_t count;

    for (uint32_t i = 0; i < set->count; i++)
        s->answer[i] = answer_of(c, id, set->block[i]);
    for (uint32_t part = 0; part < c->code.parts; part++) {
        s->part[part] = part_at(c, part, first, &count);
        if (count < numbers)
            s->part[part] = s->scratch + (size_t)part * numbers;
    }
    erasure_decode(set, numbers, s->answer, s->part);
    for (uint32_t part = 0; part < c->code.parts; part++) {
        double *to = part_at(c, part, first, &count);

        if (count < numbers)
            memcpy(to, s->part[part], count * sizeof *to);
    }
    product_note(c, set);
}

/* Is an answer to the piece still to come? */
static bool is_awaited(const struct coordinator *c, uint32_t id)
{
    const struct piece_state *piece = &c->pieces[id];

    for (uint32_t i = 0; i < piece->assignee_count; i++) {
        if (!refusals_of_row(c, piece->assignee[i]))
            return true;
    }
    return false;
}

/* The answers decode badly: will there be one more?  It is asked for if nobody
 * who is counted on is at it; and somebody may join who can be asked. */
static bool one_more(struct coordinator *c, uint32_t id,
                     struct actions *actions)
{
    const bool awaited = is_awaited(c, id);

    if (c->segments.list[id].count == c->segments.keeps)
        return false;
    if (asks_all(c))
        return awaited;
    return deal_awaits(c, id) || deal_one_more(c, id, actions) || awaited ||
           deal_may_join(c);
}

/* Decode what has enough answers.  Where these decode badly one more is waited
 * for; where no other can come, commit.c judges what there is. */
static void try_decode(struct coordinator *c, uint32_t id,
                       struct actions *actions)
{
    const struct segment *segment = segment_of(c, id);
    const double least = product_rcond(c);
    const double most = product_residual_max(c);
    const struct erasure_set *set = NULL;
    bool serves;
    enum err err;

    if (segment->count < c->segments.need)
        return;
    err = erasure_pick(&c->code.erasure, &segment->from, least, most, &set);
    serves = err == ERR_OK && erasure_serves(set, least, most);
    if (!serves && one_more(c, id, actions))
        return;
    if (err != ERR_OK) {
        c->doubtful = !asks_all(c); /* balance.c says so. */
        return;
    }
    decode(c, id, set);
    piece_arrived(c, id, actions);
}

void segments_look_again(struct coordinator *c, struct actions *actions)
{
    for (uint32_t id = 0; id < c->piece_count && !combine_on(c); id++)
        if (!c->piece_in[id])
            try_decode(c, id, actions);
}

/* Keep it, once of each block (TALLY-1). */
static bool keep(struct coordinator *c, uint32_t slot, uint32_t id,
                 const double *row)
{
    struct segments *s = &c->segments;
    struct segment *segment = segment_of(c, id);

    if (c->piece_in[id] ||
        (blockset_has(&segment->from, slot) && !BUG(BUG_ROW_TWICE)) ||
        segment->count == s->keeps)
        return false;
    memcpy(answer_at(c, id, segment->count), row,
           (segment->end - segment->first) * sizeof *row);
    s->kept[(size_t)id * s->keeps + segment->count++] = slot;
    blockset_add(&segment->from, slot);
    return true;
}

/* A block gives one answer to a piece, to the bit, however often it is asked:
 * has it given another before? */
static bool contradicts(struct coordinator *c, uint32_t slot, uint32_t id,
                        const double *row)
{
    const struct segment *segment = &c->segments.list[id];

    return blockset_has(&segment->from, slot) &&
           memcmp(answer_of(c, id, slot), row,
                  (segment->end - segment->first) * sizeof *row) != 0;
}

static void trace_piece(struct coordinator *c, uint32_t link, uint32_t id,
                        const struct msg_row *msg, struct actions *actions)
{
    const struct block_shape shape = product_blocks(c);
    const struct segment *segment = &c->segments.list[id];
    const struct block_strips strips =
        block_strips_of(&shape, combine_on(c) ? EVALUATE_SCORES : c->what.kind,
                        segment->first, segment->end);
    struct trace *trace = coordinator_trace(c, actions, TRACE_TALLY, link);

    trace->key = msg->key;
    trace->a = id;
    trace->b = strips.end - strips.first;
    answers_trace(c, link, msg->compute_us / msg->count, trace);
}

static void count(struct coordinator *c, uint32_t link, uint32_t id,
                  const struct msg_row *msg, struct actions *actions)
{
    round_slot_in(c, c->members[link].slot);
    c->stats.pieces_merged++;
    trace_piece(c, link, id, msg, actions);
}

static void note_duplicate(struct coordinator *c, uint32_t link, uint32_t id,
                           struct actions *actions)
{
    c->stats.duplicates++;
    coordinator_trace(c, actions, TRACE_DUPLICATE, link)->a = id;
}

/* One piece after the other. */
static void take_apart(struct coordinator *c, uint32_t link,
                       const struct msg_row *msg, struct actions *actions)
{
    const uint32_t slot = c->members[link].slot;
    const double *row = msg->row;
    bool lies = false;

    for (uint32_t i = 0; i < msg->count; i++) {
        const uint32_t id = msg->pieces[i];

        deal_answered(c, link, id);
        if (keep(c, slot, id, row)) {
            count(c, link, id, msg, actions);
            try_decode(c, id, actions);
        } else {
            note_duplicate(c, link, id, actions);
            lies = lies || contradicts(c, slot, id, row);
        }
        row += segment_numbers(c, id);
    }
    if (lies)
        trust_strike(c, link, POISON_LIE, actions);
}

/* Input coding: their sum.  If one piece was counted before, the others are
 * lost with it: they stay owed, and are asked for again. */
static void take_together(struct coordinator *c, uint32_t link,
                          const struct msg_row *msg, struct actions *actions)
{
    const uint32_t slot = c->members[link].slot;

    if (!combine_counts(c, slot, msg)) {
        note_duplicate(c, link, msg->pieces[0], actions);
        for (uint32_t i = 0; i < msg->count; i++) {
            if (blockset_has(&c->segments.list[msg->pieces[i]].from, slot))
                deal_answered(c, link, msg->pieces[i]);
        }
        return;
    }
    combine_add(c, msg->row);
    for (uint32_t i = 0; i < msg->count; i++) {
        const uint32_t id = msg->pieces[i];

        blockset_add(&c->segments.list[id].from, slot);
        deal_answered(c, link, id);
        count(c, link, id, msg, actions);
        if (!deal_awaits(c, id))
            piece_arrived(c, id, actions);
    }
}

/* The answer of the member on `link`, in shape and finite. */
void segments_take(struct coordinator *c, uint32_t link,
                   const struct msg_row *msg, struct actions *actions)
{
    if (combine_on(c))
        take_together(c, link, msg, actions);
    else
        take_apart(c, link, msg, actions);
}

bool segments_enough(const struct coordinator *c)
{
    return c->pieces_in + BUG(BUG_ONE_SHORT) >= c->piece_count;
}
