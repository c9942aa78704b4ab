/*
 * inputs.c - rows against the shape and the scale of a network's inputs.
 *
 * Bytes of files and arrays are brought to a model's scale where they are read
 * (data/table/encode.h), and are not judged; where it has none, by what 255 is:
 * a night is no other scale.  Of other numbers only their sizes tell.  A
 * network knows the least and the largest value it was trained on (or what its
 * inputs are divided by, which lies near): values four times larger are on
 * another scale, and so are those a sixteenth as large (0 to 1 where 16 or 255
 * was the most), unless they are what dark pixels are: whole numbers, or
 * 255ths.  So are values far below the least, or below 0 where none was.
 */
#include "learn/family/inputs.h"

#include <math.h>

#include "data/rows/image.h"

#define LARGER  4.0
#define SMALLER 0.0625

struct image inputs_image(const struct neural_model *net)
{
    const struct neural_shape *const in = &net->neural.in;

    if (in->height <= 1 && in->width <= 1)
        return (struct image){0};
    return (struct image){in->height, in->width, in->channels};
}

/* The largest size among the rows it was trained on; 0: not known. */
static double trained_on(const struct neural_units *units, uint32_t byte)
{
    const double size = fmax(units->most, -units->least);

    if (size > 0)
        return size;
    return units->divisor != 1 || byte > 0 ? units->divisor : 0;
}

/* A divisor alone says nothing of signs. */
static bool knows_least(const struct neural_units *units, uint32_t byte)
{
    return units->most > 0 || units->least < 0 || byte > 0;
}

/* Are they what the bytes of the model's rows were? */
static bool are_pixels(const struct dataset *data,
                       const struct image_sizes *sizes, uint32_t byte)
{
    if (byte == 1)
        return sizes->whole && sizes->least == 0 && sizes->most > 1 &&
               sizes->most <= UINT8_MAX;
    return byte > 0 && storage_byte(data->storage) == byte;
}

static enum err check_scale(const struct neural_units *units, uint32_t byte,
                            const struct dataset *data, struct why *why)
{
    const double trained = trained_on(units, byte);
    struct image_sizes sizes;
    double largest;

    if (data->known_scale || trained == 0)
        return ERR_OK;
    if (image_sizes(data, &sizes) != ERR_OK)
        return why_set(why, ERR_NOMEM, "out of memory");
    largest = data->white > 0 ? data->white : image_largest(&sizes);
    if (knows_least(units, byte) &&
        sizes.least < fmin(LARGER * units->least, -SMALLER * trained))
        return why_set(why, ERR_MISMATCH,
                       "values down to %.4g, and the network was trained on "
                       "values down to %.4g: bring them to that scale",
                       sizes.least, units->least);
    if (largest == 0 || are_pixels(data, &sizes, byte) ||
        (largest <= LARGER * trained && largest > SMALLER * trained))
        return ERR_OK;
    return why_set(why, ERR_MISMATCH,
                   "%s of up to %.4g, and the network was trained on values of "
                   "up to %.4g: bring them to that scale",
                   data->white > 0 ? "bytes" : "values", largest, trained);
}

enum err inputs_check(const struct neural_model *net, uint32_t byte,
                      struct dataset *data, struct why *why)
{
    const struct image taken = inputs_image(net);
    enum err err;

    if (taken.height == 0)
        return ERR_OK;
    if (data->image.height == 0)
        data->image = taken;
    err = image_agrees(&data->image, &taken, why);
    return err == ERR_OK ? check_scale(&net->units, byte, data, why) : err;
}
