/*
 * foresee.c - defaults that follow from other choices.  Set-up decides
 * (learn/setup.c, the families); tests/cli/print_config_true holds this page
 * against runs.
 */
#include "learn/recipe/foresee.h"

#include <string.h>

static struct foreseen value(const char *text)
{
    return (struct foreseen){.value = text};
}

static struct foreseen rule(const char *text)
{
    return (struct foreseen){.rule = text};
}

/* --init alone leaves open whether it is a network. */
enum kind { KIND_LINEAR, KIND_NET, KIND_OPEN };

struct view {
    enum kind kind;
    bool batches; /* Steps are over some rows, ... */
    bool passes;  /* ... or are counted by passes at least. */
    bool each;    /* --batch-per-worker. */
    bool rate;    /* --lr. */
    const char *optim;
};

static struct view view_of(const struct recipe *recipe)
{
    const bool net = recipe_text(recipe, OPT_NET) != NULL;
    const bool each = recipe_given(recipe, OPT_BATCH_PER_WORKER);
    const bool batches = each || recipe_given(recipe, OPT_BATCH);
    const bool passes = batches || recipe_given(recipe, OPT_PASSES);
    const char *optim = recipe_text(recipe, OPT_OPTIM);

    if (optim == NULL && (net || passes))
        optim = net ? "adam" : "gd";
    return (struct view){.kind = net                              ? KIND_NET
                                 : recipe_given(recipe, OPT_INIT) ? KIND_OPEN
                                                                  : KIND_LINEAR,
                         .batches = batches,
                         .passes = passes,
                         .each = each,
                         .rate = recipe_given(recipe, OPT_LR),
                         .optim = optim};
}

static bool is_adam(const struct view *view)
{
    return view->optim != NULL && strncmp(view->optim, "adam", 4) == 0;
}

static struct foreseen rate(const struct view *view)
{
    const bool net = view->kind == KIND_NET;

    if (net && view->each)
        return rule("that of one worker times their number");
    if (is_adam(view))
        return net ? rule("0.002, long runs on tables up to 0.005")
                   : value("0.001");
    if (net)
        return strcmp(view->optim, "gd") == 0 ? value("0.1") : value("0.01");
    return view->batches ? rule("what batches bear")
                         : (struct foreseen){NULL, NULL};
}

static struct foreseen schedule(const struct view *view,
                                const struct recipe *recipe)
{
    if (view->rate || recipe_given(recipe, OPT_DECAY))
        return (struct foreseen){NULL, NULL};
    if (view->kind == KIND_NET)
        return value("cosine");
    return view->batches && !is_adam(view)
               ? rule("cosine; batches of all rows: decay")
               : (struct foreseen){NULL, NULL};
}

static struct foreseen of_net(int id)
{
    switch (id) {
    case OPT_SCALE:
        return rule("standard for tables, else none");
    case OPT_BATCH:
        return value("128");
    case OPT_L2:
        return value("0");
    case OPT_ACCURACY:
        return rule("-");
    default:
        return (struct foreseen){NULL, NULL};
    }
}

static bool is_open(int id)
{
    return id == OPT_SCALE || id == OPT_BATCH || id == OPT_L2 ||
           id == OPT_OPTIM || id == OPT_LR || id == OPT_SCHEDULE ||
           id == OPT_STEPS || id == OPT_ACCURACY;
}

struct foreseen recipe_foresee(const struct recipe *recipe, int id)
{
    const struct view view = view_of(recipe);

    if (recipe_given(recipe, id))
        return (struct foreseen){NULL, NULL};
    if (id == OPT_BATCH && view.each)
        return rule("--batch-per-worker times workers");
    if (id == OPT_L2 && recipe_given(recipe, OPT_WEIGHT_DECAY))
        return rule("half of --weight-decay");
    if (id == OPT_VALID && recipe_given(recipe, OPT_PATIENCE))
        return value("0.1");
    if (id == OPT_WARMUP && view.each &&
        (view.kind != KIND_LINEAR || view.rate))
        return rule("5 passes, a fifth of all steps at most");
    if (view.kind == KIND_OPEN && is_open(id))
        return rule("by what --init is");
    if (id == OPT_LR)
        return rate(&view);
    if (id == OPT_SCHEDULE)
        return schedule(&view, recipe);
    if (id == OPT_OPTIM && (view.kind == KIND_NET || view.passes))
        return value(view.optim);
    if (id == OPT_STEPS && (view.kind == KIND_NET || view.passes))
        return rule("those of --passes");
    return view.kind == KIND_NET ? of_net(id) : (struct foreseen){NULL, NULL};
}
