/*
 * workers.c - how many workers, which code, and whether they go together: all
 * that is known before a row is read.
 */
#include "learn/workers.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "code/preset.h"
#include "learn/batches.h"
#include "learn/family/family.h"
#include "learn/owners.h"
#include "learn/recipe/habit.h"
#include "learn/rows.h"
#include "learn/trust.h"
#include "os/run/threads.h"
#include "wire/codec.h"

#define PLAIN_NAME        "plain"
#define RING_NAME         "ring"
#define MPI_NAME          "mpi"
#define SIMULATED_WORKERS 8u
#define SPARE_SEATS       64u /* For joiners, when --workers does not say. */
#define DIMS_LONG         (1u << 18)
#define LONG_PIECES       4u
#define PIECES_LEAST      2u         /* So that there is something to steal. */
#define PIECE_NUMBERS     (1u << 22) /* A millisecond or so to compute with. */

static bool keeps_state(const struct recipe *recipe)
{
    return recipe_given(recipe, OPT_OUT) || recipe_given(recipe, OPT_RESUME) ||
           recipe_flag(recipe, OPT_SYNC) ||
           recipe_given(recipe, OPT_PREEMPT_NOTICE) ||
           recipe_given(recipe, OPT_MAX_TIME);
}

uint32_t workers_most(const struct recipe *recipe, uint32_t slots,
                      uint32_t local)
{
    const struct setting *span = &recipe->setting[OPT_WORKERS];
    const bool said = span->text != NULL && strchr(span->text, ':') != NULL;
    const uint32_t most = said ? (uint32_t)span->high : slots + SPARE_SEATS;
    const uint32_t least = local > slots ? local : slots;

    return most > least ? most : least;
}

static void count_workers(struct setup *setup, const struct recipe *recipe)
{
    const struct setting *span = &recipe->setting[OPT_WORKERS];
    const bool listens = recipe_given(recipe, OPT_LISTEN);

    if (workers_mpi(recipe))
        return; /* mpirun started them. */
    setup->local = (uint32_t)recipe_count(recipe, OPT_N);
    setup->slots = span->text != NULL ? (uint32_t)span->low : setup->local;
    if (owners_wanted(recipe))
        setup->slots = owners_files(recipe);
    /* A run that is kept has a coordinator, and so at least one worker. */
    if (setup->slots == 0 &&
        (listens || (keeps_state(recipe) && !setup->terms.alone))) {
        setup->slots = 1;
        setup->local = listens ? 0 : 1;
    }
    /* Whoever calls a ring is of it. */
    if (workers_ring(recipe) && setup->local == 0 &&
        (listens || owners_wanted(recipe)))
        setup->local = 1;
    if (span->text != NULL && !recipe_given(recipe, OPT_N) && !listens)
        setup->local = setup->slots;
    if (setup->slots == 0 && setup->terms.simulated)
        setup->slots = SIMULATED_WORKERS;
    setup->workers_max = workers_most(recipe, setup->slots, setup->local);
}

enum err workers_can_come(uint32_t wanted, uint32_t local, bool listens,
                          struct why *why)
{
    if (wanted <= local || listens)
        return ERR_OK;
    return why_set(
        why, ERR_SHAPE,
        "--workers %u is more than the %u that -n starts, and nobody "
        "can join without --listen; add --listen, or leave out one "
        "of the two",
        wanted, local);
}

/* Owners come by themselves, and simulated workers are always there. */
static enum err refuse_missing(const struct setup *setup,
                               const struct recipe *recipe, struct why *why)
{
    if (setup->terms.simulated || owners_wanted(recipe))
        return ERR_OK;
    return workers_can_come(setup->slots, setup->local,
                            recipe_given(recipe, OPT_LISTEN), why);
}

bool workers_wanted(const struct recipe *recipe)
{
    struct setup setup = {0};

    count_workers(&setup, recipe);
    return setup.slots > 0;
}

static bool is_said(const struct recipe *recipe, int option, const char *what)
{
    const char *said = recipe_text(recipe, option);

    return said != NULL && strcmp(said, what) == 0;
}

bool workers_ring(const struct recipe *recipe)
{
    return is_said(recipe, OPT_TOPOLOGY, RING_NAME);
}

