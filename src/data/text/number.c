/*
 * number.c - decimal to binary64, correctly rounded, in any locale: Clinger's
 * fast path, and strtod under the C locale for what that cannot do.
 */
#include "data/text/number.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    DIGITS_MAX = 19,       /* Any 19 digits fit into 64 bits. */
    POWER_EXACT_MAX = 22,  /* 10^22 is the largest exact power of ten. */
    EXPONENT_CAP = 100000, /* Beyond it only 0 and overflow remain. */
};

static const double power_of_ten[POWER_EXACT_MAX + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* What a scan of the text found: sign * digits * 10^exponent. */
struct decimal {
    const char *at, *end;
    uint64_t digits;
    int digit_count; /* Significant digits in `digits`. */
    int exponent;
    bool negative;
    bool inexact; /* Some digits did not fit. */
};

static void scan_sign(struct decimal *in)
{
    if (in->at < in->end && (*in->at == '-' || *in->at == '+')) {
        in->negative = *in->at == '-';
        in->at++;
    }
}

/* Read digits; each is worth ten times less after the point.  Returns how
 * many there were. */
static size_t scan_digits(struct decimal *in, bool after_point)
{
    const char *const first = in->at;

    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++) {
        if (in->digit_count == DIGITS_MAX) {
            in->inexact = true;
            in->exponent += after_point ? 0 : 1;
            continue;
        }
        in->digits = in->digits * 10 + (uint64_t)(*in->at - '0');
        in->digit_count += in->digits != 0;
        in->exponent -= after_point ? 1 : 0;
    }
    return (size_t)(in->at - first);
}

/* The part from 'e' on, if there is one.  False if no digit follows it. */
static bool scan_exponent(struct decimal *in)
{
    struct decimal power = {.at = in->at + 1, .end = in->end};
    int value;

    if (in->at == in->end || (*in->at != 'e' && *in->at != 'E'))
        return true;
    scan_sign(&power);
    if (scan_digits(&power, false) == 0)
        return false;
    value = power.inexact || power.digits > EXPONENT_CAP ? EXPONENT_CAP
                                                         : (int)power.digits;
    in->exponent += power.negative ? -value : value;
    in->at = power.at;
    return true;
}

static bool scan_decimal(struct decimal *in)
{
    size_t count;

    scan_sign(in);
    count = scan_digits(in, false);
    if (in->at < in->end && *in->at == '.') {
        in->at++;
        count += scan_digits(in, true);
    }
    return count > 0 && scan_exponent(in) && in->at == in->end;
}

/* Clinger's fast path: both factors are exact, so the one operation rounds
 * correctly.  False if they are not. */
static bool convert_fast(const struct decimal *in, double *value)
{
    double magnitude = (double)in->digits;

    if (in->inexact || in->digits > UINT64_C(1) << 53)
        return false;
    if (in->digits != 0 && in->exponent >= 0) {
        if (in->exponent > POWER_EXACT_MAX)
            return false;
        magnitude *= power_of_ten[in->exponent];
    } else if (in->digits != 0) {
        if (in->exponent < -POWER_EXACT_MAX)
            return false;
        magnitude /= power_of_ten[-in->exponent];
    }
    *value = in->negative ? -magnitude : magnitude;
    return true;
}

/* strtod under the "C" locale; glibc hands that one out without allocating. */
static double convert_slow(const char *text, size_t size)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t old = plain == (locale_t)0 ? plain : uselocale(plain);
    char copy[NUMBER_TEXT_MAX + 1];
    double value;

    memcpy(copy, text, size);
    copy[size] = '\0';
    value = strtod(copy, NULL);
    if (plain != (locale_t)0) {
        (void)uselocale(old);
        freelocale(plain);
    }
    return value;
}

static bool is_nonfinite(const char *text, size_t size)
{
    if (size > 0 && (*text == '-' || *text == '+')) {
        text++;
        size--;
    }
    return (size == 3 && strncasecmp(text, "nan", 3) == 0) ||
           (size == 3 && strncasecmp(text, "inf", 3) == 0) ||
           (size == 8 && strncasecmp(text, "infinity", 8) == 0);
}

enum number number_parse(const char *text, size_t size, double *value)
{
    struct decimal in = {.at = text, .end = text + size};
    double parsed;

    if (size > NUMBER_TEXT_MAX || !scan_decimal(&in))
        return is_nonfinite(text, size) ? NUMBER_NONFINITE : NUMBER_NOT;
    if (!convert_fast(&in, &parsed))
        parsed = convert_slow(text, size);
    if (!isfinite(parsed))
        return NUMBER_HUGE;
    *value = parsed;
    return NUMBER_OK;
}

/* Digits after those of `value`; *count of them.  Many wrap round: the caller
 * counts. */
static uint64_t scan_run(const char **at, uint64_t value, int *count)
{
    const char *p = *at;

    for (; (unsigned char)(*p - '0') < 10; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    *count = (int)(p - *at);
    *at = p;
    return value;
}

/* 'e', sign, one to three digits. */
static bool scan_power(const char **at, int *exponent)
{
    const char *p = *at + 1;
    const bool negative = *p == '-';
    int count = 0;
    int value;

    p += negative || *p == '+';
    value = (int)scan_run(&p, 0, &count);
    if (count == 0 || count > 3)
        return false;
    *exponent += negative ? -value : value;
    *at = p;
    return true;
}

bool number_scan(const char **at, double *value)
{
    const char *p = *at;
    const bool negative = *p == '-';
    int whole = 0;
    int part = 0;
    int exponent;
    uint64_t digits;
    double magnitude;

    p += negative || *p == '+';
    digits = scan_run(&p, 0, &whole);
    if (*p == '.') {
        p++;
        digits = scan_run(&p, digits, &part);
    }
    /* Eighteen digits cannot overflow; the rest is for the other reader. */
    if (whole + part == 0 || whole + part > 18 || digits > UINT64_C(1) << 53)
        return false;
    exponent = -part;
    if ((*p == 'e' || *p == 'E') && !scan_power(&p, &exponent))
        return false;
    if (exponent > POWER_EXACT_MAX || exponent < -POWER_EXACT_MAX)
        return false;
    magnitude = exponent >= 0 ? (double)digits * power_of_ten[exponent]
                              : (double)digits / power_of_ten[-exponent];
    *value = negative ? -magnitude : magnitude;
    *at = p;
    return true;
}
