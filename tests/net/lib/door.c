/*
 * door.c - a user's program, for tests/net/door.py.
 *
 *     door train WORKERS FOLDER LISTEN     - = nobody may join; else it begins
 *                                          once three have joined
 *     door join ADDRESS [skewed]           skewed: computes something else
 *     door host LEAST                      prints its address, then sums
 *     door member ADDRESS NAME CALLS
 *
 * The gradient takes a while, in turns of its own arithmetic, so that there is
 * time to kill somebody in it.
 */
#include <math.h>
#include <muster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 50, CHUNKS = 32, ROWS = 200, STEPS = 300, COUNT = 5000 };

static double skew;

static double noise(uint32_t seed)
{
    uint32_t x = (seed + 1) * 2654435761u;

    x = (x ^ x >> 15) * 2246822519u;
    return (double)(x ^ x >> 13) / 2147483648.0 - 1;
}

static int gradient(void *context, const double *w, uint32_t chunk, double *g,
                    double *loss)
{
    (void)context;
    for (uint32_t i = chunk * ROWS; i < (chunk + 1) * ROWS; i++) {
        double r = noise(i) + skew;

        for (uint32_t j = 0; j < DIMS; j++)
            r += w[j] * noise(i * DIMS + j);
        *loss += sqrt(1 + r * r) - 1;
        for (uint32_t j = 0; j < DIMS; j++)
            g[j] += r / sqrt(1 + r * r) * noise(i * DIMS + j);
    }
    return 0;
}

static struct muster_options options_of(void)
{
    struct muster_options options = MUSTER_OPTIONS;

    options.dims = DIMS, options.chunks = CHUNKS, options.rows = CHUNKS * ROWS;
    options.gradient = gradient;
    options.optimiser = "agd";
    options.rate = 0.5;
    options.steps = STEPS;
    return options;
}

static int end(enum muster_status status, const char *why)
{
    printf("status %d %s\n", (int)status, why);
    return status != MUSTER_OK;
}

static int train(char **arguments)
{
    struct muster_options options = options_of();
    struct muster_model *model;
    char why[MUSTER_WHY_SIZE];
    enum muster_status status;

    options.workers = (uint32_t)atoi(arguments[0]);
    options.folder = strcmp(arguments[1], "-") != 0 ? arguments[1] : NULL;
    options.listen = strcmp(arguments[2], "-") != 0 ? arguments[2] : NULL;
    options.wanted = options.listen != NULL ? options.workers + 3 : 0;
    status = muster_train(&options, &model, why);
    if (model != NULL)
        printf("hash %s\n", muster_hash(model));
    muster_free(model);
    return end(status, why);
}

static int join(int count, char **arguments)
{
    struct muster_options options = options_of();
    char why[MUSTER_WHY_SIZE];

    skew = count > 1 ? 1e-9 : 0;
    return end(muster_join(&options, arguments[0], why), why);
}

/* In every call each member gives its own numbers, which cancel in part. */
static int sum_up(struct muster_group *group, const char *name, int calls)
{
    static double values[COUNT];
    struct muster_sum_info info = {.version = MUSTER_VERSION};
    char why[MUSTER_WHY_SIZE];

    for (int i = 0; i < calls; i++) {
        enum muster_status status;

        for (int j = 0; j < COUNT; j++)
            values[j] = ldexp(noise((uint32_t)(j + name[0] * COUNT)),
                              j % 3 == 0 ? 200 : -200);
        status = muster_sum(group, values, COUNT, MUSTER_DOUBLE, 0, &info, why);
        if (status != MUSTER_OK)
            return end(status, why);
        printf("call %llu %s %a %a\n", (unsigned long long)info.call, info.who,
               values[0], values[1]);
        (void)fflush(stdout);
    }
    muster_group_leave(group);
    return end(MUSTER_OK, "");
}

static int member(const char *address, const char *name, uint32_t least,
                  int calls)
{
    struct muster_group_options options = MUSTER_OPTIONS;
    struct muster_group *group;
    char why[MUSTER_WHY_SIZE];
    enum muster_status status;

    options.name = name;
    options.least = least;
    status = address != NULL ? muster_group_join(&options, address, &group, why)
                             : muster_group_host(&options, &group, why);
    if (status != MUSTER_OK)
        return end(status, why);
    printf("address %s\n", muster_group_address(group));
    (void)fflush(stdout);
    return sum_up(group, name, calls);
}

int main(int count, char **arguments)
{
    const char *what = count > 2 ? arguments[1] : "";

    if (strcmp(what, "train") == 0 && count > 4)
        return train(arguments + 2);
    if (strcmp(what, "join") == 0)
        return join(count - 2, arguments + 2);
    if (strcmp(what, "host") == 0)
        return member(NULL, "h", (uint32_t)atoi(arguments[2]), 1 << 30);
    if (strcmp(what, "member") == 0 && count > 4)
        return member(arguments[2], arguments[3], 0, atoi(arguments[4]));
    return 2;
}
