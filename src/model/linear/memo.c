/*
 * memo.c - probabilities of all rows, kept while products share their weights.
 */
#include "model/linear/memo.h"

#include <string.h>

#include "base/mem.h"

/* What it may take; large data are worth a second look at the rows. */
#define BYTES_MAX ((size_t)64 << 20)

static bool is_of(const struct memo *memo, const struct dataset *data,
                  uint32_t classes)
{
    return memo->p != NULL && memo->data == data && memo->classes == classes &&
           memo->chunks == dataset_chunks(data);
}

static size_t chunk_size(const struct dataset *data, uint32_t classes)
{
    return (size_t)data->chunk_rows * softmax_padded(classes);
}

/* Left empty if it would take too much. */
static void memo_open(struct memo *memo, const struct dataset *data,
                      uint32_t classes)
{
    const uint32_t chunks = dataset_chunks(data);
    const size_t size = chunk_size(data, classes);

    memo_close(memo);
    if (size > BYTES_MAX / sizeof *memo->p / chunks)
        return;
    *memo = (struct memo){
        .data = data,
        .w = mem_new((size_t)classes * data->stride, sizeof *memo->w),
        .p = mem_new(chunks * size, sizeof *memo->p),
        .full = mem_new(chunks, sizeof *memo->full),
        .classes = classes,
        .chunks = chunks};
    if (memo->w == NULL || memo->p == NULL || memo->full == NULL)
        memo_close(memo);
}

void memo_prepare(struct memo *memo, const struct dataset *data,
                  uint32_t classes, const double *w)
{
    const size_t bytes = (size_t)classes * data->stride * sizeof *w;

    if (!is_of(memo, data, classes))
        memo_open(memo, data, classes);
    if (memo->p == NULL || memcmp(memo->w, w, bytes) == 0)
        return;
    memcpy(memo->w, w, bytes);
    memset(memo->full, 0, memo->chunks * sizeof *memo->full);
}

struct softmax_memo memo_chunk(const struct memo *memo, uint32_t chunk)
{
    if (memo->p == NULL)
        return (struct softmax_memo){0};
    return (struct softmax_memo){
        .p = memo->p + chunk * chunk_size(memo->data, memo->classes),
        .full = memo->full[chunk],
    };
}

void memo_fill(const struct memo *memo, uint32_t chunk)
{
    if (memo->p != NULL)
        memo->full[chunk] = true;
}

void memo_close(struct memo *memo)
{
    mem_free(memo->w);
    mem_free(memo->p);
    mem_free(memo->full);
    *memo = (struct memo){0};
}
