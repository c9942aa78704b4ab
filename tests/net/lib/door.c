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

enum {
    DIMS = 50,
    CHUNKS = 32,
    ROWS = 200,
    COUNT = 5000,
    LONG = 200000,
    PERIOD = 7
};

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

/* The recipe of all trainings here. */
static struct muster_recipe *recipe_of(void)
{
    static const char *const keys[][2] = {
        {"optim", "agd"}, {"lr", "0.5"}, {"steps", "300"}};
    struct muster_recipe *recipe;

    if (muster_recipe_new(&recipe, NULL) != MUSTER_OK)
        exit(2);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (muster_set(recipe, keys[i][0], keys[i][1], NULL) != MUSTER_OK)
            exit(2);
    return recipe;
}

static struct muster_function function_of(void)
{
    struct muster_function function = MUSTER_INIT(struct muster_function);

    function.dims = DIMS;
    function.chunks = CHUNKS;
    function.rows = CHUNKS * ROWS;
    function.gradient = gradient;
    return function;
}

static void set(struct muster_recipe *recipe, const char *key, const char *text)
{
    char why[MUSTER_WHY_SIZE];

    if (strcmp(text, "-") != 0 &&
        muster_set(recipe, key, text, why) != MUSTER_OK) {
        printf("%s\n", why);
        exit(2);
    }
}

static int end(enum muster_status status, const char *why)
{
    printf("status %d %s\n", (int)status, why);
    return status != MUSTER_OK;
}

static int train(char **arguments)
{
    const struct muster_function function = function_of();
    struct muster_recipe *recipe = recipe_of();
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE], wanted[16];
    enum muster_status status;

    set(recipe, "n", arguments[0]);
    set(recipe, "out", arguments[1]);
    set(recipe, "listen", arguments[2]);
    (void)snprintf(wanted, sizeof wanted, "%d", atoi(arguments[0]) + 3);
    if (strcmp(arguments[2], "-") != 0)
        set(recipe, "workers", wanted);
    status = muster_train(recipe, &function, &model, why);
    if (model != NULL)
        printf("hash %s\n", muster_hash(model));
    muster_free(model);
    muster_recipe_free(recipe);
    return end(status, why);
}

static int join(int count, char **arguments)
{
    const struct muster_function function = function_of();
    struct muster_recipe *recipe = recipe_of();
    char why[MUSTER_WHY_SIZE];
    enum muster_status status;

    skew = count > 1 ? 1e-9 : 0;
    status = muster_join(recipe, &function, arguments[0], NULL, why);
    muster_recipe_free(recipe);
    return end(status, why);
}

/* In every call each member gives its own numbers, which cancel in part; long
 * vectors repeat theirs, so that one can see whether all of it is a sum. */
static int sum_up(struct muster_group *group, const char *name, int calls)
{
    static double values[LONG];
    const int count = getenv("DOOR_LONG") != NULL ? LONG : COUNT;
    const int period = count == LONG ? PERIOD : count;
    struct muster_sum_info info = MUSTER_INIT(struct muster_sum_info);
    char why[MUSTER_WHY_SIZE];

    for (int i = 0; i < calls; i++) {
        enum muster_status status;

        for (int j = 0; j < count; j++)
            values[j] = ldexp(noise((uint32_t)(j % period + name[0] * COUNT)),
                              j % period % 3 == 0 ? 200 : -200);
        status = muster_sum(group, values, (uint64_t)count, MUSTER_DOUBLE, 0,
                            &info, why);
        if (status == MUSTER_MISSED)
            continue; /* It was stopped for long: there are other calls. */
        if (status != MUSTER_OK)
            return end(status, why);
        for (int j = period; j < count; j++) {
            if (memcmp(&values[j], &values[j % period], sizeof *values) != 0)
                return end(status, "not all of it is a sum");
        }
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
    struct muster_group_options options =
        MUSTER_INIT(struct muster_group_options);
    struct muster_group *group;
    char why[MUSTER_WHY_SIZE];
    enum muster_status status;

    options.name = name;
    options.least = least;
    options.token_file = getenv("DOOR_TOKEN"); /* Between machines. */
    options.listen = getenv("DOOR_LISTEN");
    options.plain = getenv("DOOR_PLAIN") != NULL;
    if (getenv("DOOR_GIVE_UP") != NULL)
        options.give_up_s = (uint32_t)atoi(getenv("DOOR_GIVE_UP"));
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
