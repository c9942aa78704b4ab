/*
 * layer_dense.c - dense128: every output of all inputs, for all samples at
 * once.
 *
 * With weights w[in][out] and s the samples of a microbatch:
 *
 *     y[s][o]    from bias[o], over the inputs
 *     dw[i][o]   from 0, over the samples; rounded onto the grid while it is in
 *                the first-level cache, as its sums are for all microbatches
 *     db[o]      from 0, sums over the samples
 *     dx[s][i]   from 0, over the outputs
 */
#include "math/net/gemm.h"
#include "model/net/bugs.h"
#include "model/net/layer.h"

enum {
    PANEL = 32,  /* Outputs of an item, forward, ... */
    GROUP = 42,  /* ... and at most as many samples. */
    ROWS = 112,  /* Inputs of an item, backward, ... */
    SOME = 28,   /* ... of which at least as many at a time, ... */
    LINE = 16,   /* Floats of a cache line. */
    FULL = 3584, /* ... and at most as many weights, if these are more. */
};

static bool parse(const char *rest, struct layer *l)
{
    return layer_number(&rest, &l->out) && *rest == '\0';
}

static const char *shape(struct layer *l)
{
    l->inputs = (uint32_t)neural_floats(&l->in);
    l->to = (struct neural_shape){1, 1, l->out};
    l->weights = layer_times(l->inputs, l->out);
    l->biases = l->out;
    l->outputs = l->out;
    return NULL;
}

static size_t row_of(uint32_t samples)
{
    return ((size_t)samples + 15) / 16 * 16;
}

/* Inputs that are taken at a time: few products of narrow matrices. */
static uint32_t some_rows(const struct layer *l)
{
    const uint32_t rows = FULL / l->out / SOME * SOME;

    return rows < SOME ? SOME : rows > ROWS ? ROWS : rows;
}

/* Some rows of dw, or of dx turned. */
static size_t scratch(const struct layer *l, uint32_t samples)
{
    const size_t row = row_of(l->out > samples ? l->out : samples);

    return GEMM_SCRATCH + some_rows(l) * row;
}

/* dy turned, and a bias's gradient. */
static size_t shared(const struct layer *l, uint32_t samples)
{
    return l->out * row_of(samples) + l->out;
}

static uint32_t panels(const struct layer *l)
{
    return (l->out + PANEL - 1) / PANEL;
}

static uint32_t groups(uint32_t samples)
{
    return (samples + GROUP - 1) / GROUP;
}

static uint32_t items(const struct layer *l, uint32_t samples, bool forward)
{
    return forward ? panels(l) * groups(samples)
                   : (l->inputs + ROWS - 1) / ROWS;
}

/* Groups of about as many samples each. */
static void forward(const struct layer *l, const struct layer_call *call)
{
    const uint32_t first = call->item % panels(l) * PANEL;
    const uint32_t group = call->item / panels(l), all = groups(call->count);
    const size_t sample = (size_t)call->count * group / all;
    const size_t end = (size_t)call->count * (group + 1) / all;
    const struct gemm g = {.m = (uint32_t)(end - sample),
                           .n = l->out - first < PANEL ? l->out - first : PANEL,
                           .k = l->inputs,
                           .a = call->x + sample * call->x_row,
                           .a_row = call->x_row,
                           .a_col = 1,
                           .b = call->weights + first,
                           .b_row = l->out,
                           .b_col = 1,
                           .init = call->bias + first,
                           .c = call->y + sample * call->y_row + first,
                           .c_row = call->y_row};

    gemm_run(call->isa, &g, call->scratch);
}

/* The call of microbatch m alone. */
static struct layer_call part_of(const struct layer_call *call, uint32_t m)
{
    const uint32_t first = m * call->micro, left = call->count - first;
    struct layer_call part = *call;

    part.microbatch = call->microbatch + m;
    part.count = left < call->micro ? left : call->micro;
    part.x += first * call->x_row;
    part.dy += first * call->y_row;
    return part;
}

static void bias_of(const struct layer *l, const struct layer_call *call,
                    float *db)
{
    const uint32_t last = call->count - (NEURAL_BUG(NEURAL_BUG_DENSE) ? 1 : 0);

    for (size_t o = 0; o < l->out; o++)
        db[o] = 0;
    for (size_t s = 0; s < last; s++) {
        for (size_t o = 0; o < l->out; o++)
            db[o] += call->dy[s * call->y_row + o];
    }
    layer_add(l, call, true, 0, l->biases, db);
}

static void begin(const struct layer *l, const struct layer_call *call)
{
    const size_t row = row_of(call->count);
    float *const turned = call->shared, *const db = turned + l->out * row;

    matrix_turn(call->isa, call->dy, call->y_row, call->count, l->out, turned,
                row);
    for (uint32_t m = 0; m * call->micro < call->count; m++) {
        const struct layer_call part = part_of(call, m);

        bias_of(l, &part, db);
    }
}

