/*
 * table_notes.h - sentences about a table that are no errors, and the one that
 * is: labels that are names.
 */
#ifndef DATA_READ_TABLE_NOTES_H
#define DATA_READ_TABLE_NOTES_H

#include "data/read/source_options.h"
#include "data/table/csv.h"
#include "data/table/frame.h"

/* What was made of the columns that nobody said anything about. */
void table_note_columns(const struct source_options *options,
                        const struct csv *csv);
/* Numbers that, by the names of their columns, are names: ids, zip codes.
 * `frame` is NULL where all columns are numbers. */
void table_note_codes(const struct source_options *options,
                      const struct csv *csv, const struct frame *frame);
/* May a column of that name number rows, or tell them apart? */
bool table_counts_rows(const char *name);
/* The header looks like a row; `again` is the survey's. */
void table_note_header(const struct source_options *options,
                       const struct csv *csv, uint32_t again);
/* Which columns are left out because nothing is in them. */
void table_note_empty(const struct source_options *options,
                      const struct csv *csv);
/* Of rows that are no text: which of them are filled with 0, since there is
 * nothing to take a mean or a median of. */
void table_note_meanless(const struct source_options *options,
                         const struct frame *frame);
/* Which columns became categories because of what is in them. */
void table_note_words(const struct source_options *options,
                      const struct frame *frame);
/* Columns that hold ids and names. */
void table_note_names(const struct source_options *options,
                      const struct frame *frame);
/* Words of a column that may well be one. */
void table_note_alike(const struct source_options *options,
                      const struct frame *frame);
/* Categories that the training table does not have. */
void table_note_unknown(const struct source_options *options,
                        const struct frame *frame,
                        const struct unknown_words *unknown);
/* ERR_SHAPE: the labels are names rather than classes. */
MUST_CHECK enum err table_refuse_names(const struct frame *frame,
                                       struct why *why);

#endif /* DATA_READ_TABLE_NOTES_H */
