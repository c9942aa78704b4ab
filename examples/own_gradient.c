/*
 * own_gradient.c - robust line fitting with a gradient Muster has never seen.
 *
 * 4,000 points y = 3 x - 2 + noise, every tenth far off; sqrt(1 + r^2) - 1
 * hardly minds.  Points follow from their number: a chunk needs no data.
 *     cc own_gradient.c $(pkg-config --cflags --libs muster) -lm && ./a.out 4
 * trains with 4 workers; kill -9 any of them: the model stays the same.
 */
#include <math.h>
#include <muster.h>
#include <stdio.h>

enum { ROWS = 4000, CHUNKS = 16 };

/* A number in [-1, 1) that looks random, the same everywhere. */
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
    for (uint32_t k = 0; k < ROWS / CHUNKS; k++) {
        const uint32_t i = chunk * (ROWS / CHUNKS) + k;
        const double far = i % 10 == 0 ? 50 : 0.1, x = noise(2 * i);
        const double r = w[0] * x + w[1] - (3 * x - 2 + far * noise(2 * i + 1));

        *loss += sqrt(1 + r * r) - 1;
        g[0] += r / sqrt(1 + r * r) * x;
        g[1] += r / sqrt(1 + r * r);
    }
    return 0;
}

int main(int count, char **arguments)
{
    struct muster_function function = MUSTER_INIT(struct muster_function);
    struct muster_info info = MUSTER_INIT(struct muster_info);
    struct muster_recipe *recipe;
    struct muster_model *model;
    char why[MUSTER_WHY_SIZE];

    function.dims = 2, function.chunks = CHUNKS, function.rows = ROWS;
    function.gradient = gradient;
    if (muster_recipe_new(&recipe, why) != MUSTER_OK ||
        muster_set(recipe, "tol", "1e-10", why) != MUSTER_OK ||
        muster_set(recipe, "n", count > 1 ? arguments[1] : "0", why) !=
            MUSTER_OK ||
        muster_train(recipe, &function, &model, why) != MUSTER_OK ||
        muster_about(model, &info, why) != MUSTER_OK)
        return fprintf(stderr, "own_gradient: %s\n", why), 1;
    printf("y = %.4f x %+.4f after %llu steps\nmodel %s\n",
           muster_weights(model)[0], muster_weights(model)[1],
           (unsigned long long)info.steps, info.hash);
    muster_free(model);
    muster_recipe_free(recipe);
    return 0;
}
