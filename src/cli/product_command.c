/*
 * product_command.c - `muster product`: A times B by workers, and what it took.
 *
 * The product is written column after column, as it was made; numpy calls that
 * Fortran's order.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/pages/page.h"
#include "cli/reading.h"
#include "cli/run.h"
#include "cli/trust.h"
#include "data/read/memory.h"
#include "data/read/npy.h"
#include "learn/coded/product.h"
#include "learn/folder/claims.h"
#include "node/host/format.h"
#include "os/clock.h"
#include "os/file/file.h"
#include "os/file/output.h"
#include "os/run/interrupt.h"

#define TELL_US (10 * SECOND_US)

struct product {
    struct cli *cli;
    struct setup setup;
    struct npy_matrix a, b;
    double *columns; /* Of B. */
    struct flag stop;
    struct progress progress;
    struct waiting waiting;
    const char *folder; /* --out; NULL: one that is gone afterwards. */
    bool fresh;         /* There was no such folder. */
    int lock;           /* Of it, until the run has it; or -1. */
    struct reading reading;
    bool announced;
    bool begun;      /* In this life, ... */
    uint32_t first;  /* ... with this column. */
    time_us told_at; /* How far it is. */
};

/* --- what is asked ---------------------------------------------------------
 */

static enum err check_names(const struct options *options, struct why *why)
{
    if (option_text(options, OPT_PRODUCT) == NULL)
        return why_set(why, ERR_SHAPE,
                       "which matrices, and where to? muster product A.npy "
                       "B.npy OUT.npy");
    if (option_given(options, OPT_LISTEN) && !option_given(options, OPT_OUT))
        return why_set(why, ERR_SHAPE,
                       "--listen lets others join the run, which is then a "
                       "folder that has a name; add --out FOLDER");
    return ERR_OK;
}

static enum err read_matrix(const char *path, struct npy_matrix *matrix,
                            struct why *why)
{
    struct unpacker *in = NULL;
    enum err err = unpacker_open(path, &in, why);

    if (err == ERR_OK)
        err = npy_read(in, matrix, why);
    unpacker_close(in);
    return err == ERR_OK ? err : why_in(why, err, "%.200s", path);
}

static struct memory_rows rows_of(const struct npy_matrix *matrix)
{
    const int64_t size = sizeof *matrix->value;
    const int64_t rows = (int64_t)matrix->rows, cols = (int64_t)matrix->cols;

    return (struct memory_rows){
        .rows = matrix->rows,
        .cols = matrix->cols,
        .cell = CELL_F64,
        .x = matrix->value,
        .row_step = matrix->by_columns ? size : cols * size,
        .col_step = matrix->by_columns ? rows * size : size};
}

static enum err read_matrices(struct product *product, struct why *why)
{
    const struct options *options = &product->cli->options;
    const char *const path = option_text(options, OPT_FACTOR);
    struct memory_rows a, b;
    enum err err = read_matrix(path, &product->a, why);

    if (err == ERR_OK && product->a.vector)
        err =
            why_set(why, ERR_SHAPE,
                    "%.200s: a vector; A is a matrix of two dimensions", path);
    if (err == ERR_OK)
        err = read_matrix(option_text(options, OPT_COLUMNS), &product->b, why);
    if (err != ERR_OK)
        return err;
    a = rows_of(&product->a);
    b = rows_of(&product->b);
    err = product_load(&product->setup, &options->recipe, &a, &b,
                       &product->columns, why);
    /* The data set has A, and the columns are B. */
    mem_free(product->a.value);
    mem_free(product->b.value);
    product->a.value = product->b.value = NULL;
    return err;
}

/* The folder is left as it was, if no run is in it yet. */
static void leave_folder(struct product *product)
{
    if (product->lock >= 0)
        format_leave(product->folder, product->lock);
    if (product->lock >= 0 && product->fresh)
        file_remove_folder(product->folder);
    product->lock = -1;
}

