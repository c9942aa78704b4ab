/*
 * muster.h - train on rows you hold, with a gradient of your own, or sum in a
 * loop of your own.
 *
 *     struct muster_recipe *recipe;          all choices of one training
 *     struct muster_data *data;              rows: arrays, a file, Arrow
 *     struct muster_model *model;
 *
 *     muster_recipe_new(&recipe, why);
 *     muster_set(recipe, "model", "logistic", why);
 *     muster_set(recipe, "n", "4", why);     processes; without: this one
 *     muster_data_dense(&matrix, &data, why);
 *     muster_data_labels(data, &labels, why);
 *     if (muster_fit(recipe, data, &model, why) == MUSTER_OK)
 *         muster_predict(model, rows, MUSTER_LABELS, out, count, why);
 *
 * Gradients are written in fixed point and summed as integers, which have no
 * rounding and no order: the model is the same to the bit for any number of
 * threads, workers and machines, whoever was killed on the way.  Its hash
 * names it.
 *
 * docs/api.md has the rules: keys, errors, threads, fork, signals, the ABI.
 * The calling thread's stack has 256 KiB at least, besides what your functions
 * need.
 *
 * ABI.  Handles are opaque.  A structure begins with its size, set by the
 * caller (MUSTER_INIT); fields are only ever added at the end, and a zeroed
 * field means its default.  A program built with an older header keeps working
 * with a newer library; a structure larger than the library's own is
 * MUSTER_BAD_VERSION.
 */
#ifndef MUSTER_H
#define MUSTER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MUSTER_API __attribute__((visibility("default")))
#else
#define MUSTER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_VERSION   3u
#define MUSTER_WHY_SIZE  512
#define MUSTER_HASH_SIZE 65 /* 64 hex digits and a NUL. */

/* struct muster_matrix matrix = MUSTER_INIT(struct muster_matrix); */
#ifdef __cplusplus
#define MUSTER_INIT(type)                                                      \
    {                                                                          \
        sizeof(type)                                                           \
    }
#else
#define MUSTER_INIT(type)                                                      \
    {                                                                          \
        .size = sizeof(type)                                                   \
    }
#endif

enum muster_status {
    MUSTER_OK = 0,
    MUSTER_BAD_VERSION = 1, /* The header is newer than the library. */
    MUSTER_BAD_OPTION = 2,  /* A key, a value or an argument cannot be. */
    MUSTER_NO_MEMORY = 3,
    MUSTER_DIVERGED = 4, /* Weights, gradient or loss are not finite, or the
                            loss of a chunk is 2^60 and more. */
    MUSTER_STOPPED = 5,  /* Your function, muster_stop, a signal or
                            muster_cancel said so; of a training the model so
                            far is there. */
    MUSTER_UNSUPPORTED = 6,
    MUSTER_NOT_A_FUNCTION = 7, /* Two answers to the same question, or the
                                  folder is of a run with other options. */
    MUSTER_FAILED = 8,  /* Disk, network, processes: the sentence says what. */
    MUSTER_REFUSED = 9, /* By the other side: token, release or data. */
    MUSTER_LOST = 10,   /* Nobody is left, or nobody can be reached. */
    MUSTER_TIMEOUT = 11,
    MUSTER_MISSED = 12,  /* The others have gone on without this member. */
    MUSTER_BAD_DATA = 13 /* The rows, labels or a file cannot be used. */
};

/* A few words for a status; never NULL. */
MUSTER_API const char *muster_status_text(enum muster_status status);
/* MUSTER_VERSION of the library. */
MUSTER_API uint32_t muster_version(void);
/* Which release it is of, as `muster --version` says: "0.4.0". */
MUSTER_API const char *muster_release(void);

/* Every function below that returns a status fills `why` (MUSTER_WHY_SIZE
 * characters, or NULL) with one sentence if that is not MUSTER_OK, and "" if it
 * is.  Outputs are written on success only, unless said otherwise. */

/* --- recipes -------------------------------------------------------------- */

/* All choices of one training, set by key and text: the long flags of `muster
 * train` without dashes ("model", "l2", "optim", "steps", "n", "code",
 * "listen", "token-file", ...; docs/api.md lists them).  One training at a
 * time. */
