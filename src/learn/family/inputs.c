/*
 * inputs.c - rows against the shape and the scale of a network's inputs.
 *
 * Bytes of a file are brought to a model's scale where they are read
 * (data/table/encode.h); of other numbers only their sizes tell.  A network
 * divides so that what it was trained on ends between 1/2 and 1: values four
 * times larger are on another scale, and so are those an eighth as large,
 * unless they are the whole numbers of a dark picture.  One that divides by 1,
 * and does not say that these were pixels, may have been trained on anything.
 */
#include "learn/family/inputs.h"

#include <math.h>

#include "base/mem.h"

#define LARGER  4.0
#define SMALLER 0.125

static bool is_image(const struct neural_shape *shape)
{
    return shape->height > 1 || shape->width > 1;
}

static enum err check_shape(const struct neural_shape *in, struct image *image,
                            struct why *why)
{
    if (image->height == 0)
        *image = (struct image){in->height, in->width, in->channels};
    if (image->height == in->height && image->width == in->width &&
        image->channels == in->channels)
        return ERR_OK;
    return why_set(why, ERR_MISMATCH,
                   "the rows are images of %u x %u x %u, and the network takes "
                   "%u x %u x %u",
                   image->height, image->width, image->channels, in->height,
                   in->width, in->channels);
}

/* The largest size of all values, the least of them, and whether all are
 * whole. */
struct sizes {
    double most, least;
    bool whole;
};

static enum err measure(const struct dataset *data, struct sizes *sizes)
{
    double *const row = mem_new(data->cols, sizeof *row);

    if (row == NULL)
        return ERR_NOMEM;
    *sizes = (struct sizes){0, 0, true};
    for (uint32_t i = 0; i < data->rows; i++) {
        dataset_row_values(data, i, row);
        for (uint32_t j = 0; j < data->cols; j++) {
            sizes->most = fmax(sizes->most, fabs(row[j]));
            sizes->least = fmin(sizes->least, row[j]);
            sizes->whole &= row[j] == floor(row[j]);
        }
    }
    mem_free(row);
    return ERR_OK;
}

static bool is_smaller(const struct sizes *sizes, double divisor)
{
    return sizes->most > 0 && sizes->most < SMALLER * divisor &&
           (sizes->most <= 1 || !sizes->whole);
}

static enum err check_scale(const struct neural_model *net, bool pixels,
                            const struct dataset *data, struct why *why)
{
    struct sizes sizes;

    if (!pixels && net->units.divisor == 1)
        return ERR_OK;
    if (measure(data, &sizes) != ERR_OK)
        return why_set(why, ERR_NOMEM, "out of memory");
    if (pixels && sizes.least < 0)
        return why_set(why, ERR_MISMATCH,
                       "values down to %.4g, and the network was trained on "
                       "pixels from 0 to %g: bring them to that scale",
                       sizes.least, net->units.divisor);
    if (sizes.most <= LARGER * net->units.divisor &&
        !is_smaller(&sizes, net->units.divisor))
        return ERR_OK;
    return why_set(
        why, ERR_MISMATCH,
        "values of up to %.4g, and the network was trained on values "
        "of up to %g: bring them to that scale",
        sizes.most, net->units.divisor);
}

enum err inputs_check(const struct neural_model *net, bool pixels,
                      struct dataset *data, struct why *why)
{
    enum err err;

    if (!is_image(&net->neural.in))
        return ERR_OK;
    err = check_shape(&net->neural.in, &data->image, why);
    return err == ERR_OK ? check_scale(net, pixels, data, why) : err;
}