bool workers_mpi(const struct recipe *recipe)
{
    return is_said(recipe, OPT_TOPOLOGY, MPI_NAME);
}

enum exactness workers_class(const struct recipe *recipe)
{
    const char *wanted = recipe_text(recipe, OPT_EXACT);

    for (int i = EXACT_BITWISE; wanted != NULL && i < EXACT_APPROX; i++)
        if (strcmp(wanted, exactness_name((enum exactness)i)) == 0)
            return (enum exactness)i;
    return EXACT_APPROX;
}

/* --code auto begins as the default does, and stays bitwise unless told. */
static const char *choose_auto(struct setup *setup, const struct recipe *recipe)
{
    setup->adapt = true;
    setup->worst =
        recipe_given(recipe, OPT_EXACT) ? workers_class(recipe) : EXACT_BITWISE;
    return DEFAULT_CODE;
}

/* Workers that the code is chosen for.  Of a run that others may join the one
 * it begins with is only the first: the default is theirs, and the coordinator
 * fits it to those who are there. */
static uint32_t planned(const struct setup *setup, const struct recipe *recipe)
{
    const bool joined = recipe_given(recipe, OPT_LISTEN) &&
                        recipe_text(recipe, OPT_CODE) == NULL;
    const uint32_t least = joined ? 2 : 1;

    return setup->slots < least ? least : setup->slots;
}

static enum err refuse_stragglers(const struct recipe *recipe, struct why *why)
{
    const uint64_t stragglers = recipe_count(recipe, OPT_STRAGGLERS);

    if (!recipe_given(recipe, OPT_STRAGGLERS) || stragglers == 0)
        return ERR_OK;
    return why_set(
        why, ERR_SHAPE,
        "--stragglers %llu needs at least %llu workers; there is one",
        (unsigned long long)stragglers, (unsigned long long)stragglers + 1);
}

/* One worker needs no code; the receipts call that plain. */
static enum err choose_plain(struct setup *setup, const struct recipe *recipe,
                             struct why *why)
{
    const struct preset_options plain = {
        .name = "uncoded",
        .workers = 1,
        .seed = recipe_count(recipe, OPT_SEED),
        .memory = &setup->inputs.memory,
    };
    enum err err = refuse_stragglers(recipe, why);

    if (err == ERR_OK)
        err = preset_spec(&plain, &setup->code, why);
    if (err == ERR_OK)
        (void)snprintf(setup->code.name, sizeof setup->code.name, "%s",
                       PLAIN_NAME);
    return err;
}

/* Who steps on its own rows takes plain steps unless told otherwise. */
static enum err take_local(const struct setup *setup, struct recipe *recipe,
                           struct why *why)
{
    if ((preset_traits(setup->code.name) & TRAIT(AVERAGES)) == 0)
        return ERR_OK;
    return recipe_put(recipe, OPT_OPTIM, "gd", ORIGIN_DEFAULT, why);
}

/* Rows are mostly fp32 anyway; who says so means the blocks, too. */
static bool narrow_blocks(const struct recipe *recipe,
                          const struct code_spec *code)
{
    return code_spec_products(code) && recipe_given(recipe, OPT_STORAGE) &&
           strcmp(recipe_text(recipe, OPT_STORAGE), "f32") == 0;
}

static enum err choose_any(struct setup *setup, struct recipe *recipe,
                           struct why *why)
{
    const char *text = recipe_text(recipe, OPT_CODE);
    struct preset_options preset;
    enum err err;

    code_inputs_remember(&setup->inputs);
    if (planned(setup, recipe) == 1 && text == NULL)
        return choose_plain(setup, recipe, why);
    if (text == NULL)
        text = DEFAULT_CODE;
    if (strcmp(text, AUTO_NAME) == 0)
        text = choose_auto(setup, recipe);
    err =
        code_options(recipe, text, strlen(text), &setup->inputs, &preset, why);
    preset.workers = planned(setup, recipe);
    if (err == ERR_OK)
        err = preset_spec(&preset, &setup->code, why);
    if (err == ERR_OK)
        err = take_local(setup, recipe, why);
    if (err == ERR_OK) {
        setup->code.narrow = narrow_blocks(recipe, &setup->code);
        setup->code.result = setup->terms.product;
    }
    return err == ERR_UNKNOWN || err == ERR_RANGE ? why_in(why, err, "--code")
                                                  : err;
}