/* Inputs [first, first + rows). */
static void weights_of(const struct layer *l, const struct layer_call *call,
                       uint32_t first, uint32_t rows, float *out)
{
    const struct gemm g = {.m = rows,
                           .n = l->out,
                           .k = call->count,
                           .a = call->x + first,
                           .a_row = 1,
                           .a_col = call->x_row,
                           .b = call->dy,
                           .b_row = call->y_row,
                           .b_col = 1,
                           .c = out,
                           .c_row = l->out};

    gemm_run(call->isa, &g, call->scratch);
    layer_add(l, call, false, (size_t)first * l->out, (size_t)rows * l->out,
              out);
}

/* Where the weights are fewer than the gradients, they are turned instead. */
static void inputs_of_few(const struct layer *l, const struct layer_call *call,
                          uint32_t first, uint32_t rows)
{
    float *const turned = call->scratch + GEMM_SCRATCH;
    const struct gemm g = {.m = call->count,
                           .n = rows,
                           .k = l->out,
                           .a = call->dy,
                           .a_row = call->y_row,
                           .a_col = 1,
                           .b = turned,
                           .b_row = rows,
                           .b_col = 1,
                           .c = call->dx + first,
                           .c_row = call->x_row};

    matrix_turn(call->isa, call->weights + (size_t)first * l->out, l->out, rows,
                l->out, turned, rows);
    gemm_run(call->isa, &g, call->scratch);
}

static void inputs_of(const struct layer *l, const struct layer_call *call,
                      uint32_t first, uint32_t rows)
{
    float *const turned = call->scratch + GEMM_SCRATCH;
    const size_t row = row_of(call->count);
    const struct gemm g = {.m = rows,
                           .n = call->count,
                           .k = l->out,
                           .a = call->weights + (size_t)first * l->out,
                           .a_row = l->out,
                           .a_col = 1,
                           .b = call->shared,
                           .b_row = row,
                           .b_col = 1,
                           .c = turned,
                           .c_row = row};

    gemm_run(call->isa, &g, call->scratch);
    matrix_turn(call->isa, turned, row, rows, call->count, call->dx + first,
                call->x_row);
}

/* Microbatch m's share of what inputs [first, first + rows) will need: it lies
 * in pieces far apart, which no processor foresees. */
static void fetch(const struct layer *l, const struct layer_call *call,
                  uint32_t m, uint32_t first, uint32_t rows)
{
    const uint32_t parts = (call->count + call->micro - 1) / call->micro;
    const size_t weights = (size_t)rows * l->out;
    const size_t begun = weights * m / parts, end = weights * (m + 1) / parts;
    const size_t from = (size_t)first * l->out + begun;
    const struct layer_call part = part_of(call, m);
    float *const dx =
        call->dx == NULL ? NULL : call->dx + m * call->micro * call->x_row;

    for (size_t i = first; i < first + rows; i += LINE) {
        for (size_t s = 0; s < part.count; s++) {
            __builtin_prefetch(part.x + s * call->x_row + i, 0, 2);
            if (dx != NULL)
                __builtin_prefetch(dx + s * call->x_row + i, 1, 2);
        }
    }
    for (size_t i = 0; i < end - begun; i += LINE)
        __builtin_prefetch(call->weights + from + i, 0, 2);
    layer_fetch(l, call, from, end - begun);
}

static void backward(const struct layer *l, const struct layer_call *call)
{
    float *const room = call->scratch + GEMM_SCRATCH;
    const uint32_t begun = call->item * ROWS;
    const uint32_t end = l->inputs - begun < ROWS ? l->inputs : begun + ROWS;

    for (uint32_t i = begun; i < end; i += some_rows(l)) {
        const uint32_t rows = end - i < some_rows(l) ? end - i : some_rows(l);
        const uint32_t left = end - i - rows, next = left < rows ? left : rows;

        for (uint32_t m = 0; m * call->micro < call->count; m++) {
            const struct layer_call part = part_of(call, m);

            fetch(l, call, m, i + rows, next);
            weights_of(l, &part, i, rows, room);
        }
        if (call->dx != NULL && some_rows(l) == ROWS && l->out < call->count)
            inputs_of_few(l, call, i, rows);
        else if (call->dx != NULL)
            inputs_of(l, call, i, rows);
    }
}

/* w[out][in], of an image by channels first. */
static uint32_t torch_shape(const struct layer *l, uint32_t *dims)
{
    dims[0] = l->out;
    dims[1] = l->inputs;
    return 2;
}

static size_t torch_place(const struct layer *l, size_t i)
{
    const size_t pixels = (size_t)l->in.height * l->in.width;
    const size_t o = i / l->inputs, at = i % l->inputs;
    const size_t input = at % pixels * l->in.channels + at / pixels;

    return input * l->out + o;
}

const struct layer_ops layer_dense = {
    .name = "dense",
    .forms = "dense128",
    .whole = true,
    .flattens = true,
    .draws_biases = true,
    .reads_input = true,
    .parse = parse,
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .scratch = scratch,
    .shared = shared,
    .begin = begin,
    .items = items,
    .torch_shape = torch_shape,
    .torch_place = torch_place,
};
