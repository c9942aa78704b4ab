/*
 * digits.c - a generator of handwritten digits: strokes of a font, bent and
 * inked at random by (seed, row), for demonstrations without a download.
 */
#include "data/make/digits.h"

#include <math.h>

#include "base/rng.h"

enum { POINTS_MAX = 18 };

#define END                                                                    \
    {                                                                          \
        -1, 0                                                                  \
    }

/* One stroke each, in a square of side 100, x to the right, y down. */
static const struct {
    int16_t x, y;
} shape[10][POINTS_MAX] = {
    {{50, 10},
     {69, 19},
     {77, 38},
     {77, 62},
     {69, 81},
     {50, 90},
     {31, 81},
     {23, 62},
     {23, 38},
     {31, 19},
     {50, 10},
     END},
    {{36, 26}, {56, 10}, {56, 90}, END},
    {{25, 30},
     {32, 15},
     {50, 10},
     {68, 15},
     {75, 30},
     {66, 48},
     {25, 90},
     {78, 90},
     END},
    {{25, 16},
     {48, 10},
     {70, 20},
     {69, 39},
     {46, 47},
     {72, 56},
     {76, 76},
     {54, 90},
     {24, 85},
     END},
    {{66, 90}, {66, 10}, {20, 64}, {82, 64}, END},
    {{73, 10},
     {33, 10},
     {29, 46},
     {55, 41},
     {74, 54},
     {74, 77},
     {53, 90},
     {25, 84},
     END},
    {{68, 12},
     {46, 20},
     {31, 43},
     {27, 68},
     {40, 88},
     {62, 88},
     {74, 71},
     {64, 54},
     {44, 52},
     {29, 65},
     END},
    {{22, 12}, {78, 12}, {44, 90}, END},
    {{50, 48},
     {31, 39},
     {30, 20},
     {50, 10},
     {70, 20},
     {69, 39},
     {50, 48},
     {74, 60},
     {73, 80},
     {50, 90},
     {27, 80},
     {26, 60},
     {50, 48},
     END},
    {{71, 35},
     {56, 48},
     {36, 46},
     {26, 29},
     {38, 12},
     {60, 12},
     {73, 32},
     {69, 57},
     {54, 80},
     {32, 88},
     END},
};

/* Draws of one digit, told apart by number. */
enum { DRAW_DIGIT = 1 << 12, DRAW_SHAPE, DRAW_POINT = 1 << 13 };

/* How one digit is written. */
struct hand {
    double turn_cos, turn_sin, slant;
    double width, height; /* Pixels of the square of side 100. */
    double x, y;          /* Where its middle goes. */
    double thick, ink;
};

/* Uniform in [low, high). */
static double between(uint64_t stream, uint64_t draw, double low, double high)
{
    return low + (high - low) * rng_unit_at(stream, draw, 0);
}

static struct hand draw_hand(uint64_t stream)
{
    /* Half the angle's tangent gives sine and cosine without a library. */
    const double t = between(stream, DRAW_SHAPE, -0.14, 0.14);
    const double scale = between(stream, DRAW_SHAPE + 1, 0.18, 0.26);

    return (struct hand){
        .turn_cos = (1 - t * t) / (1 + t * t),
        .turn_sin = 2 * t / (1 + t * t),
        .slant = between(stream, DRAW_SHAPE + 2, -0.25, 0.25),
        .width = scale * between(stream, DRAW_SHAPE + 3, 0.8, 1.1),
        .height = scale,
        .x = between(stream, DRAW_SHAPE + 4, 10.5, 16.5),
        .y = between(stream, DRAW_SHAPE + 5, 10.5, 16.5),
        .thick = between(stream, DRAW_SHAPE + 6, 0.6, 1.5),
        .ink = between(stream, DRAW_SHAPE + 7, 0.7, 1.0),
    };
}

struct point {
    double x, y;
};

static struct point place(const struct hand *hand, uint64_t stream,
                          uint32_t digit, int i)
{
    const double bent = 5; /* Nobody draws a point where it should be. */
    const double x =
        shape[digit][i].x - 50 +
        between(stream, (uint64_t)DRAW_POINT + 2 * (uint64_t)i, -bent, bent);
    const double y = shape[digit][i].y - 50 +
                     between(stream, (uint64_t)DRAW_POINT + 2 * (uint64_t)i + 1,
                             -bent, bent);
    const double wide = (x - hand->slant * y) * hand->width;
    const double high = y * hand->height;

    return (struct point){
        hand->x + wide * hand->turn_cos - high * hand->turn_sin,
        hand->y + wide * hand->turn_sin + high * hand->turn_cos};
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Distance of a point from the line between two others. */
static double distance(struct point p, struct point a, struct point b)
{
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double square = dx * dx + dy * dy;
    const double along =
        square > 0 ? clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / square, 0, 1)
                   : 0;
    const double x = p.x - a.x - along * dx;
    const double y = p.y - a.y - along * dy;

    return sqrt(x * x + y * y);
}

static int first_pixel(double a, double b, double reach)
{
    return (int)clamp(floor((a < b ? a : b) - reach), 0, DIGITS_SIDE - 1);
}

static int last_pixel(double a, double b, double reach)
{
    return (int)clamp(ceil((a > b ? a : b) + reach), 0, DIGITS_SIDE - 1);
}

/* Ink falls off over one pixel at the edge of the stroke. */
static void draw_stroke(const struct hand *hand, struct point a, struct point b,
                        double *grey)
{
    const double reach = hand->thick + 1;
    const int right = last_pixel(a.x, b.x, reach);
    const int bottom = last_pixel(a.y, b.y, reach);

    for (int y = first_pixel(a.y, b.y, reach); y <= bottom; y++) {
        for (int x = first_pixel(a.x, b.x, reach); x <= right; x++) {
            const double far = distance((struct point){x, y}, a, b);
            const double ink = hand->ink * clamp(reach - far, 0, 1);
            double *const pixel = &grey[y * DIGITS_SIDE + x];

            if (ink > *pixel)
                *pixel = ink;
        }
    }
}

uint32_t digits_which(uint64_t seed, uint64_t row)
{
    const uint64_t stream = rng_at(seed, row, DRAW_DIGIT);

    return (uint32_t)(rng_at(stream, DRAW_DIGIT, 0) % 10);
}

void digits_draw(uint64_t seed, uint64_t row, uint32_t digit,
                 float pixel[DIGITS_COLS])
{
    const uint64_t stream = rng_at(seed, row, DRAW_DIGIT);
    const struct hand hand = draw_hand(stream);
    double grey[DIGITS_COLS] = {0};
    struct point last = place(&hand, stream, digit, 0);

    for (int i = 1; shape[digit][i].x >= 0; i++) {
        const struct point next = place(&hand, stream, digit, i);

        draw_stroke(&hand, last, next, grey);
        last = next;
    }
    for (uint32_t i = 0; i < DIGITS_COLS; i++) {
        const double noise = 0.5 * (rng_unit_at(stream, i, 1) - 0.5);

        pixel[i] =
            (float)(floor(clamp(grey[i] + noise, 0, 1) * 255 + 0.5) / 255);
    }
}
