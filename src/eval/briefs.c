/*
 * briefs.c - briefs as bytes.  Those that come over the network are read as if
 * they lied: a brief that is read is one that could have been written.
 */
#include "eval/briefs.h"

#include <math.h>

#include "base/check.h"
#include "eval/kinds.h"
#include "math/golden/golden.h"
#include "optim/local.h"

#define NAME_MAX 32u /* Of a model or an evaluator, with its end. */

struct subject subject_of(const struct problem *problem)
{
    return (struct subject){.rows = dataset_shape(problem->data),
                            .model = problem->model,
                            .outputs = problem_outputs(problem)};
}

/* --- begin and end -------------------------------------------------------- */

static struct writer begin(uint8_t room[BRIEF_MAX],
                           const struct evaluator_ops *ops)
{
    struct writer out = writer_on(room, BRIEF_MAX);

    put_text(&out, ops->name);
    return out;
}

static struct brief end(const struct writer *out)
{
    CHECK(out->ok);
    return (struct brief){.bytes = out->data, .size = out->size};
}

/* What follows the name, if it is this one's. */
static struct reader after_name(const struct brief *brief, const char *name)
{
    struct reader in = reader_on(brief->bytes, brief->size);
    char found[NAME_MAX];

    get_text(&in, found, sizeof found);
    in.ok = in.ok && strcmp(found, name) == 0;
    return in;
}

bool brief_names(const struct brief *brief, const char *name)
{
    return after_name(brief, name).ok;
}

static enum err done(const struct reader *in)
{
    return reader_done(in) ? ERR_OK : ERR_FORMAT;
}

/* --- rows and models ------------------------------------------------------ */

static void put_rows(struct writer *out, const struct dataset_shape *rows)
{
    put_text(out, storage_name(rows->storage));
    put_u32(out, rows->rows);
    put_u32(out, rows->cols);
    put_u32(out, rows->chunk_rows);
    put_u64(out, rows->entries);
    put_u8(out, rows->weighted);
    put_u8(out, rows->folded);
    put_u32(out, rows->without);
}

static void get_rows(struct reader *in, struct dataset_shape *rows)
{
    char name[NAME_MAX];
    uint8_t weighted, folded;

    get_text(in, name, sizeof name);
    rows->rows = get_u32(in);
    rows->cols = get_u32(in);
    rows->chunk_rows = get_u32(in);
    rows->entries = get_u64(in);
    weighted = get_u8(in);
    rows->weighted = weighted == 1;
    folded = get_u8(in);
    rows->folded = folded == 1;
    rows->without = get_u32(in);
    in->ok = in->ok && storage_parse(name, &rows->storage) && weighted <= 1 &&
             folded <= 1 && rows->rows > 0 && rows->rows <= DATA_ROWS_MAX &&
             rows->cols > 0 && rows->cols <= DATA_COLS_MAX &&
             rows->chunk_rows > 0;
}

static void put_subject(struct writer *out, const struct subject *subject)
{
    put_rows(out, &subject->rows);
    put_text(out, subject->model->name);
    put_u32(out, subject->outputs);
}

static void get_subject(struct reader *in, struct subject *subject)
{
    enum model_kind kind = MODEL_LINEAR;
    char name[NAME_MAX];

    get_rows(in, &subject->rows);
    get_text(in, name, sizeof name);
    subject->outputs = get_u32(in);
    in->ok = in->ok && model_parse(name, &kind) == ERR_OK &&
             model_has_outputs((uint32_t)kind, subject->outputs);
    subject->model = model_ops(kind);
}

/* --- each kind ------------------------------------------------------------ */

static void put_sampler(struct writer *out, const struct sampler *sampler)
{
    put_text(out, sampler_name(sampler->kind));
    put_u32(out, sampler->chunk_rows);
    put_u32(out, sampler->batch);
    put_u64(out, sampler->seed);
}

/* Of so many rows. */
static void get_sampler(struct reader *in, const struct dataset_shape *rows,
                        struct sampler *sampler)
{
    char name[NAME_MAX];

    get_text(in, name, sizeof name);
    sampler->rows = rows->rows;
    sampler->chunk_rows = get_u32(in);
    sampler->batch = get_u32(in);
    sampler->seed = get_u64(in);
    in->ok = in->ok && sampler_parse(name, &sampler->kind) &&
             sampler_fits(sampler) && sampler_chunks(sampler) <= CHUNKS_MAX &&
             (sampler_scatters(sampler->kind) ||
              sampler->chunk_rows == rows->chunk_rows);
}

/* Of SAMPLER_WHOLE only the kind is the caller's. */
static struct sampler sampler_on(const struct sampler *sampler,
                                 const struct dataset_shape *rows)
{
    return sampler->kind != SAMPLER_WHOLE
               ? *sampler
               : (struct sampler){.rows = rows->rows,
                                  .chunk_rows = rows->chunk_rows};
}

