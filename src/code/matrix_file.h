/*
 * matrix_file.h - an encoding matrix from text: one row a line, numbers between
 * commas (or blanks); empty lines and lines that begin with # are skipped.
 */
#ifndef CODE_MATRIX_FILE_H
#define CODE_MATRIX_FILE_H

#include <stddef.h>

#include "code/code.h"

#define MATRIX_COLS_MAX 65536u

/* ERR_FORMAT with the line: not a number, not finite, a row of another length;
 * ERR_SHAPE: a row or a column of zeros, too many of either, nothing at all.
 * Close frees; zeroed is safe to close. */
MUST_CHECK enum err matrix_parse(struct code_matrix *matrix, const char *text,
                                 size_t size, struct why *why);
void matrix_close(struct code_matrix *matrix);

#endif /* CODE_MATRIX_FILE_H */
