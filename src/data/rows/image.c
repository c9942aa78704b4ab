/*
 * image.c - rows that are images: their shape as a text, and whether their
 * values are those of pixels.
 */
#include "data/rows/image.h"

#include <math.h>

#include "base/mem.h"
#include "data/rows/dataset.h"

enum { PIXEL_MOST = 255 };

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

enum err image_settle(struct image *image, const char *text, uint32_t cols,
                      struct why *why)
{
    const enum err err = text == NULL ? ERR_OK : image_parse(text, image, why);

    if (err != ERR_OK || image_columns(image) == cols)
        return err;
    if (text != NULL)
        return why_set(why, ERR_MISMATCH,
                       "--shape %.32s has %llu numbers, and a row has %u "
                       "columns",
                       text, (unsigned long long)image_columns(image), cols);
    *image = (struct image){0};
    return ERR_OK;
}

/* Whole numbers from 0 to 255?  Raises *most to the largest. */
static bool are_pixels(const double *value, uint64_t count, double *most)
{
    for (uint64_t j = 0; j < count; j++) {
        if (!(value[j] >= 0 && value[j] <= PIXEL_MOST) ||
            value[j] != floor(value[j]))
            return false;
        *most = value[j] > *most ? value[j] : *most;
    }
    return true;
}

double image_divisor(const struct dataset *data)
{
    const uint64_t cols = image_columns(&data->image);
    double *const row = cols > 0 ? mem_new(data->cols, sizeof *row) : NULL;
    double most = 0;
    bool pixels = row != NULL;

    for (uint32_t i = 0; pixels && i < data->rows; i++) {
        dataset_row_values(data, i, row);
        pixels = are_pixels(row, data->cols, &most);
    }
    mem_free(row);
    return pixels && most > 1 ? PIXEL_MOST : 1;
}
