/*
 * table_glimpse.h - notes about columns of numbers that may be meant otherwise:
 * 195.990 for 195990, and numbers of rows by names that say it less than "id".
 */
#ifndef DATA_READ_TABLE_GLIMPSE_H
#define DATA_READ_TABLE_GLIMPSE_H

#include "data/read/source_options.h"
#include "data/table/frame.h"

/* Of a text that was read as `csv` says: `text`, or the file if that is NULL.
 * `frame` is NULL where all columns are numbers. */
void table_note_glimpse(const struct source_options *options,
                        const struct span *text, const struct csv *csv,
                        const struct frame *frame);

#endif /* DATA_READ_TABLE_GLIMPSE_H */
