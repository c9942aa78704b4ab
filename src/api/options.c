/*
 * options.c - the recipe of a training with a function of the user's.
 */
#include "api/options.h"

#include <stddef.h>
#include <string.h>

#include "code/preset.h"
#include "code/rules.h"
#include "core/star/coordinator.h"
#include "learn/workers.h"
#include "math/exact/follow.h"
#include "os/run/threads.h"

#define STEPS_DEFAULT 100u
#define WORKERS_MAX   1024u
#define CODE_BYTES    256u

_Static_assert(WORKERS_MAX <= COORDINATOR_LINKS_MAX / 2, "links for all");

/* Keys that such a training knows. */
static const int known[] = {
    OPT_OPTIM,   OPT_STEPS,      OPT_LR,      OPT_L2,   OPT_TOL,
    OPT_THREADS, OPT_N,          OPT_WORKERS, OPT_CODE, OPT_STRAGGLERS,
    OPT_LISTEN,  OPT_TOKEN_FILE, OPT_OUT};

static bool is_known(int id)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == id)
            return true;
    return false;
}

static enum err refuse_others(const struct recipe *choices, struct why *why)
{
    for (int id = 0; id < RECIPE_OPTIONS; id++)
        if (recipe_given(choices, id) && !is_known(id))
            return why_set(why, ERR_SHAPE,
                           "%s says nothing of a function of yours; leave it "
                           "out",
                           recipe_row(id)->name);
    return ERR_OK;
}

static void take(const struct recipe *r, struct wish *wish)
{
    const struct setting *const span = &r->setting[OPT_WORKERS];
    const bool threads = recipe_given(r, OPT_THREADS);

    wish->optimiser =
        recipe_given(r, OPT_OPTIM) ? recipe_text(r, OPT_OPTIM) : "lbfgs";
    wish->steps = recipe_given(r, OPT_STEPS)
                      ? (uint32_t)recipe_count(r, OPT_STEPS)
                      : STEPS_DEFAULT;
    wish->rate = recipe_given(r, OPT_LR) ? recipe_real(r, OPT_LR) : 0;
    wish->l2 = recipe_given(r, OPT_L2) ? recipe_real(r, OPT_L2) : 0;
    wish->tol = recipe_given(r, OPT_TOL) ? recipe_real(r, OPT_TOL) : 0;
    wish->threads = threads ? (uint32_t)recipe_count(r, OPT_THREADS) : 1;
    wish->workers = (uint32_t)recipe_count(r, OPT_N);
    wish->wanted = span->text != NULL ? (uint32_t)span->low : 0;
    wish->code = recipe_given(r, OPT_CODE) ? recipe_text(r, OPT_CODE) : NULL;
    wish->stragglers = recipe_given(r, OPT_STRAGGLERS)
                           ? (uint32_t)recipe_count(r, OPT_STRAGGLERS)
                           : 0;
    wish->listen = recipe_text(r, OPT_LISTEN);
    wish->token_file = recipe_text(r, OPT_TOKEN_FILE);
    wish->folder = recipe_text(r, OPT_OUT);
}

static enum err check_shape(const struct wish *o, struct why *why)
{
    if (o->function.dims == 0 || o->function.chunks == 0 ||
        o->function.rows == 0)
        return why_set(why, ERR_SHAPE,
                       "dims, chunks and rows must be at least 1");
    if (o->function.dims > DIMS_MAX - FOLLOW_SIZES_MAX)
        return why_set(why, ERR_SHAPE, "dims must be at most %u",
                       DIMS_MAX - FOLLOW_SIZES_MAX);
    if (o->function.chunks > CHUNKS_MAX)
        return why_set(why, ERR_SHAPE, "chunks must be at most %u", CHUNKS_MAX);
    if (o->function.gradient == NULL)
        return why_set(why, ERR_SHAPE, "there is no gradient function");
    return ERR_OK;
}

static enum err check(const struct wish *o, struct why *why)
{
    enum err err = check_shape(o, why);

    if (err != ERR_OK)
        return err;
    if (o->workers > WORKERS_MAX || o->wanted > WORKERS_MAX)
        return why_set(why, ERR_SHAPE, "n and workers must be at most %u",
                       WORKERS_MAX);
    return workers_can_come(o->wanted, o->workers, o->listen != NULL, why);
}