struct muster_recipe;

MUSTER_API enum muster_status muster_recipe_new(struct muster_recipe **recipe,
                                                char *why);
MUSTER_API void muster_recipe_free(struct muster_recipe *recipe); /* or NULL */
/* MUSTER_BAD_OPTION: no such key, or not one of its values. */
MUSTER_API enum muster_status muster_set(struct muster_recipe *recipe,
                                         const char *key, const char *text,
                                         char *why);

/* 1: muster_fit by this recipe forks a coordinator and workers from the calling
 * process ("n", and what keeps a run or lets others join: "out", "listen",
 * "max-time", ...); 0: it does not. */
MUSTER_API int muster_forks(const struct muster_recipe *recipe);

struct muster_progress {
    size_t size;
    uint64_t step;         /* Updates of the model so far. */
    uint64_t evaluations;  /* Passes over all rows.  With workers: 0. */
    double objective;      /* What is being made small. */
    double gradient_norm;  /* With workers: NaN. */
    const double *weights; /* muster_train in one process; else NULL. */
};

/* After each update, in the caller's thread.  Not 0: stop; with workers some
 * more updates may have been made by then.  It returns: a longjmp or an
 * exception out of it leaves the training, and those after it, undefined. */
typedef int (*muster_watch)(void *context,
                            const struct muster_progress *progress);
/* Told sentences that are no errors: what was found out about the rows; with
 * workers what `muster train` prints, who joined, who died, and, every 5 s in
 * which nobody is left to compute, that it waits.  In the caller's thread. */
typedef void (*muster_log)(void *context, const char *sentence);

/* Either may be NULL.  Without a log the sentences are not told. */
MUSTER_API void muster_listen(struct muster_recipe *recipe, muster_watch watch,
                              muster_log log, void *context);
/* End the training in progress: MUSTER_STOPPED.  From another thread or a
 * signal handler.  A stop is for one training: where none is in progress it is
 * the recipe's next, so that one which comes just before that begins is not
 * lost; and it is over when that ends, however, so that one which came too late
 * for a training does not end the next. */
MUSTER_API void muster_stop(struct muster_recipe *recipe);

/* --- rows ----------------------------------------------------------------- */

enum muster_type {
    MUSTER_DOUBLE = 1,
    MUSTER_FLOAT = 2,
    MUSTER_INT8 = 3,
    MUSTER_UINT8 = 4,
    MUSTER_INT16 = 5,
    MUSTER_UINT16 = 6,
    MUSTER_INT32 = 7,
    MUSTER_UINT32 = 8,
    MUSTER_INT64 = 9,
    MUSTER_UINT64 = 10,
    MUSTER_BOOL = 11 /* A byte. */
};

/* Value (i, j) lies at values + i * row_step + j * column_step, in bytes: C
 * order, Fortran order, and slices of either. */
struct muster_matrix {
    size_t size;
    const void *values;
    enum muster_type type;
    uint64_t rows, columns;
    int64_t row_step, column_step;
};

/* Compressed sparse rows: the entries of row i are begin[i] .. begin[i+1]-1. */
struct muster_csr {
    size_t size;
    uint64_t rows, columns;
    const void *begin;            /* rows + 1. */
    enum muster_type begin_type;  /* MUSTER_INT32 or MUSTER_INT64, ... */
    const void *column;           /* From 0; each at most once in a row.  NULL:
                                     there are no entries. */
    enum muster_type column_type; /* ... and so is this. */
    const void *value;            /* NULL: all are 1. */
    enum muster_type value_type;
};

/* One number for each row. */
struct muster_vector {
    size_t size;
    const void *values;
    enum muster_type type;
    uint64_t count;
    int64_t step; /* In bytes; 0: one after the other, never the same value
                     for every row. */
};

/* The Arrow C stream interface, whose structures are the caller's. */
struct ArrowArrayStream;

/* Rows.  Arrays of the caller's are read where they lie, each time the rows
 * are used: they stay as they are until muster_data_free. */
struct muster_data;

MUSTER_API enum muster_status
muster_data_dense(const struct muster_matrix *matrix, struct muster_data **data,
                  char *why);
