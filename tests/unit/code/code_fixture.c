#include "code/code_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static enum err make(struct shape shape, struct code *code, struct why *why)
{
    const struct preset_options options = {.name = shape.name,
                                           .stragglers = shape.s,
                                           .collect = shape.collect,
                                           .workers = shape.n,
                                           .seed = 7};
    struct code_spec spec;
    const enum err err = preset_spec(&options, &spec, why);

    if (err != ERR_OK)
        return err;
    return code_build(code, &spec, shape.n, shape.chunks, why);
}

struct code_spec spec_of(struct shape shape)
{
    const struct preset_options options = {.name = shape.name,
                                           .stragglers = shape.s,
                                           .collect = shape.collect,
                                           .workers = shape.n,
                                           .seed = 7};
    struct code_spec spec = {0};
    struct why why = {0};

    if (preset_spec(&options, &spec, &why) != ERR_OK)
        fail_msg("%s", why.text);
    return spec;
}

struct code code_of(struct shape shape)
{
    struct code code = {0};
    struct why why = {0};

    if (make(shape, &code, &why) != ERR_OK)
        fail_msg("n=%u s=%u: %s", shape.n, shape.s, why.text);
    return code;
}

void refuse(struct shape shape, enum err err, const char *words)
{
    struct code code = {0};
    struct why why = {0};

    assert_int_equal(make(shape, &code, &why), err);
    if (strstr(why.text, words) == NULL)
        fail_msg("`%s` does not say `%s`", why.text, words);
    assert_null(strchr(why.text, '\n'));
    assert_null(code.pieces);
}

void step_begin(struct step *step, const struct code *code)
{
    assert_true(code->slots <= SLOTS_MAX);
    assert_true(code->piece_count <= PIECES_MAX);
    *step = (struct step){.code = code};
    step->progress.piece_in = step->piece_in;
    step->progress.slot_in = step->slot_in;
}

void step_piece(struct step *step, uint32_t piece)
{
    step->progress.pieces_in += !step->piece_in[piece];
    step->piece_in[piece] = true;
}

bool step_arrive(struct step *step, uint32_t slot)
{
    uint32_t ids[PIECES_MAX];
    const uint32_t count = code_work(step->code, slot, ids, PIECES_MAX);

    if (step->slot_in[slot])
        return false;
    step->slot_in[slot] = true;
    step->progress.slots_in++;
    for (uint32_t i = 0; i < count; i++) {
        if (code_plain(step->code, ids[i]))
            step_piece(step, ids[i]);
    }
    return true;
}

bool enough_with(const struct code *code, uint32_t mask)
{
    struct step step;

    step_begin(&step, code);
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        if (mask >> slot & 1u)
            step_arrive(&step, slot);
    }
    return code_enough(code, &step.progress);
}

bool feasible_with(const struct code *code, uint32_t mask)
{
    bool alive[SLOTS_MAX];

    for (uint32_t slot = 0; slot < code->slots; slot++)
        alive[slot] = mask >> slot & 1u;
    return code_feasible(code, alive);
}

double decode_plainly(const struct code *code, uint32_t mask, uint32_t *chunks)
{
    const bool none[PIECES_MAX] = {false};
    bool in[SLOTS_MAX] = {false};
    double weight[SLOTS_MAX];
    double residual;

    *chunks = 0;
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        uint32_t id;

        in[slot] = mask >> slot & 1u;
        if (in[slot] && code_work(code, slot, &id, 1) == 1)
            *chunks += code->pieces[id].end - code->pieces[id].first;
    }
    assert_int_equal(code_decode(code, in, weight, &residual), ERR_OK);
    for (uint32_t slot = 0; slot < code->slots; slot++)
        assert_true(weight[slot] == (in[slot] && code->busy[slot] ? 1 : 0));
    assert_int_equal(code_covered(code, none, in), *chunks);
    return residual;
}
