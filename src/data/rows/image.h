/*
 * image.h - what a row is if it is an image: height x width x channels, the
 * channels of a pixel side by side.
 */
#ifndef DATA_IMAGE_H
#define DATA_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct dataset;

/* Zeroed: rows are not known to be images. */
struct image {
    uint32_t height, width, channels;
};

/* Columns that it takes; 0 if it is not known. */
uint64_t image_columns(const struct image *image);

/* "28x28x1", or "28x28" for one channel.  ERR_RANGE: no such numbers. */
MUST_CHECK enum err image_parse(const char *text, struct image *image,
                                struct why *why);

/* Of rows of so many columns: as the file says, unless columns were added or
 * left out, and as the user says in `text` (or NULL), which must be the same.
 * ERR_MISMATCH, with a sentence: it is not, or has another number of columns.
 * ERR_UNSUPPORTED, with one: three channels lie before the pixels. */
MUST_CHECK enum err image_settle(struct image *image, const char *text,
                                 uint32_t cols, struct why *why);

/* Are images of a file what a network takes?  True of what is not known.
 * ERR_MISMATCH, with a sentence of both shapes. */
MUST_CHECK enum err image_agrees(const struct image *image,
                                 const struct image *taken, struct why *why);

/* The sizes of values. */
struct image_sizes {
    double least, most; /* Of 0 and all of them. */
    bool whole;
};

/* Of rows that are images; of others, {0, 0, true}.  ERR_NOMEM. */
MUST_CHECK enum err image_sizes(const struct dataset *data,
                                struct image_sizes *sizes);

/* The largest size of a value. */
double image_largest(const struct image_sizes *sizes);

/* What values are to be divided by to lie between 0 and 1, or -1 and 1: 255
 * where the largest is from 128 to 255 and none is below 0, as of bytes; else
 * the largest size, if it is above 1 and values are whole numbers, or above 8;
 * else 1, and where rows are no images.  Follows from the values and not from
 * the storage, which must not change what is learnt. */
double image_divisor(const struct image_sizes *sizes);

#endif /* DATA_IMAGE_H */