MUSTER_API enum muster_status muster_data_csr(const struct muster_csr *csr,
                                              struct muster_data **data,
                                              char *why);
/* A file, or a generator (gen:gmm:1000,20), read when it is used, as the keys
 * "input", "label", "scale", ... of the recipe say. */
MUSTER_API enum muster_status
muster_data_file(const char *path, struct muster_data **data, char *why);
/* A table by columns, of numbers and of words, which is read to its end here
 * and released, whatever the outcome.  The key "label" names the column of
 * labels. */
MUSTER_API enum muster_status muster_data_arrow(struct ArrowArrayStream *stream,
                                                struct muster_data **data,
                                                char *why);
/* Of arrays: labels, and weights of rows (0 or more); copied.  Classes may be
 * any numbers. */
MUSTER_API enum muster_status
muster_data_labels(struct muster_data *data, const struct muster_vector *labels,
                   char *why);
MUSTER_API enum muster_status
muster_data_weights(struct muster_data *data,
                    const struct muster_vector *weights, char *why);
MUSTER_API void muster_data_free(struct muster_data *data); /* or NULL */

/* --- models --------------------------------------------------------------- */

struct muster_model;

/* Train: in this process, or with workers: "n" processes forked from it (see
 * docs/api.md for what that asks of it), and whoever joins at "listen".
 * *model is NULL first; MUSTER_STOPPED, too, leaves one. */
MUSTER_API enum muster_status muster_fit(struct muster_recipe *recipe,
                                         const struct muster_data *data,
                                         struct muster_model **model,
                                         char *why);

enum muster_answer {
    MUSTER_LABELS = 1,        /* 1 for each row. */
    MUSTER_SCORES = 2,        /* `outputs` for each row. */
    MUSTER_PROBABILITIES = 3, /* `classes` for each row; logistic, softmax. */
    MUSTER_TRUTH = 4 /* 1 for each row: the label that it has, as MUSTER_LABELS
                        would say it; NaN: none, or one the model does not
                        know. */
};

/* `count` numbers, row after row: exactly as many as there are. */
MUSTER_API enum muster_status muster_predict(const struct muster_model *model,
                                             const struct muster_data *data,
                                             enum muster_answer answer,
                                             double *out, uint64_t count,
                                             char *why);
/* The same of rows whose number is not known before they are read, a file's:
 * the numbers are the library's to make and muster_answers_free's to free. */
MUSTER_API enum muster_status
muster_predict_all(const struct muster_model *model,
                   const struct muster_data *data, enum muster_answer answer,
                   double **out, uint64_t *count, char *why);
MUSTER_API void muster_answers_free(double *answers); /* or NULL */
/* Rows that `data` has; 0 of a file, which is not known before it is read. */
MUSTER_API uint64_t muster_data_rows(const struct muster_data *data);

/* The file of `muster train`, which `muster predict` and LIBLINEAR read.  A
 * file that is there is replaced if it is empty or a model, too; a name that
 * promises another form (.npy, .csv, .pkl, ...) is refused.  Beside it goes the
 * model's card, FILE.card.json and FILE.card.txt, in the place of the old
 * file's; if it cannot, `why` has a sentence about that beside MUSTER_OK. */
MUSTER_API enum muster_status muster_save(const struct muster_model *model,
                                          const char *path, char *why);
MUSTER_API enum muster_status
muster_load(const char *path, struct muster_model **model, char *why);
/* The same in memory, for programs that keep models themselves. */
MUSTER_API enum muster_status muster_write(const struct muster_model *model,
                                           char **text, size_t *size,
                                           char *why);
MUSTER_API enum muster_status muster_read(const char *text, size_t size,
                                          struct muster_model **model,
                                          char *why);
/* The model's card, JSON: what is known of its training.  A model's text does
 * not hold it: a program that keeps texts keeps it, too, and gives it to the
 * model that was read; another model's is refused (MUSTER_BAD_OPTION).  *text
 * is NULL if nothing is known: of a model that was loaded or read. */
MUSTER_API enum muster_status muster_card(const struct muster_model *model,
                                          char **text, char *why);
