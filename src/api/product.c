/*
 * product.c - muster_product: two matrices of the caller's in, their product
 * out.
 */
#include "learn/coded/product.h"
#include "api/handle.h"
#include "api/witness.h"
#include "base/mem.h"
#include "learn/fit.h"
#include "os/run/signals.h"

struct product {
    struct muster_recipe *asked;
    struct recipe choices; /* A copy: what is worked out is put there. */
    struct setup setup;
    struct memory_rows a, b;
    double *columns; /* Of B. */
    struct witness *witness;
};

static void note(void *context, const char *sentence)
{
    const struct product *const product = context;

    callback_log(product->asked, sentence);
}

static void see(void *context, const struct trace *trace)
{
    struct product *const product = context;
    struct muster_progress progress = {.size = sizeof progress};

    if (trace != NULL && trace->kind == TRACE_COMMIT) {
        progress.step = trace->key.step;
        if (!callback_watch(product->asked, &progress))
            flag_raise(&product->asked->stop);
    }
    witness_see(product->witness, trace);
}

#define INFO_LEAST STRUCT_LEAST(struct muster_product_info, deaths)

/* Also whether there is room for what will be told: that is no news for the
 * end. */
static enum err take_arguments(struct product *product,
                               const struct muster_matrix *a,
                               const struct muster_matrix *b,
                               const struct muster_product_info *info,
                               struct why *why)
{
    struct muster_product_info room;
    enum err err = matrix_take(a, &product->a, why);

    if (err == ERR_OK)
        err = matrix_take(b, &product->b, why);
    if (err == ERR_OK && info != NULL)
        err = struct_take(info, INFO_LEAST, sizeof room, &room, why);
    return err;
}

/* What is refused before the matrices are looked at is the recipe's fault. */
static enum err choose(struct product *product, struct why *why)
{
    enum err err =
        recipe_copy(&product->choices, &product->asked->choices, why);

    if (err == ERR_OK)
        err = fit_go_on(&product->choices, why);
    product->setup.terms.note = note;
    product->setup.terms.context = product;
    if (err == ERR_OK)
        err = product_workers(&product->setup, &product->choices, why);
    return err == ERR_UNKNOWN || err == ERR_RANGE ? ERR_SHAPE : err;
}

static enum err give(const struct product *product,
                     const struct train_result *result, double *out,
                     struct muster_product_info *info, struct why *why)
{
    const uint32_t rows = product->setup.data.rows;
    const uint32_t count = product->setup.optim.steps;
    const struct muster_product_info made = {
        .residual = result->stats.worst_residual,
        .approximate = result->stats.exactness[EXACT_APPROX],
        .seconds = result->elapsed_s,
        .deaths = result->stats.died,
    };
    const enum err err =
        info == NULL ? ERR_OK
                     : struct_give(info, INFO_LEAST, sizeof made, &made, why);

    for (uint32_t j = 0; err == ERR_OK && j < count; j++)
        for (uint32_t i = 0; i < rows; i++)
            out[(size_t)i * count + j] = result->weights[(size_t)j * rows + i];
    return err;
}

/* A process with workers takes signals until they are gone. */
static enum err run(struct product *product, double *out,
                    struct muster_product_info *info, struct why *why)
{
    const struct waiting waiting =
        waiting_for(product->setup.slots, product->setup.local,
                    recipe_given(&product->choices, OPT_RESUME));
    struct fit fit = {
        .setup = &product->setup,
        .recipe = &product->choices,
        .stop = &product->asked->stop,
        .context = product,
        .trace = see,
        .folder = recipe_text(&product->choices, OPT_OUT),
    };
    struct train_result result = {0};
    enum err err = witness_new(product->asked, &waiting, &product->witness);

    if (err != ERR_OK)
        return err;
    signals_keep();
    err = fit_run(&fit, &result, why);
    signals_restore();
    signals_give_back(result.late);
    witness_free(product->witness);
    if (err == ERR_OK && !result.finished)
        err = ERR_CANCELLED;
    if (err == ERR_OK)
        err = give(product, &result, out, info, why);
    fit_close(&fit);
    train_result_close(&result);
    return err;
}

static enum muster_status multiply(struct product *product,
                                   const struct muster_matrix *a,
                                   const struct muster_matrix *b, double *out,
                                   struct muster_product_info *info, char *why)
{
    struct why sentence = {{0}};
    enum err err = take_arguments(product, a, b, info, &sentence);

    if (err == ERR_OK)
        err = choose(product, &sentence);
    if (err != ERR_OK)
        return status_end(err, &sentence, why);
    err = product_load(&product->setup, &product->choices, &product->a,
                       &product->b, &product->columns, &sentence);
    if (err != ERR_OK)
        return status_of_data(err, &sentence, why);
    return status_end(run(product, out, info, &sentence), &sentence, why);
}

enum muster_status muster_product(struct muster_recipe *recipe,
                                  const struct muster_matrix *a,
                                  const struct muster_matrix *b, double *out,
                                  struct muster_product_info *info, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct product product = {.asked = recipe};
    enum muster_status status;

    if (recipe == NULL || a == NULL || b == NULL || out == NULL) {
        stop_spent(recipe);
        return status_end(why_set(&sentence, ERR_SHAPE,
                                  "there is no recipe, no matrix, or nowhere "
                                  "to put the product"),
                          &sentence, why);
    }
    status = multiply(&product, a, b, out, info, why);
    stop_spent(recipe);
    setup_close(&product.setup);
    mem_free(product.columns);
    recipe_close(&product.choices);
    return status;
}
