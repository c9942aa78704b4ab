/*
 * decimal.c - numbers and shares, of which strtod sees only what they may hold.
 */
#include "math/decimal.h"

#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

bool decimal_read(const char **at, double *value)
{
    const char *const text = *at;
    const size_t whole = strspn(text, digits);
    const size_t part =
        text[whole] == '.' ? strspn(text + whole + 1, digits) : 0;
    char *end;

    if (whole + part == 0 ||
        (text[0] == '0' && strchr("xX", text[1]) != NULL && text[1] != '\0'))
        return false;
    *value = strtod(text, &end);
    *at = end;
    return true;
}

bool decimal_share(const char *text, double *share)
{
    double value;

    if (!decimal_read(&text, &value))
        return false;
    if (*text == '%') {
        value /= 100;
        text++;
    }
    if (*text != '\0')
        return false;
    *share = value;
    return true;
}