/* Somebody asks for an end before the first column. */
static void end_reading(void *context, int number)
{
    struct product *product = context;
    const bool resume = option_given(&product->cli->options, OPT_RESUME);
    int status = reading_status(number, resume);

    reading_forget(&product->reading);
    leave_folder(product);
    status = say_error(product->cli, status,
                       "stopped while matrices were read; nothing is written, "
                       "and the same command %s%s",
                       resume ? "goes on from " : "begins anew",
                       resume ? product->folder : "");
    _exit(status);
}

static enum err begin_reading(struct product *product, struct why *why)
{
    enum err err = ERR_OK;

    product->setup.lock = &product->lock;
    product->reading = (struct reading){
        .folder = product->folder, .end = end_reading, .context = product};
    if (product->folder != NULL) {
        product->fresh = !file_exists(product->folder);
        err = format_take(product->folder, &product->lock, why);
    }
    return err == ERR_OK ? reading_begin(&product->reading, why) : err;
}

static enum err prepare(struct product *product, struct why *why)
{
    struct options *options = &product->cli->options;
    enum err err = check_names(options, why);

    if (err == ERR_OK)
        err = fit_go_on(&options->recipe, why);
    product->folder = option_text(options, OPT_OUT);
    if (err == ERR_OK && product->folder != NULL)
        err = claims_free(product->folder, NULL, why);
    if (err == ERR_OK)
        err = product_workers(&product->setup, &options->recipe, why);
    if (err == ERR_OK)
        err = cluster_check_listen(options, why);
    interrupt_block();
    if (err == ERR_OK)
        err = begin_reading(product, why);
    interrupt_unblock();
    if (err == ERR_OK)
        err = read_matrices(product, why);
    if (err != ERR_OK)
        reading_end(&product->reading);
    return err;
}

/* --- the run -------------------------------------------------------------- */

static void tell_column(struct product *product, time_us now)
{
    if (product->told_at == 0)
        product->told_at = now;
    if (now - product->told_at < TELL_US)
        return;
    product->told_at = now;
    say_note(product->cli, "muster: column %u of %u", product->progress.step,
             product->setup.optim.steps);
}

static void say(const struct product *product, const char *sentence)
{
    if (sentence != NULL)
        say_note(product->cli, "muster: %s", sentence);
}

static void see(void *context, const struct trace *trace)
{
    struct product *product = context;
    const time_us now = clock_now_us();
    char event[TRACE_TEXT], wait[WAITING_TEXT];
    const struct train_process *process;
    uint32_t count;

    if (!product->announced && option_given(&product->cli->options, OPT_LISTEN))
        product->announced =
            cluster_announce(product->cli, product->folder, false);
    if (trace != NULL && trace->kind == TRACE_ROUND && !product->begun) {
        product->begun = true;
        product->first = trace->key.step;
    }
    if (trace != NULL) {
        progress_event(&product->progress, trace);
        say(product, progress_sentence(&product->progress, trace, event));
    }
    process = train_processes(&count);
    for (uint32_t i = 0; i < count; i++)
        if (process[i].pid == 0)
            progress_gone(&product->progress, process[i].name);
    say(product,
        waiting_look(&product->waiting, &product->progress, now, wait));
    tell_column(product, now);
}

static void describe(const struct product *product)
{
    const struct setup *setup = &product->setup;
    const struct certificate *seen = &setup->certificate;
    const uint32_t enough_of = code_spec_enough(&setup->code, setup->slots);
    const bool all = enough_of == setup->slots;
    char enough[48];

    (void)snprintf(enough, sizeof enough,
                   all && enough_of == 1 ? "it must answer"
                   : all                 ? "all %u must answer"
                   : enough_of == 1      ? "any %u answer does"
                                         : "any %u answers do",
                   enough_of);
    say_note(product->cli,
             "muster: %u by %u times %u column%s; %u worker%s, code %s: %s",
             setup->data.rows, setup->data.cols, setup->optim.steps,
             setup->optim.steps == 1 ? "" : "s", setup->slots,
             setup->slots == 1 ? "" : "s", setup->code.name, enough);
    if (seen->patterns > 0 && !all)
        say_note(product->cli,
                 "muster: code %s: residual %.1e at worst over %s%u patterns "
                 "of %u silent worker%s; class %s",
                 setup->code.name, seen->worst_residual,
                 seen->exhaustive ? "all " : "", seen->patterns,
                 setup->slots - enough_of,
                 setup->slots - enough_of == 1 ? "" : "s",
                 exactness_name(setup->exactness));
    /* Whoever is forked must not print again what waits here. */
    (void)fflush(NULL);
}

