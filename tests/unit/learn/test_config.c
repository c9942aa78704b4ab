/*
 * Every choice of a recipe either decides the bits and is in the configuration,
 * or does not and is not: a run must not go on under another configuration, and
 * must go on where only who computes, or where to stop, was changed.  A new
 * choice fails here until it has a row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "data/read/memory.h"
#include "learn/setup.h"

enum { ROWS = 240, COLS = 4 };

enum says {
    UNSAID,
    DECIDES, /* Another value is another configuration. */
    FREE,    /* Any value is the same one. */
    ROWS_OF, /* Says what rows of a file are, or the weights to begin with:
                their digest is in. */
    OUTSIDE, /* Names a file, a folder or other runs, which setup leaves
                alone. */
};

struct choice {
    enum says says;
    const char *text; /* A value that is not the default ... */
    const char *with; /* ... beside these, "key=text key=text". */
};

static const struct choice choices[RECIPE_OPTIONS] = {
    [OPT_DATA] = {ROWS_OF},
    [OPT_INPUT] = {ROWS_OF},
    [OPT_LABEL] = {ROWS_OF},
    [OPT_LABELS] = {ROWS_OF},
    [OPT_TEST_LABELS] = {OUTSIDE},
    [OPT_CATEGORICAL] = {ROWS_OF},
    [OPT_PAIRS] = {ROWS_OF},
    [OPT_SCALE] = {ROWS_OF},
    [OPT_MISSING] = {ROWS_OF},
    [OPT_DROP] = {ROWS_OF},
    [OPT_WEIGHT] = {ROWS_OF},
    [OPT_HEADER] = {ROWS_OF},
    [OPT_SEPARATOR] = {ROWS_OF},
    [OPT_ZERO_BASED] = {ROWS_OF},
    [OPT_SHAPE] = {ROWS_OF},
    [OPT_STORAGE] = {ROWS_OF},
    [OPT_CACHE] = {OUTSIDE},
    [OPT_DATA_SHARED] = {OUTSIDE},
    [OPT_SHIP] = {OUTSIDE},
    [OPT_CA] = {OUTSIDE},
    [OPT_OWNERS] = {ROWS_OF},
    [OPT_DATA_PRIVATE] = {ROWS_OF},
    [OPT_OWNER_WAIT] = {OUTSIDE},
    [OPT_NET] = {DECIDES, "dense3 relu dense2", "optim=gd"},
    [OPT_INIT] = {ROWS_OF},
    [OPT_MODEL] = {DECIDES, "svm", ""},
    [OPT_LOSS] = {DECIDES, "hinge", "model=svm"},
    [OPT_TEST] = {OUTSIDE},
    [OPT_VALID] = {DECIDES, "0.25", ""},
    [OPT_METRIC] = {FREE, "auc", ""},
    [OPT_NO_INTERCEPT] = {DECIDES, "yes", ""},
    [OPT_L2] = {DECIDES, "0.5", ""},
    [OPT_WEIGHT_DECAY] = {DECIDES, "0.5", ""},
    [OPT_CLASS_WEIGHT] = {DECIDES, "balanced", ""},
    [OPT_CHUNK_ROWS] = {DECIDES, "16", ""},
    [OPT_SEED] = {DECIDES, "7", "optim=sgd"},
    [OPT_OPTIM] = {DECIDES, "gd", ""},
    [OPT_LR] = {DECIDES, "0.001", "optim=gd"},
    [OPT_SCHEDULE] = {DECIDES, "inverse", "optim=gd"},
    [OPT_DECAY] = {DECIDES, "0.5", "optim=gd"},
    [OPT_DECAY_EVERY] = {DECIDES, "5", "optim=gd schedule=step"},
    [OPT_WARMUP] = {DECIDES, "5", "optim=gd"},
    [OPT_CLIP] = {DECIDES, "0.5", "optim=gd"},
    [OPT_MOMENTUM] = {DECIDES, "0.5", "optim=momentum"},
    [OPT_BATCH] = {DECIDES, "64", "optim=gd"},
    [OPT_BATCH_PER_WORKER] = {DECIDES, "64", "optim=gd n=2"},
    [OPT_SHUFFLE] = {DECIDES, "local", "optim=gd batch=64"},
    [OPT_PASSES] = {FREE, "7", "optim=gd"},
    [OPT_PATIENCE] = {DECIDES, "3", "optim=gd valid=0.25"},
    [OPT_STEPS] = {FREE, "7", ""},
    [OPT_TOL] = {FREE, "0.001", ""},
    [OPT_GAP] = {FREE, "0.001", "optimum=0.1"},
    [OPT_ACCURACY] = {DECIDES, "0.01", "model=hinge"},
    [OPT_OPTIMUM] = {FREE, "0.2", ""},
    [OPT_MAX_TIME] = {FREE, "5", ""},
    [OPT_FOLDS] = {OUTSIDE},
    [OPT_GRID] = {OUTSIDE},
    [OPT_SOLVER] = {DECIDES, "1", ""},
    [OPT_COST] = {DECIDES, "3", ""},
    [OPT_EPS] = {FREE, "0.1", "c=1"},
    [OPT_BIAS] = {DECIDES, "1", "c=1"},
    [OPT_SVR_EPS] = {FREE, "0", "s=11"},
    [OPT_N] = {FREE, "3", ""},
    [OPT_WORKERS] = {FREE, "1:9", "n=2"},
    [OPT_CODE] = {DECIDES, "cyclic", "n=4"},
    [OPT_STRAGGLERS] = {DECIDES, "2", "n=4 code=cyclic"},
    [OPT_EXACT] = {FREE, "numeric", "n=2"},
    [OPT_VERIFY] = {FREE, "yes", "n=2"},
    [OPT_AUDIT] = {FREE, "1%", "n=2"},
    [OPT_THREADS] = {FREE, "2", ""},
    [OPT_ISA] = {FREE, "portable", ""},
    [OPT_DELAY] = {FREE, "exp:0.1", "n=2"},
    [OPT_CHAOS] = {FREE, "kill:w1@3", "n=2"},
    [OPT_LISTEN] = {FREE, "127.0.0.1:0", "n=2"},
    [OPT_INTERFACE] = {OUTSIDE},
    [OPT_TOPOLOGY] = {FREE, "ring", "n=2"},
    [OPT_PEERS] = {OUTSIDE},
    [OPT_NAME] = {OUTSIDE},
    [OPT_FANOUT] = {FREE, "2", "n=4"},
    [OPT_TOKEN_FILE] = {OUTSIDE},
    [OPT_RESPAWN] = {FREE, "yes", "n=2"},
    [OPT_OUT] = {OUTSIDE},
    [OPT_RESUME] = {OUTSIDE},
    [OPT_SYNC] = {FREE, "yes", "n=2"},
    [OPT_BULK] = {FREE, "tcp", "n=2"},
    [OPT_PREEMPT_NOTICE] = {OUTSIDE},
    [OPT_PREEMPT_ADDRESS] = {OUTSIDE},
};