struct brief brief_linear(uint8_t room[BRIEF_MAX],
                          const struct subject *subject,
                          const struct sampler *sampler)
{
    const struct sampler own = sampler_on(sampler, &subject->rows);
    struct writer out = begin(room, &linear_evaluator);

    put_subject(&out, subject);
    put_sampler(&out, &own);
    return end(&out);
}

enum err brief_read_linear(const struct brief *brief, struct subject *subject,
                           struct sampler *sampler)
{
    struct reader in = after_name(brief, linear_evaluator.name);

    get_subject(&in, subject);
    get_sampler(&in, &subject->rows, sampler);
    return done(&in);
}

struct brief brief_local(uint8_t room[BRIEF_MAX], const struct subject *subject,
                         const struct local *local)
{
    struct writer out = begin(room, &local_evaluator);

    put_subject(&out, subject);
    put_u8(&out, (uint8_t)local->kind);
    put_u8(&out, (uint8_t)local->schedule);
    put_f64(&out, local->rate);
    put_f64(&out, local->decay);
    put_f64(&out, local->clip);
    put_u32(&out, local->decay_every);
    put_u32(&out, local->warmup);
    put_f64(&out, local->l2);
    put_u32(&out, local->l2_free);
    put_u32(&out, local->l2_stride);
    put_u32(&out, local->every);
    put_u32(&out, local->steps);
    put_u64(&out, local->seed);
    return end(&out);
}

/* Whether the plan can be followed, local_fits says. */
enum err brief_read_local(const struct brief *brief, struct subject *subject,
                          struct local *local)
{
    struct reader in = after_name(brief, local_evaluator.name);

    get_subject(&in, subject);
    local->kind = (enum optim_kind)get_u8(&in);
    local->schedule = (enum optim_schedule)get_u8(&in);
    local->rate = get_f64(&in);
    local->decay = get_f64(&in);
    local->clip = get_f64(&in);
    local->decay_every = get_u32(&in);
    local->warmup = get_u32(&in);
    local->l2 = get_f64(&in);
    local->l2_free = get_u32(&in);
    local->l2_stride = get_u32(&in);
    local->every = get_u32(&in);
    local->steps = get_u32(&in);
    local->seed = get_u64(&in);
    return done(&in);
}

struct brief brief_net(uint8_t room[BRIEF_MAX],
                       const struct dataset_shape *rows,
                       const struct neural_model *model,
                       const struct sampler *sampler, uint64_t seed)
{
    const struct sampler own = sampler_on(sampler, rows);
    const struct neural_shape *const in = &model->neural.in;
    struct writer out = begin(room, &net_evaluator);

    put_text(&out, PROFILE_NET_NAME);
    put_rows(&out, rows);
    put_text(&out, model->text);
    put_u32(&out, in->height);
    put_u32(&out, in->width);
    put_u32(&out, in->channels);
    put_u8(&out, (uint8_t)model->neural.loss);
    put_f64(&out, model->units.divisor);
    put_f64(&out, model->units.mean);
    put_f64(&out, model->units.spread);
    put_sampler(&out, &own);
    put_u64(&out, seed);
    return end(&out);
}

static enum err get_model(struct reader *in, struct neural_model *model)
{
    char text[BRIEF_NET_MAX + 1];
    struct neural_shape shape;
    uint8_t loss;
    struct neural_units units = neural_units(1);
    enum err err;

    get_text(in, text, sizeof text);
    shape.height = get_u32(in);
    shape.width = get_u32(in);
    shape.channels = get_u32(in);
    loss = get_u8(in);
    units.divisor = get_f64(in);
    units.mean = get_f64(in);
    units.spread = get_f64(in);
    if (!in->ok || loss > NEURAL_SQUARED || !neural_units_good(&units))
        return ERR_FORMAT;
    err = neural_model_init(model, text, &shape, (enum neural_loss)loss, &units,
                            NULL);
    return err == ERR_OK || err == ERR_NOMEM ? err : ERR_FORMAT;
}

enum err brief_read_net(const struct brief *brief, struct dataset_shape *rows,
                        struct neural_model *model, struct sampler *sampler,
                        uint64_t *seed)
{
    struct reader in = after_name(brief, net_evaluator.name);
    char profile[NAME_MAX];
    enum err err;

    get_text(&in, profile, sizeof profile);
    get_rows(&in, rows);
    err = in.ok && strcmp(profile, PROFILE_NET_NAME) == 0
              ? get_model(&in, model)
              : ERR_FORMAT;
    get_sampler(&in, rows, sampler);
    *seed = get_u64(&in);
    return err == ERR_OK ? done(&in) : err;
}

struct brief brief_products(uint8_t room[BRIEF_MAX],
                            const struct dataset_shape *rows, bool narrow)
{
    struct writer out = begin(room, &products_evaluator);

    put_rows(&out, rows);
    put_u8(&out, narrow);
    return end(&out);
}

