/*
 * products.c - a worker's block of coded data, and products with it.
 *
 * The thread that computes may still be reading a block when strips of another
 * one come; the old block is kept until the thread is done.
 */
#include "base/check.h"
#include "base/mem.h"
#include "data/rows/coded.h"
#include "eval/kinds.h"

struct block {
    uint64_t name;
    struct coded coded;
};

struct products {
    struct evaluator head;
    struct block_shape shape;   /* Of as yet no parts and copies. */
    const struct dataset *data; /* All rows, or NULL: strips come. */
    enum isa isa;
    struct pool *pool;  /* Borrowed. */
    struct block *now;  /* NULL: none yet. */
    struct block *then; /* The one before, if the thread still has it. */
    struct block *used; /* What the thread has. */
};

static bool data_fit(const struct dataset_shape *rows,
                     const struct dataset *data)
{
    return data == NULL ||
           (rows->rows == data->rows && rows->cols == data->cols &&
            rows->chunk_rows == data->chunk_rows);
}

/* The fewest parts and most copies make the largest strip. */
static size_t strip_max(const struct block_shape *shape)
{
    struct block_shape whole = *shape;

    whole.parts = 1;
    whole.copies = BLOCK_COPIES_MAX;
    return coded_strip_bytes_max(&whole);
}

static enum err products_open(const struct brief *brief,
                              const struct shelf *shelf, struct pool *pool,
                              struct evaluator **out)
{
    struct products *made;
    struct dataset_shape rows;
    bool narrow;
    enum err err = brief_read_products(brief, &rows, &narrow);

    if (err == ERR_OK && !data_fit(&rows, shelf->data))
        err = ERR_SHAPE;
    if (err != ERR_OK)
        return err;
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    made->shape = (struct block_shape){
        .rows = rows.rows,
        .cols = rows.cols,
        .chunk_rows = rows.chunk_rows,
        .chunks = (rows.rows - 1) / rows.chunk_rows + 1,
        .narrow = narrow,
    };
    made->data = shelf->data;
    made->isa = shelf->isa;
    made->pool = pool;
    made->head = (struct evaluator){
        .ops = &products_evaluator,
        .dims = block_pad(rows.cols),
        .sums = block_pad(rows.rows),
        .chunks = made->shape.chunks,
        .shard_max = strip_max(&made->shape),
    };
    *out = &made->head;
    return ERR_OK;
}

static void block_free(struct block *block)
{
    if (block == NULL)
        return;
    coded_close(&block->coded);
    mem_free(block);
}

static void products_close(struct evaluator *self)
{
    struct products *const products = (void *)self;

    block_free(products->now);
    block_free(products->then);
    mem_free(products);
}

static struct block *block_new(const struct products *products,
                               const struct block_share *share)
{
    struct block_shape shape = products->shape;
    struct block *block = mem_new(1, sizeof *block);

    shape.parts = share->parts;
    shape.copies = share->copies;
    if (block == NULL || coded_init(&block->coded, &shape, share->terms,
                                    share->count) != ERR_OK) {
        mem_free(block);
        return NULL;
    }
    block->name = share->block;
    return block;
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

static enum err products_store(struct evaluator *self,
                               const struct block_share *share, uint32_t strip,
                               const uint8_t *bytes, size_t size)
{
    struct products *const products = (void *)self;
    const enum err err = turn_to(products, share);

    if (err != ERR_OK || products->data != NULL)
        return err;
    if (!block_has_strip(&products->now->coded.shape, strip))
        return ERR_FORMAT;
    return coded_strip_store(&products->now->coded, strip, bytes, size);
}

static enum err products_begin(struct evaluator *self,
                               const struct computation *asked)
{
    struct products *const products = (void *)self;
    const enum err err = turn_to(products, &asked->share);

    CHECK(products->used == NULL);
    if (err == ERR_OK)
        products->used = products->now;
    return err;
}

static void products_end(struct evaluator *self)
{
    struct products *const products = (void *)self;

    products->used = NULL;
    block_free(products->then);
    products->then = NULL;
}

/* Makes the block if the rows are here, then multiplies. */
static enum err products_run(struct evaluator *self,
                             const struct computation *asked,
                             const struct flag *cancel)
{
    struct products *const products = (void *)self;
    struct coded *coded;
    enum err err = ERR_OK;

    CHECK(products->used != NULL); /* It was begun. */
    CHECK(evaluation_is_product(asked->what.kind));
    coded = &products->used->coded;
    if (products->data != NULL)
        err = coded_fill(coded, products->data, products->pool, cancel);
    if (err != ERR_OK)
        return err;
    return coded_multiply(coded, asked, products->isa, products->pool, cancel);
}

const struct evaluator_ops products_evaluator = {
    .name = "products",
    .open = products_open,
    .close = products_close,
    .run = products_run,
    .begin = products_begin,
    .end = products_end,
    .store = products_store,
};