/* Peers of a ring have none: all compute an even part of what is to be done. */
static enum err choose_code(struct setup *setup, struct recipe *recipe,
                            struct why *why)
{
    const enum err err = choose_any(setup, recipe, why);

    if (err == ERR_OK && workers_ring(recipe))
        (void)snprintf(setup->code.name, sizeof setup->code.name, "%s",
                       RING_NAME);
    return err;
}

static void choose_rows(const struct recipe *recipe, struct choices *choices)
{
    double part;

    if (rows_is_part(recipe_text(recipe, OPT_VALID), &part))
        choices_add(choices, TRAIT(VALID_PART), NULL);
    if (batches_scattered(recipe))
        choices_add(choices, TRAIT(SCATTERED), NULL);
    if (recipe_given(recipe, OPT_GRID))
        choices_add(choices, TRAIT(MANY), "grid");
    if (recipe_tries(recipe, OPT_N))
        choices_add(choices, TRAIT(SIZES), NULL);
    if (!recipe_given(recipe, OPT_GRID) && recipe_given(recipe, OPT_FOLDS))
        choices_add(choices, TRAIT(MANY) | TRAIT(FOLDS), "v");
}

static void choose_workers(const struct setup *setup,
                           const struct recipe *recipe, struct choices *choices)
{
    if (setup->slots > 0)
        choices_add(choices, workers_ring(recipe) ? TRAIT(RING) : TRAIT(STAR),
                    NULL);
    if (setup->slots > 0 && workers_ring(recipe) &&
        is_said(recipe, OPT_BULK, "shm"))
        choices_add(choices, TRAIT(SHM), NULL);
    if (setup->slots > 0 && is_said(recipe, OPT_BULK, "plain"))
        choices_add(choices, TRAIT(UNSEALED), NULL);
    if (workers_mpi(recipe))
        choices_add(choices, TRAIT(MPI), NULL);
    else
        choices_add(choices, setup->slots == 0 ? TRAIT(ALONE) : TRAIT(WORKERS),
                    NULL);
    if (setup->slots > 0 && setup->code.name[0] != '\0')
        choices_code(choices, &setup->code);
    if (setup->adapt)
        choices_add(choices, TRAIT(ADAPTS), NULL);
    if (setup->adapt && setup->worst != EXACT_BITWISE)
        choices_add(choices, TRAIT(ADAPTS_FAR), NULL);
    for (uint32_t i = 0; i < setup->chaos.count; i++)
        if (setup->chaos.events[i].kind == CHAOS_LIE)
            choices_add(choices, TRAIT(LIES), NULL);
    if (chaos_names_coordinator(&setup->chaos))
        choices_add(choices, TRAIT(ON_CENTRE), NULL);
    choices_class(choices, setup->exactness, workers_class(recipe));
    choices->code = setup_code_name(setup);
}

void setup_choose(const struct setup *setup, const struct recipe *recipe,
                  struct choices *choices)
{
    recipe_choose(recipe, choices);
    if (recipe_text(recipe, OPT_NET) != NULL) /* That of --init, too. */
        choices_add(choices, recipe_row(OPT_NET)->traits, "net");
    choose_rows(recipe, choices);
    choose_workers(setup, recipe, choices);
    if (recipe_text(recipe, OPT_OPTIM) != NULL)
        choices_optim(choices, recipe_text(recipe, OPT_OPTIM));
    /* A network has rates of its own. */
    if (!recipe_given(recipe, OPT_LR) && recipe_text(recipe, OPT_NET) == NULL)
        choices_add(choices, TRAIT(NO_RATE), NULL);
    if (!recipe_given(recipe, OPT_OPTIMUM))
        choices_add(choices, TRAIT(NO_OPTIMUM), NULL);
}

enum err setup_rules(const struct setup *setup, const struct recipe *recipe,
                     struct why *why)
{
    struct choices choices = {0};

    setup_choose(setup, recipe, &choices);
    return rules_check(&choices, why);
}

/* Rows of a product that are far smaller than others have the others' error:
 * that of rounding at least, also where there is no certificate. */
