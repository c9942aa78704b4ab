/*
 * files.c - collisions between what a command reads and what it writes: a table
 * of all options that name files, checked before anything is opened.
 */
#include "cli/files.h"

#include <stdio.h>
#include <string.h>

#include "base/ending.h"
#include "learn/save.h"
#include "os/file/file.h"
#include "os/file/output.h"

enum role {
    READ,
    WRITE,
    WRITE_MODEL,
    WRITE_CONVERTED,
    WRITE_PREDICTIONS,
    WRITE_PRODUCT,
    WRITE_UNDER, /* May be a folder, too. */
    WRITE_FOLDER,
};

struct named {
    int id;
    uint32_t commands;
    enum role role;
    const char *prefix; /* The file's name comes after it; NULL: none. */
    int action;         /* Only if this option ... */
    const char *when;   /* ... has this value; NULL: always. */
};

enum { EVERY = CMD_ALL };

static const struct named list[] = {
    {OPT_DATA, EVERY, READ, NULL, 0, NULL},
    {OPT_DATA_PRIVATE, EVERY, READ, NULL, 0, NULL},
    {OPT_LABELS, EVERY, READ, NULL, 0, NULL},
    {OPT_TEST, EVERY, READ, NULL, 0, NULL},
    {OPT_TEST_LABELS, EVERY, READ, NULL, 0, NULL},
    {OPT_VALID, EVERY, READ, NULL, 0, NULL},
    {OPT_MODEL_FILE, EVERY, READ, NULL, 0, NULL},
    {OPT_FACTOR, EVERY, READ, NULL, 0, NULL},
    {OPT_COLUMNS, EVERY, READ, NULL, 0, NULL},
    {OPT_INIT, EVERY, READ, NULL, 0, NULL},
    {OPT_NET, EVERY, READ, NULL, 0, NULL}, /* Its text is a name, too. */
    {OPT_CONFIG, EVERY, READ, NULL, 0, NULL},
    {OPT_TOKEN_FILE, EVERY, READ, NULL, 0, NULL},
    {OPT_FROM, CMD_TOKEN, READ, NULL, 0, NULL},
    {OPT_CA, EVERY, READ, NULL, 0, NULL},
    {OPT_DATA_SHARED, EVERY, READ, NULL, 0, NULL},
    {OPT_DELAY, EVERY, READ, "trace:", 0, NULL},
    {OPT_CODE, EVERY, READ, "matrix:", 0, NULL},
    {OPT_CODE_NAME, EVERY, READ, "matrix:", 0, NULL},
    {OPT_PLAN_FROM, EVERY, WRITE, NULL, OPT_PLAN_ACTION, "generate"},
    {OPT_SAVE, EVERY, WRITE_MODEL, NULL, 0, NULL},
    {OPT_PREDICTIONS, EVERY, WRITE_PREDICTIONS, NULL, 0, NULL},
    {OPT_PRODUCT, EVERY, WRITE_PRODUCT, NULL, 0, NULL},
    {OPT_CONVERTED, EVERY, WRITE_CONVERTED, NULL, 0, NULL},
    {OPT_RECORD, EVERY, WRITE, NULL, 0, NULL},
    {OPT_TRACE, EVERY, WRITE, NULL, 0, NULL},
    {OPT_CSV, EVERY, WRITE, NULL, 0, NULL},
    {OPT_PLOT, EVERY, WRITE, NULL, 0, NULL},
    {OPT_TO, CMD_REPORT, WRITE, NULL, 0, NULL},
    {OPT_TO, CMD_DATA, WRITE_UNDER, NULL, OPT_DATA_ACTION, "get"},
    {OPT_FILE, CMD_TOKEN, WRITE, NULL, 0, NULL},
    {OPT_OUT, EVERY, WRITE_FOLDER, NULL, 0, NULL},
};

#define ROWS (sizeof list / sizeof *list)

/* The file's name; NULL if this command was given none. */
static const char *name_in(const struct options *options,
                           const struct named *row)
{
    const char *text, *action;

    if ((row->commands & (uint32_t)options->shape.command) == 0 ||
        !option_takes(options, row->id))
        return NULL;
    action = row->when == NULL ? NULL : option_text(options, row->action);
    if (row->when != NULL && (action == NULL || strcmp(action, row->when) != 0))
        return NULL;
    text = option_text(options, row->id);
    if (text != NULL && row->prefix != NULL)
        text = strncmp(text, row->prefix, strlen(row->prefix)) == 0
                   ? text + strlen(row->prefix)
                   : NULL;
    return text;
}

static enum err check_pair(const struct named *written, const char *path,
                           const struct named *other, const char *name,
                           struct why *why)
{
    const bool read = other->role == READ;

    if (!read && (other <= written ||
                  (strcmp(name, path) != 0 &&
                   !(output_is_stdout(name) && output_is_stdout(path)) &&
                   !output_is_input(name, path))))
        return ERR_OK;
    if (read && !output_is_input(name, path))
        return ERR_OK;
    if (read)
        return why_set(why, ERR_SHAPE,
                       "%.200s is read by this command (%s) and would be "
                       "written over (%s); name another file to write",
                       path, option_row(other->id)->name,
                       option_row(written->id)->name);
    return why_set(why, ERR_SHAPE,
                   "--%s and --%s would both be written to %.200s; name two "
                   "files",
                   option_row(written->id)->name, option_row(other->id)->name,
                   path);
}

