/*
 * source_options.h - which rows, read how: what data/source.h is asked for, and
 * all its readers obey.
 */
#ifndef DATA_READ_SOURCE_OPTIONS_H
#define DATA_READ_SOURCE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "data/read/memory.h"
#include "data/rows/dataset.h"
#include "data/rows/image.h"
#include "data/span.h"
#include "data/table/encode.h"

struct source_options {
    const char *spec; /* What the user typed; NULL with `memory`. */
    /* Rows that the calling program holds, instead of a file; or NULL. */
    const struct memory_rows *memory;
    struct span text;     /* csv, npz: instead of the file, for tests; at
                             NULL: the file. */
    uint64_t seed;        /* For generators. */
    uint32_t chunk_rows;  /* 0: dataset_default_chunk_rows. */
    uint32_t cols_min;    /* At least so many columns, the intercept's
                             included (a test set takes its training set's).
                             The intercept is always the last. */
    uint32_t cols_max;    /* 0, or drop features beyond so many columns, as
                             LIBLINEAR does when it predicts. Files only. */
    bool intercept;       /* Append a column of ones. */
    bool regression;      /* Keep labels as read even if there are two. */
    bool numbered;        /* Two classes are 0 and 1: labels.h. */
    bool classes;         /* Number labels 0, 1, ..., whole or not, two or
                             more. */
    const double *labels; /* Map labels as these say (test sets), ascending;
                             NULL: as those found. */
    uint32_t label_count; /* Of labels; 0 stands for 2. */
    /* Columns, labels and storage as in this training set; NULL: free. */
    const struct dataset *like;
    const char *shape;   /* What a row is as an image; NULL: as the file
                            says. */
    struct image taken;  /* What a file's images must be; zeros: anything. */
    const char *storage; /* Name of a form; NULL: the best. */
    const char *format;  /* libsvm, csv, tsv, idx, npy, npz; NULL: find
                            out. */
    const char *label;   /* Tables: column of the label, or "none". */
    const char *labels_file; /* idx, npy: file of labels. */
    const char *drop;        /* Tables: columns that are left out. */
    const char *weight;      /* Training tables: column of the rows' weights. */
    enum csv_header header;  /* csv: is the first line one? */
    const char *separator;   /* csv: a character or "tab"; NULL: found out. */
    bool zero_based;         /* libsvm: indices start at 0. */
    const char *categorical; /* csv: columns that are categories, "all",
                                "none"; NULL or "auto": those of words. */
    bool pairs;              /* csv: all pairs of categorical columns too. */
    enum scaling scaling;    /* Tables: of columns of numbers. */
    bool scaling_implied;    /* ... which nobody asked for: not of images, nor
                                a reason to refuse other rows. */
    enum missing missing;    /* Tables: fields that are not there. */
    bool shares;             /* Others have rows of the same columns: empty ones
                                stay, as they may not be there. */
    bool unlabelled;         /* Rows need no labels: they may be NaN. */
    /* Applied if it was fitted (test sets); else fitted to the rows, whatever
     * they are read from but generators.  The caller closes it.  NULL: of no
     * further use. */
    struct encoder *encoder;
    /* Given the table by columns, if it had to be held so: for source_encode.
     * The caller closes it.  NULL: of no further use. */
    struct frame *keep;
    const char *cache; /* Folder for binary copies; NULL: none. */
    struct pool *pool; /* NULL: this thread alone. */
    /* Told sentences that are no errors: what was found out about columns, the
     * cache was rebuilt, categories are not known.  May be NULL. */
    void (*note)(void *context, const char *sentence);
    void *note_context;
};

/* Was scaling asked for? */
bool source_scales(const struct source_options *options);
struct pool *source_pool(const struct source_options *options);
/* What people call the source. */
const char *source_shown(const struct source_options *options);
/* Tell a sentence that is no error. */
__attribute__((format(printf, 2, 3))) void
source_note(const struct source_options *options, const char *format, ...);

#endif /* DATA_READ_SOURCE_OPTIONS_H */