static enum err check_small_rows(const struct setup *setup,
                                 const struct code *code, struct why *why)
{
    const double worst = fmax(code->certificate.worst_residual, DBL_EPSILON);

    if (setup->residual_max == 0 || worst <= setup->residual_max)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "code %s restores the smallest rows of A, which are %.1e "
                   "times smaller than the largest, only to %.1e of themselves "
                   "where --exact numeric wants %.0e; --code uncoded keeps "
                   "them, or bring rows to one size",
                   setup->code.name, setup->uneven, worst * setup->uneven,
                   CODE_RESIDUAL_MAX);
}

/* A numeric code that does not keep its promise is approximate; who asked for
 * more is told what would. */
static enum err check_certificate(const struct setup *setup,
                                  const struct recipe *recipe,
                                  const struct code *code, struct why *why)
{
    const double worst = code->certificate.worst_residual;
    const bool product = setup->terms.product;

    if (worst <= CODE_RESIDUAL_MAX)
        return check_small_rows(setup, code, why);
    if (code->carrier == CARRIER_TALLY || code_spec_estimates(&code->spec) ||
        workers_class(recipe) == EXACT_APPROX)
        return ERR_OK;
    return why_set(
        why, ERR_SHAPE,
        "code %s with %u workers and %u stragglers restores the %s only to "
        "%.1e where --exact %s wants %.0e; use %s",
        setup->code.name, code->slots, code->spec.stragglers,
        product ? "product" : "gradient", worst, recipe_text(recipe, OPT_EXACT),
        CODE_RESIDUAL_MAX,
        product ? "a k nearer to the number of workers, or uncoded, which is "
                  "exact"
                : "`rep`, which is exact");
}

/* Of a step: numbers that are computed with, each once for every class, or a
 * network's flops, which take about as long. */
static double numbers_of(const struct setup *of, const struct sampler *sampler)
{
    const struct dataset *const data = &of->data;
    const struct neural_model *const net = setup_net(of);
    const struct problem problem = setup_problem(of);
    const double rows =
        sampler->kind == SAMPLER_WHOLE ? data->rows : sampler->batch;

    if (net != NULL)
        return rows * NEURAL_TRAIN * (double)neural_flops(&net->neural);
    if (dataset_is_sparse(data))
        return rows / data->rows * (double)data->entries *
               problem_outputs(&problem);
    return rows * data->cols * problem_outputs(&problem);
}

/* Do answers cost what computing could have?  Where all workers share this
 * machine with the coordinator, and no delay says that there is more to do than
 * there is. */
static bool share_machine(const struct setup *setup, const struct setup *of)
{
    return setup->local > 0 && setup->local == setup->slots &&
           of->delay.count == 0 && !of->terms.simulated;
}

void workers_cut(struct setup *setup, const struct setup *of,
                 const struct sampler *sampler)
{
    struct code_spec *const code = &setup->code;
    double most = CODE_STEAL_PIECES;

    if (code->schedule != SCHED_STEAL || code->pieces != 0)
        return;
    if (share_machine(setup, of))
        most = numbers_of(of, sampler) / setup->slots / PIECE_NUMBERS;
    if (setup_family(of)->dims(of) >= DIMS_LONG && most > LONG_PIECES)
        most = LONG_PIECES;
    if (most < CODE_STEAL_PIECES)
        code->pieces = most < PIECES_LEAST ? PIECES_LEAST : (uint32_t)most;
}

/* Build once for real: the only honest answer to whether it fits. */
enum err workers_try_code(struct setup *setup, const struct recipe *recipe,
                          uint32_t chunks, struct why *why)
{
    struct code code = {0};
    enum err err;

    if (setup->slots == 0) {
        setup->exactness = EXACT_BITWISE;
        return ERR_OK;
    }
    err = code_build(&code, &setup->code, planned(setup, recipe), chunks, why);
    setup->exactness = code.exactness;
    if (setup->adapt && setup->worst == EXACT_APPROX)
        setup->exactness = EXACT_APPROX;
    setup->certificate = code.certificate;
    if (err == ERR_OK)
        err = check_certificate(setup, recipe, &code, why);
    code_close(&code);
    if (err != ERR_OK)
        return err;
    return setup_rules(setup, recipe, why);
}

