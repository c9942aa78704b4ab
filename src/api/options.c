/*
 * options.c - validation of the public options.  A caller's struct may be of an
 * earlier version, so only as many bytes are read as that version has; whatever
 * can be refused is refused here, before a process or a file is made.
 */
#include "api/options.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "code/preset.h"
#include "code/rules.h"
#include "core/star/coordinator.h"
#include "math/exact/follow.h"
#include "os/run/threads.h"

#define STEPS_DEFAULT 100u
#define WORKERS_MAX   1024u

_Static_assert(MUSTER_WHY_SIZE == WHY_SIZE, "a sentence fits both");
_Static_assert(WORKERS_MAX <= COORDINATOR_LINKS_MAX / 2, "links for all");

static size_t size_of(uint32_t version)
{
    if (version == 1)
        return offsetof(struct muster_options, code);
    return version == MUSTER_VERSION ? sizeof(struct muster_options) : 0;
}

enum err options_read(const struct muster_options *given,
                      struct muster_options *options, struct why *why)
{
    if (given == NULL)
        return why_set(why, ERR_SHAPE, "there are no options");
    if (size_of(given->version) == 0)
        return why_set(why, ERR_UNKNOWN,
                       "options of version %u, the library knows 1 to %u",
                       given->version, MUSTER_VERSION);
    memset(options, 0, sizeof *options);
    memcpy(options, given, size_of(given->version));
    return ERR_OK;
}

static bool is_size(double x)
{
    return isfinite(x) && x >= 0;
}

static enum err check_shape(const struct muster_options *o, struct why *why)
{
    if (o->dims == 0 || o->chunks == 0 || o->rows == 0)
        return why_set(why, ERR_SHAPE,
                       "dims, chunks and rows must be at least 1");
    if (o->dims > DIMS_MAX - FOLLOW_SIZES_MAX)
        return why_set(why, ERR_SHAPE, "dims must be at most %u",
                       DIMS_MAX - FOLLOW_SIZES_MAX);
    if (o->chunks > CHUNKS_MAX)
        return why_set(why, ERR_SHAPE, "chunks must be at most %u", CHUNKS_MAX);
    if (o->gradient == NULL)
        return why_set(why, ERR_SHAPE, "there is no gradient function");
    return ERR_OK;
}

enum err options_check(const struct muster_options *o, struct why *why)
{
    enum err err = check_shape(o, why);

    if (err != ERR_OK)
        return err;
    if (!is_size(o->rate) || !is_size(o->l2) || !is_size(o->tol))
        return why_set(why, ERR_SHAPE,
                       "rate, l2 and tol must be finite and not negative");
    if (o->threads > THREADS_MAX)
        return why_set(why, ERR_SHAPE, "threads must be at most %u",
                       THREADS_MAX);
    if (o->workers > WORKERS_MAX || o->wanted > WORKERS_MAX)
        return why_set(why, ERR_SHAPE, "workers and wanted must be at most %u",
                       WORKERS_MAX);
    if (o->wanted > o->workers && o->listen == NULL)
        return why_set(why, ERR_SHAPE,
                       "wanted is more than workers, but nobody can join: "
                       "listen is not set");
    return ERR_OK;
}

static const char *optimiser_of(const struct muster_options *o)
{
    return o->optimiser != NULL ? o->optimiser : "lbfgs";
}

enum err options_rules(const struct muster_options *o,
                       const struct code_spec *code, enum exactness class,
                       struct why *why)
{
    struct choices choices = {.traits = TRAIT(FUNCTION), .fields = true};

    if (code != NULL)
        choices_code(&choices, code);
    choices_class(&choices, class, EXACT_APPROX);
    choices_optim(&choices, optimiser_of(o));
    if (o->hessvec == NULL)
        choices_add(&choices, TRAIT(NO_HESSVEC), NULL);
    return rules_check(&choices, why);
}

enum err options_code(const struct muster_options *o, uint32_t workers,
                      struct code_spec *code, struct why *why)
{
    const bool named = o->code != NULL && strcmp(o->code, "auto") != 0;
    const struct preset_options preset = {
        .name = named ? o->code : "steal",
        .stragglers = o->stragglers > 0 ? o->stragglers : workers > 1,
        .workers = workers,
    };
    enum err err;

