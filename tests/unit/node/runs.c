#define _GNU_SOURCE
#include "node/runs.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "code/preset.h"
#include "data/source.h"
#include "node/fixed/evaluate.h"

#define WORKERS 4u

static void make_data(struct runs *runs)
{
    const struct source_options source = {
        .spec = "gen:gmm:2000,20", .seed = 5, .chunk_rows = 32};
    struct why why = {0};

    if (source_load(&source, &runs->data, NULL, NULL, &why) != ERR_OK)
        fail_msg("%s", why.text);
}

void runs_code(struct runs *runs, const char *name, uint32_t stragglers)
{
    const struct preset_options preset = {.name = name,
                                          .stragglers = stragglers,
                                          .workers = runs->options.slots,
                                          .seed = 3};
    struct why why = {0};

    if (preset_spec(&preset, &runs->options.code, &why) != ERR_OK)
        fail_msg("%s", why.text);
}

void runs_chaos(struct runs *runs, const char *text)
{
    struct why why = {0};

    if (chaos_parse(text, &runs->options.chaos, &why) != ERR_OK)
        fail_msg("%s", why.text);
}

void runs_open(struct runs *runs, uint32_t steps)
{
    struct why why = {0};

    memset(runs, 0, sizeof *runs);
    make_data(runs);
    runs->options = (struct train_options){
        .data = &runs->data,
        .model = MODEL_LOGISTIC,
        .isa = isa_best(),
        .threads = 1,
        .optim = {.kind = OPTIM_GD,
                  .rate = 0.1,
                  .decay = 1,
                  .l2 = 1e-3,
                  .steps = steps,
                  .rows = runs->data.rows},
        .slots = WORKERS,
        .local_workers = WORKERS,
        .workers_max = 2 * WORKERS,
        .out = runs->out,
        .config = {{1, 2, 3}},
    };
    runs_code(runs, "steal", 1);
    (void)snprintf(runs->out, sizeof runs->out, "run.XXXXXX");
    assert_non_null(mkdtemp(runs->out));
    if (alone_train(&(struct objective_options){.data = &runs->data,
                                                .model = MODEL_LOGISTIC,
                                                .isa = isa_best(),
                                                .optim = &runs->options.optim},
                    pool_serial(), NULL, &runs->perfect, &why) != ERR_OK)
        fail_msg("%s", why.text);
}

static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    char name[1024];

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        (void)snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        (void)unlink(name);
    }
    closedir(dir);
    assert_int_equal(rmdir(path), 0);
}

void runs_close(struct runs *runs)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    mem_free(runs->perfect.weights);
    dataset_close(&runs->data);
    remove_folder(runs->out);
}

void runs_expect_same(struct runs *runs, struct train_result *result)
{
    struct why why = {0};
    const struct problem problem =
        problem_of(&runs->data, runs->options.model, runs->options.isa);
    char got[DIGEST_TEXT], wanted[DIGEST_TEXT];

    if (train_run(&runs->options, result, &why) != ERR_OK)
        fail_msg("%s", why.text);
    assert_true(result->finished);
    assert_int_equal(result->steps, runs->options.optim.steps);
    assert_string_equal(digest_text(&result->hash, got),
                        digest_text(&runs->perfect.hash, wanted));
    assert_int_equal(evaluate_outcome(&problem, pool_serial(),
                                      &runs->options.optim, result->weights,
                                      &result->outcome),
                     ERR_OK);
    assert_memory_equal(&result->outcome.objective,
                        &runs->perfect.outcome.objective, sizeof(double));
    train_result_close(result);
}
