/*
 * staff.c - the workers of one combination of a grid.
 */
#include "learn/series/staff.h"

#include "base/mem.h"
#include "learn/batches.h"
#include "learn/coded/coded_data.h"
#include "learn/family/family.h"
#include "learn/workers.h"

void staff_take(struct setup *setup, const struct setup *staff)
{
    setup->slots = staff->slots;
    setup->local = staff->local;
    setup->workers_max = staff->workers_max;
    setup->code = staff->code;
    setup->adapt = staff->adapt;
    setup->worst = staff->worst;
    setup->exactness = staff->exactness;
    setup->certificate = staff->certificate;
    setup->threads = staff->threads;
}

/* By the rows that there are. */
static enum err fit_rows(const struct setup *setup, const struct recipe *recipe,
                         struct setup *staff, struct why *why)
{
    const struct family *const family = setup_family(setup);
    struct optim_options optim = {0};
    struct setup view = *setup;
    enum err err =
        batches_choose(recipe, family, &setup->data, &optim.sampler, why);

    workers_cut(staff, setup, &optim.sampler);
    if (err == ERR_OK)
        err = workers_try_code(
            staff, recipe, optim_chunks(&optim, dataset_chunks(&setup->data)),
            why);
    staff_take(&view, staff);
    return err == ERR_OK ? coded_data_vet(&view, &staff->code, why) : err;
}

/* What was worked out for another number of workers. */
static void forget(struct recipe *recipe)
{
    static const int ids[] = {OPT_THREADS, OPT_CODE};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (!recipe_given(recipe, ids[i]))
            setting_close(&recipe->setting[ids[i]]);
}

enum err staff_new(const struct setup *setup, struct recipe *recipe,
                   struct setup **staff, struct why *why)
{
    struct setup *const made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    made->terms = setup->terms;
    made->terms.note = NULL; /* It was said of the largest. */
    forget(recipe);
    err = setup_workers(made, recipe, why);
    if (err == ERR_OK)
        err = fit_rows(setup, recipe, made, why);
    if (err == ERR_OK)
        *staff = made;
    else
        staff_free(made);
    return err;
}

void staff_free(struct setup *staff)
{
    if (staff == NULL)
        return;
    setup_close(staff);
    mem_free(staff);
}