    if (strcmp(preset.name, "agc") == 0 ||
        strcmp(preset.name, "erasurehead") == 0)
        return why_set(why, ERR_SHAPE,
                       "code agc needs to be told for how many to wait, which "
                       "cannot be said here; take ignore");
    err = preset_spec(&preset, code, why);
    if (err == ERR_OK)
        err = options_rules(o, code, code_spec_class(code), why);
    return err == ERR_UNKNOWN ? ERR_SHAPE : err;
}

enum err options_alone(const struct muster_options *o, struct why *why)
{
    struct code_spec unused;

    if (o->folder != NULL)
        return why_set(why, ERR_SHAPE,
                       "folder: only a run with workers keeps its state; set "
                       "workers, or leave it NULL");
    /* It has nothing to do, but the same options are to do with workers. */
    return options_code(o, o->stragglers + 1, &unused, why);
}

enum err options_optim(const struct muster_options *o,
                       struct optim_options *optim, struct why *why)
{
    const char *name = optimiser_of(o);
    enum optim_kind kind;
    enum err err;

    if (optim_parse(name, &kind) != ERR_OK)
        return why_set(why, ERR_SHAPE, "there is no optimiser named \"%.80s\"",
                       name);
    err = options_rules(o, NULL, EXACT_BITWISE, why);
    if (err != ERR_OK)
        return err;
    *optim = optim_defaults(kind);
    if (o->rate > 0)
        optim->rate = o->rate;
    optim->dense_max = 0;    /* Users give products, not matrices ... */
    optim->diagonal = false; /* ... nor what stands on their diagonals. */
    optim->l2 = o->l2;
    optim->tol = o->tol;
    optim->rows = o->rows;
    optim->steps = o->steps > 0 ? o->steps : STEPS_DEFAULT;
    return ERR_OK;
}

struct user_function options_user(const struct muster_options *o)
{
    return (struct user_function){
        .gradient = o->gradient,
        .hessvec = o->hessvec,
        .context = o->context,
        .dims = o->dims,
        .chunks = o->chunks,
        .rows = o->rows,
    };
}

static enum muster_status status_of(enum err err)
{
    switch (err) {
    case ERR_OK:
        return MUSTER_OK;
    case ERR_UNKNOWN:
        return MUSTER_BAD_VERSION;
    case ERR_SHAPE:
    case ERR_FORMAT:
        return MUSTER_BAD_OPTION;
    case ERR_NOMEM:
        return MUSTER_NO_MEMORY;
    case ERR_RANGE:
        return MUSTER_DIVERGED;
    case ERR_CANCELLED:
        return MUSTER_STOPPED;
    case ERR_UNSUPPORTED:
        return MUSTER_UNSUPPORTED;
    case ERR_MISMATCH:
        return MUSTER_NOT_A_FUNCTION;
    case ERR_DENIED:
        return MUSTER_REFUSED;
    case ERR_CLOSED:
        return MUSTER_LOST;
    case ERR_TIMEOUT:
        return MUSTER_TIMEOUT;
    case ERR_STALE:
        return MUSTER_MISSED;
    case ERR_UNDECODABLE:
    case ERR_OVERLAP:
    case ERR_TRUNCATED:
    case ERR_TOOBIG:
    case ERR_NOTFOUND:
    case ERR_EXISTS:
    case ERR_IO:
        return MUSTER_FAILED;
    }
    return MUSTER_FAILED;
}

enum muster_status status_end(enum err err, const struct why *sentence,
                              char *why)
{
    const char *text = "";

    if (err == ERR_CANCELLED)
        text = "stopped: a function of yours or a signal said so";
    else if (err != ERR_OK)
        text = err_text(err);
    if (err != ERR_OK && sentence->text[0] != '\0')
        text = sentence->text;
    if (why != NULL)
        (void)snprintf(why, MUSTER_WHY_SIZE, "%s", text);
    return status_of(err);
}