MUSTER_API enum muster_status muster_set_card(struct muster_model *model,
                                              const char *text, char *why);
MUSTER_API void muster_text_free(char *text); /* or NULL */

struct muster_info {
    size_t size;
    const char *kind;     /* "logistic", "softmax", ...; "" of muster_train. */
    uint32_t features;    /* Columns of the rows it takes. */
    uint32_t outputs;     /* Weight vectors. */
    uint32_t classes;     /* 0: numbers are predicted. */
    uint32_t intercept;   /* 1: the last weight of each vector is a constant. */
    uint64_t dims;        /* Weights in all. */
    uint64_t steps;       /* From here on: 0 of a model that was loaded. */
    uint64_t evaluations; /* Passes over all rows. */
    double objective;     /* Mean loss + l2 |w|^2; by LIBLINEAR's keys (solver,
                             cost, eps, bias) that times C rows: |w|^2 / 2 +
                             C sum of losses. */
    double gradient_norm; /* Of the same; the key "tol" is of the mean. */
    double seconds;
    int32_t converged;   /* 1: the rule to stop was met, or no further step can
                            improve the model; 0 also if it could not go on. */
    int32_t signal;      /* That stopped it, or came too late; 0 = none. */
    const char *hash;    /* SHA-256 of the weights: equal on every machine. */
    const char *ended;   /* How it ended, in words. */
    const char *warning; /* What is wrong with the model all the same: no better
                            than a constant (a network, or a linear model whose
                            steps were over before it converged), a network
                            whose loss was still falling, or a linear model
                            whose penalty holds all weights near 0; or "". */
};

/* Texts are the model's. */
MUSTER_API enum muster_status muster_about(const struct muster_model *model,
                                           struct muster_info *info, char *why);
/* The hash alone; the model's. */
MUSTER_API const char *muster_hash(const struct muster_model *model);
/* `dims` numbers: one vector after the other, in the order of the columns.
 * NULL of a network. */
MUSTER_API const double *muster_weights(const struct muster_model *model);
/* Of a network its layers as a text, and `dims` numbers: of each layer weights,
 * then biases; NULL of other models. */
MUSTER_API const char *muster_layers(const struct muster_model *model);
MUSTER_API const float *muster_parameters(const struct muster_model *model);
/* Of a network height, width and channels of its rows, 1, 1 and `features` if
 * they are no images; 0, 0, 0 of other models. */
MUSTER_API void muster_shape(const struct muster_model *model,
                             uint32_t shape[3]);
/* `classes` numbers, ascending; NULL if there are none. */
MUSTER_API const double *muster_classes(const struct muster_model *model);
/* The word that class k stands for; NULL if classes are numbers. */
MUSTER_API const char *muster_word(const struct muster_model *model,
                                   uint32_t k);
/* Of the columns of rows that the model takes, what number j is called; NULL if
 * it knows no names. */
MUSTER_API const char *muster_column(const struct muster_model *model,
                                     uint32_t j);
/* Names that the rows did not carry, for what is predicted and for the file: of
 * all classes, numbers or words, that ascend; of all columns, and of the label
 * (or NULL), once. */
MUSTER_API enum muster_status muster_set_classes(struct muster_model *model,
                                                 const double *numbers,
                                                 const char *const *words,
                                                 uint32_t count, char *why);
MUSTER_API enum muster_status muster_set_columns(struct muster_model *model,
                                                 const char *const *names,
                                                 uint32_t count,
                                                 const char *label, char *why);
/* Of models that each tell one class (their larger label) from the rest, 3 or
 * more that were trained on the same columns: the one of the largest score,
 * as LIBLINEAR has it.  Model k's class is called k until
 * muster_set_classes.  They stay the caller's. */
MUSTER_API enum muster_status
muster_one_against_rest(const struct muster_model *const *models,
                        uint32_t count, struct muster_model **model, char *why);
MUSTER_API void muster_free(struct muster_model *model); /* or NULL */

/* How well models do on rows they have not seen: one is trained for each of
 * `folds` parts of the rows, on the others, and judged on it. */