/* Who calls a folder like a file means the model's. */
static enum err check_folder_name(const char *path, struct why *why)
{
    if (file_is_folder(path) || (!ending_is(path, strlen(path), ".model") &&
                                 !ending_is(path, strlen(path), ".txt") &&
                                 !ending_is(path, strlen(path), ".bin") &&
                                 save_other_form(path) == NULL))
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "--out %.200s: this names the folder of the run's journal, "
                   "not a file; the model is written to MODEL of `muster train "
                   "DATA MODEL`, or with --save",
                   path);
}

/* A model, or one of its cards. */
static bool is_models(const char *path)
{
    static const char *const cards[] = {".card.json", ".card.txt"};
    char model[FILE_PATH_SIZE];

    if (save_is_model(path))
        return true;
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        const size_t size = strlen(path);

        if (size < sizeof model && ending_is(path, size, cards[i]) &&
            output_is_filled(path)) {
            (void)snprintf(model, sizeof model, "%.*s",
                           (int)(size - strlen(cards[i])), path);
            return save_is_model(model);
        }
    }
    return false;
}

/* What else is written, plots and traces, takes the place of what it likes, but
 * not of the work of hours. */
static enum err check_model_kept(const struct options *options,
                                 const char *path, struct why *why)
{
    if (option_flag(options, OPT_FORCE) || !is_models(path))
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "%.200s is a model, or its card, and would be written over: "
                   "name another file%s",
                   path,
                   option_takes(options, OPT_FORCE) ? ", or add --force" : "");
}

/* A name is soon mistyped: a model takes the place of a model that can be read
 * to its end.  Nothing in a list of labels or an array says who made it, so
 * predictions and products take the place of nothing. */
static enum err check_replaced(const struct options *options, enum role role,
                               const char *path, struct why *why)
{
    const bool model = role == WRITE_MODEL || role == WRITE_CONVERTED;
    const bool product = role == WRITE_PRODUCT;

    if (role == WRITE)
        return check_model_kept(options, path, why);
    if ((!model && !product && role != WRITE_PREDICTIONS) ||
        option_flag(options, OPT_FORCE) ||
        !(model ? save_destroys(path) : output_is_filled(path)))
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "%.200s is there%s; %s would be written over it: name "
                   "another file, or add --force%s",
                   path, model ? " and is no model" : "",
                   model     ? "the model"
                   : product ? "the product"
                             : "the predictions",
                   role == WRITE_MODEL ? " (rows to measure on go with --test)"
                                       : "");
}

/* A product is an array: a name that promises a table is not its. */
static enum err check_product_name(const char *path, struct why *why)
{
    const char *const ending =
        ending_is(path, strlen(path), ".txt") ? ".txt" : save_other_form(path);

    if (ending == NULL || strcmp(ending, ".npy") == 0)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "%.200s: products are written as npy, not as %s; choose "
                   "another name, such as out.npy",
                   path, ending);
}

/* Predictions are text, or numbers. */
static enum err check_predictions_name(const char *path, struct why *why)
{
    const char *const ending = save_other_form(path);

    if (ending == NULL || strcmp(ending, ".csv") == 0 ||
        strcmp(ending, ".npy") == 0)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "%.200s: predictions are written as .csv, .npy or lines of "
                   "text, not as %s; choose another name, such as out.csv",
                   path, ending);
}

static bool trains_network(const struct options *options)
{
    return option_text(options, OPT_NET) != NULL ||
           model_is_network(option_text(options, OPT_INIT));
}

/* What a run trains that goes on is said in its folder, which is read yet:
 * then this is asked again, as it is of a ring that is joined. */
static bool awaits_run(const struct options *options)
{
    if (options->shape.command == CMD_JOIN)
        return true;
    return option_given(options, OPT_RESUME) &&
           option_text(options, OPT_DATA) == NULL;
}

static enum err check_written(const struct options *options,
                              const struct named *row, const char *path,
                              struct why *why)
{
    enum err err;

    for (size_t i = 0; i < ROWS; i++) {
        const char *name = name_in(options, &list[i]);

        err =
            name == NULL ? ERR_OK : check_pair(row, path, &list[i], name, why);

        if (err != ERR_OK)
            return err;
    }
    if (row->role == WRITE_FOLDER)
        return check_folder_name(path, why);
    err = row->role == WRITE_MODEL && !awaits_run(options)
              ? save_check_name(path, trains_network(options),
                                "rows to measure on go with --test; ", why)
              : ERR_OK;
    if (row->role == WRITE_PRODUCT)
        err = check_product_name(path, why);
    if (row->role == WRITE_PREDICTIONS)
        err = check_predictions_name(path, why);
    if (err != ERR_OK)
        return err;
    err = check_replaced(options, row->role, path, why);
    if (err == ERR_OK && row->role == WRITE_PREDICTIONS)
        err = check_predictions_name(path, why);
    if (err != ERR_OK)
        return err;
    if (output_is_stdout(path))
        return output_take_stdout(why);
    if (row->role == WRITE_UNDER)
        return ERR_OK;
    err = output_check(path, why);
    if (err != ERR_OK && option_use(row->id)->section != NULL)
        return why_in(why, err, "--%s", option_row(row->id)->name);
    return err;
}

enum err files_check(const struct options *options, struct why *why)
{
    enum err err = ERR_OK;

    for (size_t i = 0; i < ROWS && err == ERR_OK; i++) {
        const char *path =
            list[i].role == READ ? NULL : name_in(options, &list[i]);

        if (path != NULL)
            err = check_written(options, &list[i], path, why);
    }
    return err;
}
