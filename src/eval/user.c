/*
 * user.c - evaluation of a user's function in parallel: one chunk an item, its
 * sizes appended for the adaptive scale, its failures ranked by how final they
 * are.
 */
#include "eval/user.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "eval/kinds.h"
#include "math/exact/follow.h"
#include "math/exact/tally.h"
#include "math/vec.h"

#define DIGEST_NAME      "muster user 1"
#define DIGEST_BYTES_MAX 64u

/* One of several threads at a time computes on a desk of its own. */
struct desk {
    struct tally part; /* Of several threads; else unused. */
    double *values;    /* follow_dims: what the function wrote, and sizes. */
    enum err err;
};

struct user {
    struct evaluator head;
    const struct user_function *user;
    struct pool *pool; /* Borrowed. */
    struct desk *desks;
    uint32_t threads;
};

/* The function on one chunk, and what became of it. */
static enum err call(const struct user_function *user,
                     const struct evaluation *what, uint32_t chunk,
                     double *values, double *loss)
{
    int said;

    memset(values, 0, user->dims * sizeof *values);
    *loss = 0;
    if (what->kind == EVALUATE_HESSVEC)
        said = user->hessvec(user->context, what->w, what->v, chunk, values);
    else
        said = user->gradient(user->context, what->w, chunk, values, loss);
    (void)fesetenv(FE_DFL_ENV); /* The function may have left other modes. */
    return said == 0 ? ERR_OK : ERR_CLOSED;
}

static void hash_shape(struct hasher *hasher, const struct user_function *user)
{
    uint8_t bytes[DIGEST_BYTES_MAX];
    struct writer out = writer_on(bytes, sizeof bytes);

    put_text(&out, DIGEST_NAME);
    put_u32(&out, user->dims);
    put_u32(&out, user->chunks);
    put_u64(&out, user->rows);
    CHECK(out.ok);
    hasher_add(hasher, bytes, out.size);
}

/* Chunk 0 at weights of 1/2, -1/2, 1/2 ...: at 0 much data looks alike. */
static enum err hash_probe(struct hasher *hasher,
                           const struct user_function *user)
{
    double *w = mem_new((size_t)2 * user->dims + 1, sizeof *w);
    double *values = w != NULL ? w + user->dims : NULL;
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    struct digest digest;
    enum err err;

    if (w == NULL)
        return ERR_NOMEM;
    for (uint32_t j = 0; j < user->dims; j++)
        w[j] = j % 2 == 0 ? 0.5 : -0.5;
    err = call(user, &what, 0, values, &values[user->dims]);
    digest = hash_f64(values, user->dims + 1);
    hasher_add(hasher, digest.bytes, sizeof digest.bytes);
    mem_free(w);
    return err == ERR_CLOSED ? ERR_CANCELLED : err;
}

enum err user_digest(const struct user_function *user, bool probe,
                     struct digest *digest)
{
    struct hasher hasher;
    enum err err = ERR_OK;

    hasher_init(&hasher);
    hash_shape(&hasher, user);
    if (probe)
        err = hash_probe(&hasher, user);
    if (err == ERR_OK)
        *digest = hasher_end(&hasher);
    else
        (void)hasher_end(&hasher);
    return err;
}

static enum err desk_init(struct desk *desk, const struct user_function *user,
                          bool alone)
{
    const uint32_t dims = follow_dims(user->dims);

    desk->values = mem_new(dims, sizeof *desk->values);
    if (desk->values == NULL)
        return ERR_NOMEM;
    return alone ? ERR_OK : tally_init(&desk->part, dims, user->chunks);
}

static void user_close(struct evaluator *self)
{
    struct user *const own = (void *)self;

    for (uint32_t i = 0; own->desks != NULL && i < own->threads; i++) {
        tally_close(&own->desks[i].part);
        mem_free(own->desks[i].values);
    }
    mem_free(own->desks);
    mem_free(own);
}

static enum err user_fits(const struct brief *brief,
                          const struct user_function *user)
{
    uint32_t dims, chunks;
    const enum err err = brief_read_user(brief, &dims, &chunks);

    if (err != ERR_OK)
        return err;
    return user != NULL && user->dims == dims && user->chunks == chunks
               ? ERR_OK
               : ERR_SHAPE;
}

static enum err user_open(const struct brief *brief, const struct shelf *shelf,
                          struct pool *pool, struct evaluator **out)
{
    const struct user_function *const user = shelf->user;
    struct user *made;
    enum err err = user_fits(brief, user);

