/*
 * number.h - decimal text to binary64, the same bits in every locale.
 *
 * Data files are mostly short decimals, for which one exact product or
 * quotient is correctly rounded; the rest goes to the C library, which is
 * correctly rounded too but slow and, unless told otherwise, reads the decimal
 * point of the user's locale.
 */
#ifndef DATA_NUMBER_H
#define DATA_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum number {
    NUMBER_OK,
    NUMBER_NOT,       /* Not a decimal number (hexadecimal included). */
    NUMBER_NONFINITE, /* nan, inf or infinity, in any case. */
    NUMBER_HUGE,      /* Overflows binary64. */
};

/* Longer texts are no numbers that anybody wrote on purpose. */
#define NUMBER_TEXT_MAX 2048u

/* All of text[0..size) as a number; *value is set only for NUMBER_OK.  Values
 * too small for binary64 become the nearest one, as usual. */
enum number number_parse(const char *text, size_t size, double *value);

/* A number at *at that a blank, line feed or other such character ends: the
 * caller's text must have one.  Short decimals only; false, with *at as it
 * was, for anything that number_parse should judge. */
bool number_scan(const char **at, double *value);

#endif /* DATA_NUMBER_H */