static double x[ROWS][COLS];
static double y[ROWS];
static const struct memory_rows rows = {
    .rows = ROWS,
    .cols = COLS,
    .cell = CELL_F64,
    .x = x,
    .row_step = sizeof *x,
    .col_step = sizeof **x,
    .label = y,
};

static int draw_rows(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLS; j++) {
            seed = seed * 1664525u + 1013904223u;
            x[i][j] = (double)(seed >> 20) / 4096 - 0.5;
        }
        y[i] = x[i][0] - 2 * x[i][1] > 0.2 ? 1 : -1;
    }
    return 0;
}

/* "key=text key=text" */
static void set_all(struct recipe *recipe, const char *list, struct why *why)
{
    while (*list != '\0') {
        char key[32], text[64];
        int used = 0;

        assert_int_equal(sscanf(list, "%31[^=]=%63s%n", key, text, &used), 2);
        if (recipe_set(recipe, key, text, why) != ERR_OK)
            fail_msg("%s", why->text);
        list += used;
        list += strspn(list, " ");
    }
}

/* Of a recipe of `with` and, unless it is NULL, a text for `id`. */
static struct digest config_of(const char *with, int id, const char *text)
{
    struct setup setup = {.terms = {.rows = &rows}};
    struct recipe recipe = {0};
    struct why why = {{0}};
    struct digest config;
    enum err err = recipe_init(&recipe, &why);

