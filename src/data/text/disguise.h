/*
 * disguise.h - numbers that are written as words.
 *
 *     1,234,567   3,5   $12   45%   12 kg   2020-01-31   31/01/20 12:30
 *
 * People mean numbers by them, but they would each become a category of their
 * own: a model that learnt nothing, without a word.  So tables in which a
 * column holds such are refused, with what to do, unless the user says that
 * they are categories.  Bounds (>50K) and ranges (18-24) are names of classes.
 */
#ifndef DATA_DISGUISE_H
#define DATA_DISGUISE_H

#include "data/span.h"

/* What a field that is no number is instead: "a date", ...; NULL: a word. */
const char *disguise_of(struct span field);

/* What points in a field may be. */
enum points {
    POINTS_NONE,
    POINTS_GROUP,  /* Between thousands: 1.234,5 and 1.234.567. */
    POINTS_EITHER, /* 1.234. */
    POINTS_OTHER   /* Before decimals, or in a word. */
};
enum points disguise_points(struct span field);

#endif /* DATA_DISGUISE_H */
