/*
 * Training in lockstep: ranks that each evaluate a share of the chunks have the
 * model of one machine alone, on proved and on followed scales; what one of
 * them meets, all do.
 */
#include "node/fixed/lockstep.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/mem.h"
#include "eval/briefs.h"
#include "eval/registry.h"
#include "math/exact/follow.h"
#include "node/fixed/alone.h"

enum { RANKS_MAX = 5, DIMS = 3, CHUNKS = 7, SUMS_MAX = 64 };

/* f = sum over chunks c of |w - c|^2, times 2^shift. */
struct bowl {
    double size;
    uint32_t calls, stop_at; /* Said stop at that call; 0: never. */
};

static int gradient(void *context, const double *w, uint32_t chunk, double *sum,
                    double *loss)
{
    struct bowl *bowl = context;

    if (++bowl->calls == bowl->stop_at)
        return 1;
    for (int j = 0; j < DIMS; j++) {
        const double away = w[j] - chunk * (j + 0.5);

        sum[j] = 2 * bowl->size * away;
        *loss += bowl->size * away * away;
    }
    return 0;
}

static struct user_function function_of(struct bowl *bowl)
{
    return (struct user_function){.gradient = gradient,
                                  .context = bowl,
                                  .dims = DIMS,
                                  .chunks = CHUNKS,
                                  .rows = CHUNKS};
}

/* --- ranks that are threads ----------------------------------------------- */

struct meeting {
    pthread_barrier_t barrier;
    uint32_t ranks;
    int64_t *given[RANKS_MAX];
    int64_t total[RANKS_MAX][SUMS_MAX];
};

struct rank {
    struct meeting *meeting;
    uint32_t number;
    struct bowl bowl;
    struct optim_options optim;
    struct scale *scale;  /* NULL: followed. */
    uint32_t ends_at;     /* Its watcher ends the run at that step; 0: not. */
    uint32_t seen, lasts; /* Calls of the watcher; of these, the last. */
    enum err err;
    struct why why;
    double w[DIMS];
};

static uint32_t number_of(void *context)
{
    return ((struct rank *)context)->number;
}

static uint32_t ranks_of(void *context)
{
    return ((struct rank *)context)->meeting->ranks;
}

static enum err sum_all(void *context, int64_t *sums, size_t count)
{
    struct rank *rank = context;
    struct meeting *meeting = rank->meeting;
    int64_t *total = meeting->total[rank->number];

    if (count > SUMS_MAX)
        return ERR_TOOBIG;
    meeting->given[rank->number] = sums;
    (void)pthread_barrier_wait(&meeting->barrier);
    memset(total, 0, sizeof meeting->total[0]);
    for (uint32_t r = 0; r < meeting->ranks; r++)
        for (size_t j = 0; j < count; j++)
            total[j] += meeting->given[r][j];
    (void)pthread_barrier_wait(&meeting->barrier);
    memcpy(sums, total, count * sizeof *sums);
    return ERR_OK;
}

static const struct collective_ops together = {number_of, ranks_of, sum_all};

static bool watch(void *context, const struct trainer *trainer, bool last)
{
    struct rank *rank = context;

    rank->seen++;
    rank->lasts += last;
    return rank->ends_at == 0 || trainer->optim.step < rank->ends_at;
}

static void *run_rank(void *context)
{
    struct rank *rank = context;
    const struct lockstep_hooks hooks = {.watch = watch, .context = rank};
    const struct user_function user = function_of(&rank->bowl);
    const struct collective collective = {&together, rank};
    const struct shelf shelf = {.user = &user};
    uint8_t room[BRIEF_MAX];
    const struct brief brief = brief_user(room, &user);
    struct evaluator *evaluator = NULL;
    struct follow follow = {0};
    struct trainer trainer = {0};
    struct trainer_options options = {
        .optim = rank->optim,
        .scale = rank->scale != NULL ? rank->scale : &follow.scale,
        .dims = follow_dims(DIMS),
        .vectors = 1,
        .length = DIMS};

    rank->err = follow_init(&follow, DIMS, CHUNKS);
    if (rank->err == ERR_OK)
        rank->err = evaluator_open(&brief, &shelf, pool_serial(), &evaluator);
    if (rank->err == ERR_OK)
        rank->err = trainer_init(&trainer, &options);
    if (rank->err == ERR_OK)
        rank->err =
            lockstep_run(&trainer, evaluator, &collective, &hooks, &rank->why);
    if (trainer.exponent != NULL)
        memcpy(rank->w, trainer_weights(&trainer), sizeof rank->w);
    trainer_close(&trainer);
    evaluator_close(evaluator);
    follow_close(&follow);
    return NULL;
}

static void run_all(struct rank *ranks, uint32_t count)
{
    struct meeting meeting = {.ranks = count};
    pthread_t thread[RANKS_MAX];

    assert_int_equal(pthread_barrier_init(&meeting.barrier, NULL, count), 0);
    for (uint32_t r = 0; r < count; r++) {
        ranks[r].meeting = &meeting;
        ranks[r].number = r;
        assert_int_equal(pthread_create(&thread[r], NULL, run_rank, &ranks[r]),
                         0);
    }
    for (uint32_t r = 0; r < count; r++)
        assert_int_equal(pthread_join(thread[r], NULL), 0);
    (void)pthread_barrier_destroy(&meeting.barrier);
}

static struct optim_options optim_of(enum optim_kind kind)
{
    struct optim_options optim = optim_defaults(kind);

