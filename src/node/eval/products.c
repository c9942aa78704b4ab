/*
 * products.c - the block of coded data that a worker holds, and its products.
 * Two blocks exist while a thread still reads the old one.
 */
#include "node/eval/products.h"

#include "base/check.h"
#include "base/mem.h"

struct block {
    uint64_t name;
    struct coded coded;
};

static bool data_fit(const struct job *job, const struct dataset *data)
{
    return data == NULL ||
           (job->rows == data->rows && job->cols == data->cols &&
            job->chunk_rows == data->chunk_rows);
}

bool products_fit(const struct job *job, const struct dataset *data)
{
    return job->rows > 0 && job->rows <= DATA_ROWS_MAX && job->cols > 0 &&
           job->cols <= DATA_COLS_MAX && job->chunk_rows > 0 &&
           job->chunks == (job->rows - 1) / job->chunk_rows + 1 &&
           job->outputs == 1 && job->dims == block_pad(job->cols) &&
           job->sum_dims >= block_pad(job->rows) && data_fit(job, data);
}

/* The fewest parts make the largest block. */
size_t products_strip_max(const struct job *job)
{
    const struct block_shape shape = product_shape(job, 1);

    return coded_strip_bytes_max(&shape);
}

void products_init(struct products *products, const struct job *job,
                   const struct dataset *data, enum isa isa, struct pool *pool)
{
    *products =
        (struct products){.job = *job, .data = data, .isa = isa, .pool = pool};
}

static void block_free(struct block *block)
{
    if (block == NULL)
        return;
    coded_close(&block->coded);
    mem_free(block);
}

void products_close(struct products *products)
{
    block_free(products->now);
    block_free(products->then);
    *products = (struct products){0};
}

static struct block *block_new(const struct products *products,
                               const struct block_share *share)
{
    const struct block_shape shape =
        product_shape(&products->job, share->parts);
    struct block_term *terms = mem_new(share->count, sizeof *terms);
    struct block *block = mem_new(1, sizeof *block);
    enum err err = terms == NULL || block == NULL ? ERR_NOMEM : ERR_OK;

    for (uint32_t i = 0; err == ERR_OK && i < share->count; i++)
        terms[i] = share->terms[i];
    if (err == ERR_OK)
        err = coded_init(&block->coded, &shape, terms, share->count);
    mem_free(terms);
    if (err == ERR_OK) {
        block->name = share->block;
        return block;
    }
    mem_free(block);
    return NULL;
}

/* `now` becomes the block of that name. */
static enum err turn_to(struct products *products,
                        const struct block_share *share)
{
    if (products->now != NULL && products->now->name == share->block)
        return ERR_OK;
    if (products->used != NULL && products->used == products->now)
        products->then = products->now;
    else
        block_free(products->now);
    products->now = block_new(products, share);
    return products->now == NULL ? ERR_NOMEM : ERR_OK;
}

enum err products_store(struct products *products,
                        const struct block_share *share,
                        const struct msg_data *data)
{
    enum err err = turn_to(products, share);

    if (err != ERR_OK || products->data != NULL)
        return err;
    if (!block_has_strip(&products->now->coded.shape, data->chunk))
        return ERR_FORMAT;
    return coded_strip_store(&products->now->coded, data->chunk, data->bytes,
                             data->size);
}

enum err products_begin(struct products *products, const struct action *action)
{
    const enum err err = turn_to(products, &action->computation.share);

    CHECK(products->used == NULL);
    if (err != ERR_OK)
        return err;
    products->used = products->now;
    products->kind = action->computation.what.kind;
    products->in = action->computation.what.w;
    products->out = action->computation.vector;
    return ERR_OK;
}

void products_end(struct products *products)
{
    products->used = NULL;
    block_free(products->then);
    products->then = NULL;
}

enum err products_compute(struct products *products, const struct flag *cancel)
{
    struct coded *coded = &products->used->coded;
    enum err err = ERR_OK;

    if (products->data != NULL)
        err = coded_fill(coded, products->data, products->pool, cancel);
    if (err != ERR_OK)
        return err;
    return coded_multiply(coded, products->kind, products->isa, products->in,
                          products->out, products->pool, cancel);
}