    if (err != ERR_OK)
        return err;
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    made->user = user;
    made->pool = pool;
    made->threads = pool->threads;
    made->head = (struct evaluator){
        .ops = &user_evaluator,
        .dims = follow_dims(user->dims),
        .sums = follow_dims(user->dims),
        .chunks = user->chunks,
    };
    made->desks = mem_new(made->threads, sizeof *made->desks);
    if (made->desks == NULL)
        err = ERR_NOMEM;
    for (uint32_t i = 0; err == ERR_OK && i < made->threads; i++)
        err = desk_init(&made->desks[i], user, made->threads == 1);
    if (err == ERR_OK)
        *out = &made->head;
    else
        user_close(&made->head);
    return err;
}

/* --- a run ---------------------------------------------------------------- */

struct run {
    struct user *own;
    const struct computation *asked;
    const struct flag *cancel;
};

static struct tally *tally_of(const struct run *run, uint32_t thread)
{
    return run->own->threads > 1 ? &run->own->desks[thread].part
                                 : run->asked->tally;
}

static enum err add(const struct run *run, uint32_t chunk, double *values,
                    struct tally *tally)
{
    const struct user_function *user = run->own->user;
    double loss;
    enum err err = call(user, &run->asked->what, chunk, values, &loss);

    if (err != ERR_OK)
        return err;
    if (!vec_finite(values, user->dims) || !isfinite(loss))
        return ERR_RANGE;
    if (!follow_measure(user->dims, user->chunks, run->asked->exponent, loss,
                        values))
        return ERR_TOOBIG;
    err = tally_add_chunk(tally, chunk, values, loss, run->asked->exponent);
    CHECK(err == ERR_OK); /* It was measured. */
    return err;
}

static void one_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    struct desk *desk = &run->own->desks[thread];

    if (desk->err == ERR_OK && run->cancel != NULL && flag_raised(run->cancel))
        desk->err = ERR_CANCELLED;
    if (desk->err == ERR_OK)
        desk->err = add(run, run->asked->first + item, desk->values,
                        tally_of(run, thread));
}

/* Of several failures the one that decides: a stop, then what no scale can
 * mend, then what one can. */
static enum err worse(enum err a, enum err b)
{
    static const enum err order[] = {ERR_CLOSED, ERR_CANCELLED, ERR_RANGE,
                                     ERR_TOOBIG};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (a == order[i] || b == order[i])
            return order[i];
    }
    return a != ERR_OK ? a : b;
}

/* What the function has no answer to, nobody sane asks for. */
static bool can_answer(const struct user_function *user,
                       const struct computation *asked)
{
    return asked->tally->dims == follow_dims(user->dims) &&
           (asked->what.kind == EVALUATE_GRADIENT ||
            (asked->what.kind == EVALUATE_HESSVEC && user->hessvec != NULL));
}

static enum err merge(const struct run *run)
{
    const struct user *const own = run->own;
    enum err err = ERR_OK;

    for (uint32_t i = 0; i < own->threads; i++)
        err = worse(err, own->desks[i].err);
    for (uint32_t i = 0; own->threads > 1 && i < own->threads; i++) {
        if (err == ERR_OK)
            err = tally_merge(run->asked->tally, &own->desks[i].part);
    }
    return err;
}

static enum err user_run(struct evaluator *self,
                         const struct computation *asked,
                         const struct flag *cancel)
{
    struct user *const own = (void *)self;
    struct run run = {.own = own, .asked = asked, .cancel = cancel};
    enum err err;

    if (!can_answer(own->user, asked))
        return ERR_SHAPE;
    for (uint32_t i = 0; i < own->threads; i++) {
        own->desks[i].err = ERR_OK;
        if (own->threads > 1)
            tally_blank(&own->desks[i].part);
    }
    own->pool->run(own->pool, one_chunk, &run, asked->end - asked->first);
    err = merge(&run);
    CHECK(err != ERR_OVERLAP); /* Each chunk is one item. */
    tally_fill(asked->tally);  /* If nothing was added. */
    return err;
}

static bool user_has_vector(const struct evaluator *self,
                            enum evaluation_kind kind)
{
    (void)self;
    (void)kind;
    return true;
}

const struct evaluator_ops user_evaluator = {
    .name = "user",
    .open = user_open,
    .close = user_close,
    .run = user_run,
    .has_vector = user_has_vector,
};
