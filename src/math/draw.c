/*
 * draw.c - names of samplers, and how many rows they draw.
 */
#include "math/draw.h"

#include <math.h>
#include <string.h>

#include "base/check.h"

static const char *const names[] = {
#define DRAW_NAME(NAME, name) #name,
    DRAW_LIST(DRAW_NAME)
#undef DRAW_NAME
};

const char *draw_name(enum draw_kind kind)
{
    CHECK((unsigned)kind < DRAWS);
    return names[kind];
}

bool draw_parse(const char *name, enum draw_kind *kind)
{
    for (unsigned i = 0; i < DRAWS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *kind = (enum draw_kind)i;
            return true;
        }
    }
    return false;
}

/* The share is a decimal that fp64 rounds: 10 % of 30 rows are 3. */
uint32_t draw_size(double share, uint32_t m)
{
    const double exact = share * m;
    const double nearest = nearbyint(exact);
    const double b =
        fabs(exact - nearest) <= 1e-9 * exact ? nearest : ceil(exact);

    CHECK(m > 0 && share > 0);
    return b < 1 ? 1 : b > m ? m : (uint32_t)b;
}

int draw_shift(double share)
{
    int shift = 0;

    CHECK(share > 0);
    while (ldexp(share, shift) < DRAW_WEIGHT_MOST)
        shift++;
    return shift;
}

double draw_variance(double squares, double square, uint32_t groups,
                     double share)
{
    const double between = squares - square / groups;

    CHECK(groups > 1);
    return between <= 0 ? 0 : (1 - share) * groups / (groups - 1.0) * between;
}