enum err wish_rules(const struct wish *o, const struct code_spec *code,
                    enum exactness class, struct why *why)
{
    struct choices choices = {.traits = TRAIT(FUNCTION), .fields = true};

    if (code != NULL)
        choices_code(&choices, code);
    choices_class(&choices, class, EXACT_APPROX);
    choices_optim(&choices, o->optimiser);
    if (o->function.hessvec == NULL)
        choices_add(&choices, TRAIT(NO_HESSVEC), NULL);
    return rules_check(&choices, why);
}

/* NAME[:KEY=VALUE]...; what would have to be read is not. */
static enum err read_code(const char *text, struct preset_options *preset,
                          char copy[CODE_BYTES], struct why *why)
{
    enum err err;

    if (snprintf(copy, CODE_BYTES, "%s", text) >= (int)CODE_BYTES)
        return why_set(why, ERR_SHAPE, "code: the text is too long");
    err = preset_parse(copy, preset, why);
    if (err == ERR_OK && preset->speed_text != NULL)
        err = why_set(why, ERR_SHAPE, "code: speeds cannot be said here");
    if (err == ERR_OK && preset->file != NULL)
        err = why_set(why, ERR_SHAPE, "code: files are not read here");
    return err;
}

enum err wish_code(const struct wish *o, uint32_t workers,
                   struct code_spec *code, struct why *why)
{
    const bool named = o->code != NULL && strcmp(o->code, AUTO_NAME) != 0;
    struct preset_options preset = {
        .stragglers = o->stragglers > 0 ? o->stragglers : workers > 1,
        .workers = workers,
    };
    char copy[CODE_BYTES];
    enum err err =
        read_code(named ? o->code : DEFAULT_CODE, &preset, copy, why);

    if (err == ERR_OK)
        err = preset_spec(&preset, code, why);
    if (err == ERR_OK)
        err = wish_rules(o, code, code_spec_class(code), why);
    return err == ERR_OK ? err : ERR_SHAPE;
}

enum err wish_alone(const struct wish *o, struct why *why)
{
    struct code_spec unused;

    if (o->folder != NULL)
        return why_set(why, ERR_SHAPE,
                       "out: only a run with workers keeps its state; set n, "
                       "or leave it out");
    /* It has nothing to do, but the same recipe is to do with workers. */
    return wish_code(o, o->stragglers + 1, &unused, why);
}

enum err wish_optim(const struct wish *o, struct optim_options *optim,
                    struct why *why)
{
    enum optim_kind kind;
    enum err err;

    if (optim_parse(o->optimiser, &kind) != ERR_OK)
        return why_set(why, ERR_SHAPE, "there is no optimiser named \"%.80s\"",
                       o->optimiser);
    err = wish_rules(o, NULL, EXACT_BITWISE, why);
    if (err != ERR_OK)
        return err;
    *optim = optim_defaults(kind);
    if (o->rate > 0)
        optim->rate = o->rate;
    optim->dense_max = 0;    /* Users give products, not matrices ... */
    optim->diagonal = false; /* ... nor what stands on their diagonals. */
    optim->l2 = o->l2;
    optim->tol = o->tol;
    optim->rows = o->function.rows;
    optim->steps = o->steps;
    return ERR_OK;
}

struct user_function wish_user(const struct wish *o)
{
    return (struct user_function){
        .gradient = o->function.gradient,
        .hessvec = o->function.hessvec,
        .context = o->function.context,
        .dims = o->function.dims,
        .chunks = o->function.chunks,
        .rows = o->function.rows,
    };
}

enum err wish_read(struct muster_recipe *recipe,
                   const struct muster_function *function, struct wish *wish,
                   struct why *why)
{
    enum err err;

    memset(wish, 0, sizeof *wish);
    if (recipe == NULL)
        return why_set(why, ERR_SHAPE, "there is no recipe");
    err = struct_take(function, STRUCT_LEAST(struct muster_function, context),
                      sizeof wish->function, &wish->function, why);
    if (err == ERR_OK)
        err = refuse_others(&recipe->choices, why);
    if (err != ERR_OK)
        return err;
    wish->recipe = recipe;
    take(&recipe->choices, wish);
    return check(wish, why);
}