    optim.rows = CHUNKS;
    optim.steps = 6;
    optim.rate = 0.3;
    optim.dense_max = 0;
    optim.diagonal = false;
    return optim;
}

/* --- tests ---------------------------------------------------------------- */

/* Whatever the sizes, and with ranks that have nothing to do. */
static void test_ranks_have_the_model_of_one(void **state)
{
    static const double sizes[] = {1, 1e30, 1e-30};
    static const enum optim_kind kinds[] = {OPTIM_LBFGS, OPTIM_AGD};

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct optim_options optim = optim_of(kinds[i % 2]);
        struct bowl bowl = {.size = sizes[i / 2]};
        const struct user_function user = function_of(&bowl);
        const struct objective_options what = {.user = &user, .optim = &optim};
        struct alone_result alone = {0};
        struct why why = {{0}};

        optim.rate /= sizes[i / 2];
        assert_int_equal(alone_train(&what, pool_serial(), NULL, &alone, &why),
                         ERR_OK);
        assert_int_equal(alone.dims, DIMS);
        for (uint32_t count = 1; count <= RANKS_MAX; count += 2) {
            struct rank ranks[RANKS_MAX] = {0};

            for (uint32_t r = 0; r < count; r++) {
                ranks[r].optim = optim;
                ranks[r].bowl.size = sizes[i / 2];
            }
            run_all(ranks, count);
            for (uint32_t r = 0; r < count; r++) {
                assert_int_equal(ranks[r].err, ERR_OK);
                assert_memory_equal(ranks[r].w, alone.weights,
                                    sizeof ranks[r].w);
            }
        }
        mem_free(alone.weights);
    }
}

/* One rank's function says stop: all end there, with the same model. */
static void test_one_stops_all(void **state)
{
    struct rank ranks[3] = {0};

    (void)state;
    for (uint32_t r = 0; r < 3; r++) {
        ranks[r].optim = optim_of(OPTIM_AGD);
        ranks[r].bowl = (struct bowl){.size = 1, .stop_at = r == 1 ? 9 : 0};
    }
    run_all(ranks, 3);
    for (uint32_t r = 0; r < 3; r++) {
        assert_int_equal(ranks[r].err, ERR_CLOSED);
        assert_memory_equal(ranks[r].w, ranks[0].w, sizeof ranks[r].w);
    }
}

/* Whoever watches one of them ends all; each is told that it was the last, so
 * that the one that has a folder saves what there is. */
static void test_one_watcher_ends_all(void **state)
{
    struct rank ranks[3] = {0};

    (void)state;
    for (uint32_t r = 0; r < 3; r++) {
        ranks[r].optim = optim_of(OPTIM_AGD);
        ranks[r].bowl.size = 1;
        ranks[r].ends_at = r == 2 ? 3 : 0;
    }
    run_all(ranks, 3);
    for (uint32_t r = 0; r < 3; r++) {
        assert_int_equal(ranks[r].err, ERR_CANCELLED);
        assert_int_equal(ranks[r].seen, ranks[0].seen);
        assert_int_equal(ranks[r].lasts, 1);
        assert_memory_equal(ranks[r].w, ranks[0].w, sizeof ranks[r].w);
    }
}

static bool stop_at_three(void *context, const struct trainer *trainer,
                          bool last)
{
    (void)context;
    (void)last;
    return trainer->optim.step < 3;
}

/* Whoever watches ends it, with a model that is that far. */
static void test_watched(void **state)
{
    const struct optim_options optim = optim_of(OPTIM_AGD);
    const struct alone_hooks hooks = {.hooks.watch = stop_at_three};
    struct bowl bowl = {.size = 1};
    const struct user_function user = function_of(&bowl);
    const struct objective_options what = {.user = &user, .optim = &optim};
    struct alone_result result = {0};
    struct why why = {{0}};

    (void)state;
    assert_int_equal(alone_train(&what, pool_serial(), &hooks, &result, &why),
                     ERR_OK);
    assert_true(result.stopped);
    assert_int_equal(result.steps, 3);
    mem_free(result.weights);
}

static enum err any_exponents(struct scale *self, const struct evaluation *what,
                              int16_t *exponent)
{
    const uint32_t count = evaluation_exponents(what->kind, follow_dims(DIMS));

    (void)self;
    memset(exponent, 0, count * sizeof *exponent);
    return ERR_OK;
}

/* On a proved scale no other is tried; it is not the weights that are said to
 * be at fault. */
static void test_chunk_beyond_its_bound(void **state)
{
    static const struct scale_ops ops = {.exponents = any_exponents};
    struct scale proved = {.ops = &ops};
    struct rank rank = {.optim = optim_of(OPTIM_AGD), .scale = &proved};

    (void)state;
    rank.bowl.size = (double)INFINITY;
    run_all(&rank, 1);
    assert_int_equal(rank.err, ERR_RANGE);
    assert_string_equal(rank.why.text,
                        "step 0: a chunk gives a gradient that is not finite, "
                        "or beyond its bound; look for huge values in the data "
                        "or lower --lr");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_have_the_model_of_one),
        cmocka_unit_test(test_one_stops_all),
        cmocka_unit_test(test_one_watcher_ends_all),
        cmocka_unit_test(test_watched),
        cmocka_unit_test(test_chunk_beyond_its_bound),
    };

    return cmocka_run_group_tests_name("lockstep", tests, NULL, NULL);
}