static enum err choose_machine(struct setup *setup, struct recipe *recipe,
                               struct why *why)
{
    const uint32_t each = setup->local + setup->terms.ranks;
    uint32_t threads = threads_available() / (each == 0 ? 1 : each);
    enum err err = isa_choose(recipe_text(recipe, OPT_ISA), why);

    if (err != ERR_OK)
        return err;
    setup->isa = isa_best();
    if (threads == 0)
        threads = 1;
    if (recipe_text(recipe, OPT_THREADS) == NULL) {
        setup->threads = threads;
        return recipe_record_count(recipe, OPT_THREADS, threads, why);
    }
    setup->threads = (uint32_t)recipe_count(recipe, OPT_THREADS);
    return ERR_OK;
}

/* One row after the other: one pass unless said otherwise. */
static enum err take_sgd(struct recipe *recipe, struct why *why)
{
    const char *optim = recipe_text(recipe, OPT_OPTIM);

    if (optim == NULL || strcmp(optim, "sgd") != 0)
        return ERR_OK;
    return recipe_put(recipe, OPT_STEPS, "1", ORIGIN_DEFAULT, why);
}

static enum err check_name(const struct recipe *recipe, struct why *why)
{
    const char *const name = recipe_text(recipe, OPT_NAME);

    if (name == NULL)
        return ERR_OK;
    if (!workers_ring(recipe))
        return why_set(why, ERR_SHAPE,
                       "--name is a peer's: add --topology ring");
    if (!codec_name_valid(name) || strlen(name) >= NAME_SIZE)
        return why_set(why, ERR_SHAPE,
                       "--name \"%.80s\": use letters, digits, '.', '_' and "
                       "'-', at most 64",
                       name);
    return ERR_OK;
}

enum err setup_workers(struct setup *setup, struct recipe *recipe,
                       struct why *why)
{
    const char *delay = recipe_text(recipe, OPT_DELAY);
    const char *chaos = recipe_text(recipe, OPT_CHAOS);
    enum err err;

    *setup = (struct setup){.terms = setup->terms};
    if (workers_mpi(recipe) && setup->terms.ranks == 0)
        return why_set(why, ERR_UNSUPPORTED,
                       "--topology mpi is of the program that mpirun starts "
                       "(`mpirun -np 8 muster train --topology mpi ...`); take "
                       "star or ring");
    err = habit_settings(recipe, why);
    if (err != ERR_OK)
        return err;
    count_workers(setup, recipe);
    err = refuse_missing(setup, recipe, why);
    if (err == ERR_OK)
        err = check_name(recipe, why);
    if (err == ERR_OK)
        err = owners_check(recipe, why);
    if (err == ERR_OK)
        err = batches_gather(recipe, setup->slots, why);
    if (err == ERR_OK)
        err = batches_hold_out(recipe, why);
    if (err == ERR_OK)
        err = setup_rules(setup, recipe, why);
    if (err == ERR_OK)
        err = take_sgd(recipe, why);
    if (err == ERR_OK)
        err = choose_code(setup, recipe, why);
    if (err == ERR_OK && setup->slots > 0)
        err = batches_keep_local(setup, recipe, why);
    if (err == ERR_OK && chaos != NULL)
        err = chaos_parse(chaos, &setup->chaos, why);
    if (err == ERR_OK)
        err = setup_rules(setup, recipe, why);
    if (err == ERR_OK && owners_wanted(recipe))
        err = owners_choose(setup, recipe, why);
    if (err == ERR_OK)
        err = trust_choose(setup, recipe, why);
    if (err == ERR_OK)
        err = choose_machine(setup, recipe, why);
    if (err == ERR_OK && delay != NULL)
        err = delay_load(delay, recipe_count(recipe, OPT_SEED), &setup->delay,
                         &setup->delay_files, why);
    if (err == ERR_FORMAT)
        err = ERR_RANGE; /* The command line's fault, not a file's. */
    /* Chunks are not known yet; any number finds n < s+1 before the data are
     * read, which may take a while. */
    if (err == ERR_OK && !owners_wanted(recipe))
        err = workers_try_code(setup, recipe, planned(setup, recipe), why);
    return err;
}