static enum err run(struct product *product, struct train_result *result,
                    struct why *why)
{
    struct fit fit = {.setup = &product->setup,
                      .recipe = &product->cli->options.recipe,
                      .stop = &product->stop,
                      .context = product,
                      .trace = see,
                      .folder = product->folder};
    enum err err;

    progress_init(&product->progress);
    product->waiting =
        waiting_for(product->setup.slots, product->setup.local,
                    option_given(&product->cli->options, OPT_RESUME));
    describe(product);
    interrupt_begin(&product->stop);
    reading_over(&product->reading, &product->stop);
    err = fit_run(&fit, result, why);
    if (!result->finished && result->signal == 0)
        result->signal = interrupt_signal(); /* Before any worker heard it. */
    interrupt_hold();
    fit_close(&fit);
    return err;
}

/* --- what comes of it ----------------------------------------------------- */

static enum err write_product(const struct product *product,
                              const struct train_result *result,
                              struct why *why)
{
    const char *const path = option_text(&product->cli->options, OPT_PRODUCT);
    struct page head = {0};
    struct output *output = NULL;
    char shape[32];
    enum err err;

    if (product->b.vector)
        (void)snprintf(shape, sizeof shape, "%u,", product->setup.data.rows);
    else
        (void)snprintf(shape, sizeof shape, "%u, %u", product->setup.data.rows,
                       product->setup.optim.steps);
    page_npy_head(&head, "<f8", shape, !product->b.vector);
    err = head.failed ? why_set(why, ERR_NOMEM, "out of memory")
                      : output_open(&output, path, OUTPUT_WHOLE, 0644, why);
    if (output != NULL) {
        output_write(output, head.data, head.size);
        output_write(output, result->weights,
                     (size_t)result->dims * sizeof *result->weights);
        err = output_commit(output, why);
    }
    page_close(&head);
    return err;
}

/* What the smallest rows are off by at worst, of themselves: the residual is of
 * the largest. */
static double small_rows_error(const struct product *product,
                               const struct train_result *result)
{
    return result->stats.worst_residual * product->setup.uneven;
}

/* The code that the last columns were computed by: whoever was gone by then is
 * not waited for. */
static uint32_t last_enough(const struct product *product,
                            const struct train_result *result)
{
    const struct setup *const setup = &product->setup;

    return result->stats.slots > 0
               ? result->stats.enough
               : code_spec_enough(&setup->code, setup->slots);
}

static uint32_t last_slots(const struct product *product,
                           const struct train_result *result)
{
    return result->stats.slots > 0 ? result->stats.slots : product->setup.slots;
}

static void show_json(const struct product *product,
                      const struct train_result *result, const char *path)
{
    const struct setup *setup = &product->setup;
    char hash[DIGEST_TEXT];
    json_t *const object = json_pack(
        "{s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:I, s:I, "
        "s:s}",
        "rows", (json_int_t)setup->data.rows, "inner",
        (json_int_t)setup->data.cols, "columns", (json_int_t)setup->optim.steps,
        "code", setup->code.name, "workers", (json_int_t)setup->slots, "enough",
        (json_int_t)code_spec_enough(&setup->code, setup->slots),
        "workers_at_end", (json_int_t)last_slots(product, result),
        "enough_at_end", (json_int_t)last_enough(product, result), "seconds",
        json_number(result->elapsed_s), "residual",
        json_number(result->stats.worst_residual), "small_rows_error",
        json_number(small_rows_error(product, result)), "approximate",
        (json_int_t)result->stats.exactness[EXACT_APPROX], "coordinator_deaths",
        (json_int_t)result->coordinator_deaths, "hash",
        digest_text(&result->hash, hash));

    /* By itself: a name that is no UTF-8 can be in no JSON, and the rest can.
     */
    (void)json_object_set_new(object, "written", json_string(path));
    if (result->stats.poison > 0)
        (void)json_object_set_new(object, "trust", trust_json(&result->stats));
    say_json(object);
}

