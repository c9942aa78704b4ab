/*
 * image.c - rows that are images: their shape as a text, and whether their
 * values are those of pixels.
 */
#include "data/rows/image.h"

#include <math.h>

#include "base/mem.h"
#include "data/rows/dataset.h"

#define BYTE_MOST 255.0
#define SMALL     8.0 /* Numbers of images that somebody scaled already. */

uint64_t image_columns(const struct image *image)
{
    return (uint64_t)image->height * image->width * image->channels;
}

/* Digits of one size, 1 to DATA_COLS_MAX; 0 if there is none. */
static uint32_t read_size(const char **at)
{
    uint32_t size = 0;

    for (; **at >= '0' && **at <= '9' && size <= DATA_COLS_MAX; (*at)++)
        size = size * 10 + (uint32_t)(**at - '0');
    return size <= DATA_COLS_MAX ? size : 0;
}

enum err image_parse(const char *text, struct image *image, struct why *why)
{
    uint32_t size[3] = {0, 0, 1};
    const char *at = text;
    bool good = true;
    int count = 0;

    do {
        at += count > 0; /* The x. */
        size[count] = read_size(&at);
        good = size[count] > 0;
        count++;
    } while (good && count < 3 && *at == 'x');
    if (!good || count < 2 || *at != '\0')
        return why_set(why, ERR_RANGE,
                       "--shape %.32s: expected HEIGHTxWIDTH or "
                       "HEIGHTxWIDTHxCHANNELS, as in 28x28x1",
                       text);
    *image = (struct image){size[0], size[1], size[2]};
    return ERR_OK;
}

/* As torch has images: 1 or 3 channels, then pixels, of which there are more.
 */
static bool channels_first(const struct image *image)
{
    return (image->height == 1 || image->height == 3) && image->channels > 4;
}

/* What a file's own dimensions say.  Of one channel the numbers lie as they do
 * behind the pixels. */
static enum err settle_own(struct image *image, struct why *why)
{
    if (!channels_first(image))
        return ERR_OK;
    if (image->height == 3)
        return why_set(why, ERR_UNSUPPORTED,
                       "images of 3 x %u x %u, which looks like channels "
                       "before pixels; save numpy.moveaxis(x, 1, -1), or say "
                       "--shape 3x%ux%u if that is what they are",
                       image->width, image->channels, image->width,
                       image->channels);
    *image = (struct image){image->width, image->channels, 1};
    return ERR_OK;
}

static bool same(const struct image *a, const struct image *b)
{
    return a->height == b->height && a->width == b->width &&
           a->channels == b->channels;
}

enum err image_agrees(const struct image *image, const struct image *taken,
                      struct why *why)
{
    struct image own = *image;

    if (own.height == 0 || taken->height == 0 || same(&own, taken) ||
        (settle_own(&own, NULL) == ERR_OK && same(&own, taken)))
        return ERR_OK;
    return why_set(why, ERR_MISMATCH,
                   "the rows are images of %u x %u x %u, and the network takes "
                   "%u x %u x %u: bring them to that shape",
                   own.height, own.width, own.channels, taken->height,
                   taken->width, taken->channels);
}

/* The user's shape of rows whose file has one, too. */
static enum err settle_both(const struct image *said, struct image *own,
                            const char *text, struct why *why)
{
    struct image turned = *own;

    if (settle_own(&turned, NULL) == ERR_OK && same(said, &turned))
        *own = turned;
    if (same(said, own))
        return ERR_OK;
    return why_set(why, ERR_MISMATCH,
                   "--shape %.32s, and the rows themselves are images of %u x "
                   "%u x %u; leave out --shape",
                   text, own->height, own->width, own->channels);
}

enum err image_settle(struct image *image, const char *text, uint32_t cols,
                      struct why *why)
{
    const bool own = image->height > 0 && image_columns(image) == cols;
    struct image said = {0};
    enum err err;

    if (text == NULL && own)
        return settle_own(image, why);
    if (text == NULL) {
        *image = said;
        return ERR_OK;
    }
    err = image_parse(text, &said, why);
    if (err != ERR_OK)
        return err;
    if (own)
        return settle_both(&said, image, text, why);
    if (image_columns(&said) != cols)
        return why_set(why, ERR_MISMATCH,
                       "--shape %.32s has %llu numbers, and a row has %u "
                       "columns",
                       text, (unsigned long long)image_columns(&said), cols);
    *image = said;
    return ERR_OK;
}

static void widen(struct image_sizes *sizes, const double *value,
                  uint64_t count)
{
    for (uint64_t j = 0; j < count; j++) {
        sizes->least = fmin(sizes->least, value[j]);
        sizes->most = fmax(sizes->most, value[j]);
        sizes->whole &= value[j] == floor(value[j]);
    }
}

/* Of bytes, none of which is below 0. */
static uint8_t brightest(const struct dataset *data, uint64_t cols)
{
    uint8_t most = 0;

    for (uint32_t i = 0; i < data->rows && most < UINT8_MAX; i++) {
        const uint8_t *const byte = dataset_row(data, i);

        for (uint64_t j = 0; j < cols; j++)
            most = byte[j] > most ? byte[j] : most;
    }
    return most;
}

double image_largest(const struct image_sizes *sizes)
{
    return fmax(sizes->most, -sizes->least);
}

double image_divisor(const struct image_sizes *sizes)
{
    const double most = image_largest(sizes);

    if (sizes->least == 0 && most > BYTE_MOST / 2 && most <= BYTE_MOST)
        return BYTE_MOST;
    return most > (sizes->whole ? 1 : SMALL) ? most : 1;
}

enum err image_sizes(const struct dataset *data, struct image_sizes *sizes)
{
    const uint64_t cols = image_columns(&data->image);
    double *row;

    *sizes = (struct image_sizes){.whole = true};
    if (cols == 0)
        return ERR_OK;
    if (data->storage == STORAGE_U8) {
        sizes->most = brightest(data, cols);
        return ERR_OK;
    }
    if (data->storage == STORAGE_PIXEL) {
        sizes->most = (double)((float)brightest(data, cols) / 255.0F);
        sizes->whole = false;
        return ERR_OK;
    }
    row = mem_new(data->cols, sizeof *row);
    if (row == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < data->rows; i++) {
        dataset_row_values(data, i, row);
        widen(sizes, row, data->cols);
    }
    mem_free(row);
    return ERR_OK;
}
