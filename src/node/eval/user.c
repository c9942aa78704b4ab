/*
 * user.c - evaluation of a user's function in parallel: one chunk an item, its
 * sizes appended for the adaptive scale, its failures ranked by how final they
 * are.
 */
#include "node/eval/user.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "math/exact/follow.h"
#include "math/vec.h"

#define DIGEST_NAME      "muster user 1"
#define DIGEST_BYTES_MAX 64u

struct user_desk {
    struct tally part; /* Of several threads; else unused. */
    double *values;    /* follow_dims: what the function wrote, and sizes. */
    enum err err;
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

enum err user_compute_init(struct user_compute *compute,
                           const struct user_function *user, struct pool *pool)
{
    struct user_compute made = {
        .user = user, .pool = pool, .threads = pool->threads};
    const uint32_t dims = follow_dims(user->dims);
    enum err err = ERR_OK;

    made.desks = mem_new(made.threads, sizeof *made.desks);
    if (made.desks == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; err == ERR_OK && i < made.threads; i++) {
        made.desks[i].values = mem_new(dims, sizeof *made.desks[i].values);
        if (made.desks[i].values == NULL)
            err = ERR_NOMEM;
        else if (made.threads > 1)
            err = tally_init(&made.desks[i].part, dims, user->chunks);
    }
    if (err == ERR_OK)
        *compute = made;
    else
        user_compute_close(&made);
    return err;
}

void user_compute_close(struct user_compute *compute)
{
    for (uint32_t i = 0; compute->desks != NULL && i < compute->threads; i++) {
        tally_close(&compute->desks[i].part);
        mem_free(compute->desks[i].values);
    }
    mem_free(compute->desks);
    *compute = (struct user_compute){0};
}

struct run {
    struct user_compute *compute;
    const struct compute_work *work;
    const struct flag *cancel;
    struct evaluation what;
};

static struct tally *tally_of(const struct run *run, uint32_t thread)
{
    return run->compute->threads > 1 ? &run->compute->desks[thread].part
                                     : run->work->tally;
}

static enum err add(const struct run *run, uint32_t chunk, double *values,
                    struct tally *tally)
{
    const struct user_function *user = run->compute->user;
    double loss;
    enum err err = call(user, &run->what, chunk, values, &loss);

    if (err != ERR_OK)
        return err;
    if (!vec_finite(values, user->dims) || !isfinite(loss))
        return ERR_RANGE;
    if (!follow_measure(user->dims, user->chunks, run->work->exponent, loss,
                        values))
        return ERR_TOOBIG;
    err = tally_add_chunk(tally, chunk, values, loss, run->work->exponent);
    CHECK(err == ERR_OK); /* It was measured. */
    return err;
}

static void one_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    struct user_desk *desk = &run->compute->desks[thread];

    if (desk->err == ERR_OK && run->cancel != NULL && flag_raised(run->cancel))
        desk->err = ERR_CANCELLED;
    if (desk->err == ERR_OK)
        desk->err = add(run, run->work->first + item, desk->values,
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

enum err user_compute_run(struct user_compute *compute,
                          const struct compute_work *work,
                          const struct flag *cancel)
{
    struct run run = {
        .compute = compute,
        .work = work,
        .cancel = cancel,
        .what = {.kind = work->kind, .w = work->weights, .v = work->v},
    };
    enum err err = ERR_OK;

    CHECK(work->tally->dims == follow_dims(compute->user->dims));
    for (uint32_t i = 0; i < compute->threads; i++) {
        compute->desks[i].err = ERR_OK;
        if (compute->threads > 1)
            tally_blank(&compute->desks[i].part);
    }
    compute->pool->run(compute->pool, one_chunk, &run, work->end - work->first);
    for (uint32_t i = 0; i < compute->threads; i++)
        err = worse(err, compute->desks[i].err);
    for (uint32_t i = 0; compute->threads > 1 && i < compute->threads; i++) {
        if (err == ERR_OK)
            err = tally_merge(work->tally, &compute->desks[i].part);
    }
    CHECK(err != ERR_OVERLAP); /* Each chunk is one item. */
    tally_fill(work->tally);   /* If nothing was added. */
    return err;
}
