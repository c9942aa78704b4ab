/*
 * table_source.h - tables from files to the stage: csv and tsv, npy, IDX.
 *
 *     numbers only            read by all threads, packed at once
 *     words, missing fields,  held by columns (frame.h) and encoded
 *     --scale, another order
 *
 * A csv file is tried the first way unless it is known to need the second.
 * Either way the encoder has the table's columns when it is over.
 */
#ifndef DATA_TABLE_SOURCE_H
#define DATA_TABLE_SOURCE_H

#include "data/read/source_options.h"
#include "data/read/table_notes.h"
#include "data/rows/stage.h"
#include "data/text/unpack.h"

/* `separator`: what the form has, or 0; the options' own goes first. */
MUST_CHECK enum err table_read_csv(const struct source_options *options,
                                   char separator, struct stage *stage,
                                   struct why *why);
MUST_CHECK enum err table_read_npy(const struct source_options *options,
                                   struct stage *stage, struct why *why);
MUST_CHECK enum err table_read_idx(const struct source_options *options,
                                   struct stage *stage, struct why *why);

/* Rows of the calling program's, where source.c cannot pack them at once. */
MUST_CHECK enum err table_read_memory(const struct source_options *options,
                                      struct stage *stage, struct why *why);
/* Can it?  And the columns of what it packed. */
bool table_packs(const struct source_options *options);
MUST_CHECK enum err table_keep_plain(const struct source_options *options,
                                     uint32_t features, struct why *why);

/* One array in npy form to the stage; with `labels`, `count` of them, these are
 * its labels. */
MUST_CHECK enum err table_stage_npy(const struct source_options *options,
                                    struct unpacker *in, const double *labels,
                                    uint64_t count, struct stage *stage,
                                    struct why *why);
/* A file of labels, IDX or npy; *labels is from mem_new. */
MUST_CHECK enum err table_read_labels(const char *path, double **labels,
                                      uint64_t *count, struct why *why);

/* A frame to the stage, by an encoder fitted `without` some of its rows (NULL:
 * all) unless it is fitted already; NULL: an own one. */
MUST_CHECK enum err table_encode(const struct source_options *options,
                                 const struct frame *frame, const bool *without,
                                 struct encoder *encoder, struct stage *stage,
                                 struct why *why);

/* Was something asked for that only tables can give? */
bool table_wants_encoder(const struct source_options *options);
/* Says so of rows that are none. */
MUST_CHECK enum err table_refuse_encoder(struct why *why);

/* --separator: one character, or the word tab.  ERR_RANGE with a sentence. */
MUST_CHECK enum err table_separator(const char *text, char *separator,
                                    struct why *why);

#endif /* DATA_TABLE_SOURCE_H */