    assert_int_equal(err, ERR_OK);
    set_all(&recipe, "threads=1", &why);
    set_all(&recipe, with, &why);
    if (text != NULL)
        err = recipe_put(&recipe, id, text, ORIGIN_FLAG, &why);
    if (err == ERR_OK)
        err = setup_workers(&setup, &recipe, &why);
    if (err == ERR_OK)
        err = setup_load(&setup, &recipe, &why);
    if (err != ERR_OK)
        fail_msg("--%s %s: %s", recipe_row(id)->name, text == NULL ? "" : text,
                 why.text);
    config = config_digest(&setup);
    setup_close(&setup);
    recipe_close(&recipe);
    return config;
}

static void test_every_choice_is_in_or_out(void **state)
{
    (void)state;
    for (int id = 0; id < RECIPE_OPTIONS; id++) {
        const struct choice *const choice = &choices[id];
        struct digest without, with;

        if (choice->says == UNSAID)
            fail_msg("--%s: does it decide bits?  Then it belongs into "
                     "learn/config_digest.c; say here which",
                     recipe_row(id)->name);
        if (choice->text == NULL)
            continue;
        without = config_of(choice->with, id, NULL);
        with = config_of(choice->with, id, choice->text);
        if (digest_equal(&without, &with) != (choice->says == FREE))
            fail_msg("--%s %s %s the configuration", recipe_row(id)->name,
                     choice->text,
                     choice->says == FREE ? "changes" : "does not change");
    }
}

/* What rows are, whoever says it. */
static void test_rows_are_in(void **state)
{
    const struct digest before = config_of("", OPT_DATA, NULL);
    struct digest after;

    (void)state;
    x[7][2] += 0.25;
    after = config_of("", OPT_DATA, NULL);
    assert_false(digest_equal(&before, &after));
    x[7][2] -= 0.25;
    y[7] = -y[7];
    after = config_of("", OPT_DATA, NULL);
    assert_false(digest_equal(&before, &after));
}

/* A search over a smooth loss only ends by its accuracy. */
static void test_accuracy_of_smooth_losses_is_out(void **state)
{
    const struct digest fine = config_of("accuracy=1e-12", OPT_DATA, NULL);
    const struct digest coarse = config_of("accuracy=0.01", OPT_DATA, NULL);

    (void)state;
    assert_true(digest_equal(&fine, &coarse));
}

/* Coded data round by who computes which piece, and from which blocks: every
 * word of the code is in. */
static void test_words_of_coded_data_are_in(void **state)
{
    static const char *const codes[] = {
        "cec:l=2:p=6",
        "cec:l=2:p=7",
        "cec:l=3:p=6",
        "cec:l=2:p=6:copies=2",
        "cec:l=2:p=6:rule=cyclic",
        "cec:l=2:p=6:pieces=2",
        "mds:s=1",
        "mds:s=2",
    };
    const size_t count = sizeof codes / sizeof *codes;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct digest one =
            config_of("n=4 optim=gd chunk-rows=24", OPT_CODE, codes[i]);

        for (size_t k = 0; k < count; k++) {
            const struct digest other =
                config_of("n=4 optim=gd chunk-rows=24", OPT_CODE, codes[k]);

            if (digest_equal(&one, &other) != (i == k))
                fail_msg("--code %s goes on as %s", codes[i], codes[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_choice_is_in_or_out),
        cmocka_unit_test(test_rows_are_in),
        cmocka_unit_test(test_words_of_coded_data_are_in),
        cmocka_unit_test(test_accuracy_of_smooth_losses_is_out),
    };

    return cmocka_run_group_tests_name("config", tests, draw_rows, NULL);
}