static void show_text(const struct product *product,
                      const struct train_result *result, const char *path)
{
    const struct setup *setup = &product->setup;
    const uint32_t columns = setup->optim.steps;
    const double limit = code_spec_residual_max(&setup->code);
    const uint32_t enough = code_spec_enough(&setup->code, setup->slots);
    const uint32_t still = last_enough(product, result);
    const uint32_t left = last_slots(product, result);
    char each[48] = "none of them now", end[48] = "";

    /* Those of an earlier life took their time then. */
    if (product->begun && product->first < columns)
        (void)snprintf(each, sizeof each, "%.3f s a column",
                       result->elapsed_s / (columns - product->first));
    if (left != setup->slots || still != enough)
        (void)snprintf(end, sizeof end, ", %u of %u at the end", still, left);
    (void)printf("product    %u by %u in %.3f s, %s; code %s, %u of %u "
                 "answers%s\n",
                 setup->data.rows, columns, result->elapsed_s, each,
                 setup->code.name, enough, setup->slots, end);
    (void)printf("residual   %.1e at worst", result->stats.worst_residual);
    if (result->stats.exactness[EXACT_APPROX] > 0)
        (void)printf("; more than %.0e is class approx", limit);
    if (setup->uneven > PRODUCT_UNEVEN_MOST)
        (void)printf("; of A's smallest rows %.0e",
                     small_rows_error(product, result));
    say_name("\nwritten    ", path, "\n");
    trust_text(&result->stats);
}

static void show(const struct product *product,
                 const struct train_result *result)
{
    const char *const path = option_text(&product->cli->options, OPT_PRODUCT);

    if (product->cli->json)
        show_json(product, result, path);
    else
        show_text(product, result, path);
}

/* As `train` has it where the state is saved; else there is nothing to go on
 * with. */
static int exit_code(const struct product *product,
                     const struct train_result *result)
{
    const bool kept = product->folder != NULL && result->signal != SIGINT;

    return result->signal == 0 || kept ? EXIT_PREEMPTED
                                       : EXIT_SIGNAL + result->signal;
}

static int finish(struct product *product, const struct train_result *result)
{
    struct why why = {0};
    enum err err;

    if (!result->finished)
        return say_error(
            product->cli, exit_code(product, result),
            "stopped after column %u of %u; nothing is written%s%s",
            result->steps, product->setup.optim.steps,
            product->folder == NULL ? ""
                                    : ", and the same command goes on from ",
            product->folder == NULL ? "" : product->folder);
    err = write_product(product, result, &why);
    if (err != ERR_OK)
        return say_why(product->cli, err, &why);
    show(product, result);
    return EXIT_DONE;
}

static int execute(struct product *product)
{
    struct train_result result = {0};
    struct why why = {0};
    enum err err = prepare(product, &why);
    int status;

    if (err == ERR_OK)
        err = run(product, &result, &why);
    /* Once it has begun it is not the command that is wrong. */
    if (err == ERR_OK)
        status = finish(product, &result);
    else if (product->begun && err != ERR_CANCELLED)
        status = say_error(product->cli, EXIT_FAILED, "%s", why.text);
    else
        status = say_why(product->cli, err, &why);
    interrupt_end();
    leave_folder(product);
    train_result_close(&result);
    setup_close(&product->setup);
    mem_free(product->columns);
    mem_free(product->a.value);
    mem_free(product->b.value);
    return status;
}

/* Also with --quiet, which is about progress: all that a product is warned of
 * here is that numbers of it are wrong. */
static void warn(void *context, const char *sentence)
{
    (void)context;
    say_aloud("muster: %s", sentence);
}

/* It is large, and stacks may be small. */
int product_command(struct cli *cli)
{
    struct product *product = mem_new(1, sizeof *product);
    int status;

    if (product == NULL)
        return say_error(cli, EXIT_FAILED, "out of memory");
    product->cli = cli;
    product->lock = -1;
    product->setup.terms.note = warn;
    status = execute(product);
    mem_free(product);
    return status;
}