struct muster_score {
    size_t size;
    double accuracy, auc, f1, precision, recall, logloss, mse; /* NaN: none. */
    double objective;
    uint64_t steps;
};

/* score[0] is over all rows, score[1] to score[folds] of the parts: folds + 1
 * of them, each with its size set. */
MUSTER_API enum muster_status
muster_cross_validate(struct muster_recipe *recipe,
                      const struct muster_data *data, uint32_t folds,
                      struct muster_score *score, char *why);

/* --- products ------------------------------------------------------------- */

struct muster_product_info {
    size_t size;
    double residual;      /* The worst of the decoding; 0: all parts came. */
    uint64_t approximate; /* Columns of B for which it was above 1e-12, of code
                             cec 1e-9. */
    double seconds;       /* First broadcast to last column, of this call: a
                             run that it continued took its time before. */
    uint64_t deaths;      /* Of workers. */
};

/* A times B into `out`, a->rows times b->columns numbers, row after row, by "n"
 * processes forked from this one and whoever joins at "listen": any K of them
 * by the key "code" as "mds:k=K", all of them as "uncoded".  docs/product.md.
 * Other keys: "stragglers", "workers", "threads", "delay", "chaos", "out" (a
 * run that is there is continued), "token-file", "exact", "seed".  `info` may
 * be NULL.  MUSTER_STOPPED: `out` is as it was. */
MUSTER_API enum muster_status
muster_product(struct muster_recipe *recipe, const struct muster_matrix *a,
               const struct muster_matrix *b, double *out,
               struct muster_product_info *info, char *why);

/* --- a gradient of your own ----------------------------------------------- */

/* Gradient (dims numbers, zero on entry: add or assign) and loss of one chunk
 * at w: sums over its rows, not means.  Must depend on the arguments alone and
 * give the same bits each time (across machines that means -ffp-contract=off,
 * no -ffast-math, and no library whose results differ).  With threads > 1 it is
 * called by several threads at once, for different chunks; with workers, in
 * processes forked from this one.  Not 0: stop. */
typedef int (*muster_gradient)(void *context, const double *w, uint32_t chunk,
                               double *gradient, double *loss);
/* The Hessian of the chunk's loss at w times v, likewise.  For "newton". */
typedef int (*muster_hessvec)(void *context, const double *w, const double *v,
                              uint32_t chunk, double *product);

struct muster_function {
    size_t size;
    uint32_t dims;   /* Weights, > 0. */
    uint32_t chunks; /* 1 to 65,536.  Part of the result's bits: choose it by
                        the data, not by the machine. */
    uint64_t rows;   /* Behind all chunks, > 0: losses become means. */
    muster_gradient gradient;
    muster_hessvec hessvec; /* May be NULL. */
    void *context;          /* Of both. */
};

/* From weights of zero.  Objective: mean loss + l2 |w|^2.  Keys: "optim"
 * (lbfgs), "steps" (100), "lr", "l2" (0), "tol", "threads", "n", "workers",
 * "code", "stragglers", "listen", "token-file", "out": journal and checkpoints;
 * a run that is there is continued.  With workers: one call at a time in a
 * process, which forks.  *model is NULL first; MUSTER_STOPPED, too, leaves
 * one. */
MUSTER_API enum muster_status
muster_train(struct muster_recipe *recipe,
             const struct muster_function *function,
             struct muster_model **model, char *why);

/* Be a worker of a muster_train elsewhere that listens at `address`
 * ("HOST:PORT" and the key "token-file"; or its folder, by the same user on the
 * same machine): the same program, with the same function (a chunk is computed
 * to see that it is).  `name` is this worker's, or NULL.  Key: "threads".
 * MUSTER_OK once the job is done or SIGTERM or SIGINT made it leave,
 * MUSTER_STOPPED if the function said so.
 */
MUSTER_API enum muster_status
muster_join(struct muster_recipe *recipe,
            const struct muster_function *function, const char *address,
            const char *name, char *why);