enum err brief_read_products(const struct brief *brief,
                             struct dataset_shape *rows, bool *narrow)
{
    struct reader in = after_name(brief, products_evaluator.name);

    get_rows(&in, rows);
    *narrow = get_u8(&in) != 0;
    return done(&in);
}

static void put_filter(struct writer *out, const struct filter *filter)
{
    put_u8(out, (uint8_t)filter->kind);
    put_u32(out, filter->arg);
    put_u32(out, filter->bins);
    for (uint32_t i = 0; i < FILTER_BINS - 1; i++)
        put_f64(out, filter->cut[i]);
}

static void get_filter(struct reader *in, struct filter *filter)
{
    filter->kind = (enum filter_kind)get_u8(in);
    filter->arg = get_u32(in);
    filter->bins = get_u32(in);
    for (uint32_t i = 0; i < FILTER_BINS - 1; i++)
        filter->cut[i] = get_f64(in);
}

struct brief brief_shadow(uint8_t room[BRIEF_MAX], const struct brief *inside,
                          const struct shadowing *shadowing)
{
    const struct colouring *const colouring = &shadowing->colouring;
    struct writer out = begin(room, &shadow_evaluator);

    put_text(&out, draw_name(shadowing->draw));
    put_u64(&out, shadowing->seed);
    put_u32(&out, colouring->image.height);
    put_u32(&out, colouring->image.width);
    put_u32(&out, colouring->image.channels);
    put_u32(&out, colouring->cols);
    put_u32(&out, colouring->count);
    for (uint32_t i = 0; i < colouring->count; i++)
        put_filter(&out, &colouring->filter[i]);
    put_u32(&out, (uint32_t)inside->size);
    put_bytes(&out, inside->bytes, inside->size);
    return end(&out);
}

enum err brief_read_shadow(const struct brief *brief,
                           struct shadowing *shadowing, struct brief *inside)
{
    struct reader in = after_name(brief, shadow_evaluator.name);
    struct colouring *const colouring = &shadowing->colouring;
    char name[NAME_MAX];

    get_text(&in, name, sizeof name);
    shadowing->seed = get_u64(&in);
    colouring->image.height = get_u32(&in);
    colouring->image.width = get_u32(&in);
    colouring->image.channels = get_u32(&in);
    colouring->cols = get_u32(&in);
    colouring->count = get_u32(&in);
    in.ok = in.ok && draw_parse(name, &shadowing->draw) &&
            colouring->count <= FILTERS_MAX;
    for (uint32_t i = 0; in.ok && i < colouring->count; i++)
        get_filter(&in, &colouring->filter[i]);
    inside->size = get_u32(&in);
    in.ok = in.ok && inside->size <= BRIEF_MAX && colouring_fits(colouring);
    if (in.ok)
        inside->bytes = get_view(&in, inside->size);
    /* One within another would never end. */
    in.ok = in.ok && (brief_names(inside, linear_evaluator.name) ||
                      brief_names(inside, net_evaluator.name));
    return done(&in);
}

struct brief brief_sequential(uint8_t room[BRIEF_MAX],
                              const struct subject *subject,
                              const struct passes *passes)
{
    struct writer out = begin(room, &sequential_evaluator);

    put_subject(&out, subject);
    put_f64(&out, passes->rate);
    put_f64(&out, passes->l2);
    put_u32(&out, passes->count);
    put_u64(&out, passes->seed);
    put_u8(&out, passes->has_free);
    put_u32(&out, passes->free);
    return end(&out);
}

enum err brief_read_sequential(const struct brief *brief,
                               struct subject *subject, struct passes *passes)
{
    struct reader in = after_name(brief, sequential_evaluator.name);

    get_subject(&in, subject);
    passes->rate = get_f64(&in);
    passes->l2 = get_f64(&in);
    passes->count = get_u32(&in);
    passes->seed = get_u64(&in);
    passes->has_free = get_u8(&in) != 0;
    passes->free = get_u32(&in);
    return done(&in);
}

struct brief brief_user(uint8_t room[BRIEF_MAX],
                        const struct user_function *user)
{
    struct writer out = begin(room, &user_evaluator);

    put_u32(&out, user->dims);
    put_u32(&out, user->chunks);
    return end(&out);
}

enum err brief_read_user(const struct brief *brief, uint32_t *dims,
                         uint32_t *chunks)
{
    struct reader in = after_name(brief, user_evaluator.name);

    *dims = get_u32(&in);
    *chunks = get_u32(&in);
    return done(&in);
}

/* --- which of them -------------------------------------------------------- */

struct brief brief_rows(uint8_t room[BRIEF_MAX], const struct problem *problem,
                        bool products, bool narrow,
                        const struct optim_options *optim)
{
    const struct subject subject = subject_of(problem);

    if (products)
        return brief_products(room, &subject.rows, narrow);
    return optim->kind == OPTIM_AVERAGE
               ? brief_local(room, &subject, &optim->local)
               : brief_linear(room, &subject, &optim->sampler);
}