/* --- a loop of your own ---------------------------------------------------
 *
 * A group of processes that come and go, and the exact
 * sum of what each of them has.
 *
 *     muster_group_host(&options, &group, why)               in one process,
 *     muster_group_join(&options, address, &group, why)      in the others;
 *     muster_sum(group, v, n, MUSTER_DOUBLE, 0, &info, why)  in all of them,
 *                                                            again and again
 *
 * None of the members is special, also not the one that began the group.
 * Without a token_file they are processes of one user on one machine and share
 * memory: the group lives as long as one of them does.  With one they may be on
 * several machines; of those who were in it last more than half (or half, with
 * the oldest) must be left and able to talk to each other, and whoever is cut
 * off from them is told MUSTER_LOST: of two sides of a broken network at most
 * one goes on.
 *
 * Each call adds one vector of every living member.  The sum is as if computed
 * with unbounded precision and rounded once, at the end, to the nearest: the
 * same bits whatever the order, and the same in every process.  A vector is in
 * it whole or not at all.  Who dies before giving is left out, who joins takes
 * part from the next call on, and info says who is in.
 */
struct muster_group;

struct muster_group_options {
    size_t size;
    uint32_t least;         /* First: a call waits for so many; 0 = 1. */
    uint32_t members_max;   /* First: 0 = 64, which is the most. */
    uint32_t give_up_s;     /* Unreachable for so long: MUSTER_LOST; 0 = 30. */
    uint64_t bytes_max;     /* First: of a vector; 0 = 64 MiB. */
    const char *listen;     /* "HOST:PORT" where others reach this member; NULL:
                               loopback, or the address from which it reaches
                               the one that it joins, any port.  Only with a
                               token_file. */
    const char *token_file; /* Of the cluster (muster token new); NULL: on one
                               machine. */
    const char *name;       /* Of this member; NULL: host name and process. */
    uint32_t plain;         /* 1: all but greetings and beats goes as it is,
                               without TLS, between members that both say so.
                               All prove the token first; but whoever is on
                               the way can read and change vectors and views,
                               as with MPI and gloo. */
};

struct muster_sum_info {
    size_t size;          /* By the caller. */
    int32_t included;     /* 1: this vector is in the sum, 0: it is not, -1:
                             this member was cut off and cannot know. */
    uint64_t call;        /* Its number: the same in every process. */
    uint32_t contributed; /* Vectors in the sum ... */
    uint32_t members;     /* ... of so many members. */
    const char *who;      /* Their names by comma; good until the next call. */
};

/* Begin a group, and be its first member. */
MUSTER_API enum muster_status
muster_group_host(const struct muster_group_options *options,
                  struct muster_group **group, char *why);
/* Returns once it is in. */
MUSTER_API enum muster_status
muster_group_join(const struct muster_group_options *options,
                  const char *address, struct muster_group **group, char *why);
/* For muster_group_join of others: any member's will do, as long as that member
 * is there.  Without a token_file the name of memory that only processes of
 * this user can open, with one "HOST:PORT". */
MUSTER_API const char *muster_group_address(const struct muster_group *group);

/* Doubles, floats, or 64-bit integers (MUSTER_INT64; modulo 2^64).  With
 * MUSTER_OK `values` are the sum; otherwise they are as they were.
 * deadline_s > 0: not later than so many seconds after this member gave, the
 * call is closed with those who are in (if they are `least`); else it waits for
 * all who live.  MUSTER_OK with info->included 0: the others closed without
 * this vector; the sum is theirs.  MUSTER_STOPPED: cancelled; MUSTER_TIMEOUT:
 * too few were there in time; MUSTER_MISSED: the others are further by more
 * than a call, or went on while this member was away; MUSTER_BAD_OPTION: of
 * another size or type than the others'; MUSTER_LOST: the group is out of
 * reach.  One thread at a time. */
MUSTER_API enum muster_status
muster_sum(struct muster_group *group, void *values, uint64_t count,
           enum muster_type type, double deadline_s,
           struct muster_sum_info *info, char *why);
/* The muster_sum in progress, from another thread or a signal handler. */
MUSTER_API void muster_cancel(struct muster_group *group);
/* Leaves the group and frees it; the others go on.  Accepts NULL. */
MUSTER_API void muster_group_leave(struct muster_group *group);

#ifdef __cplusplus
}
#endif

#endif /* MUSTER_H */
