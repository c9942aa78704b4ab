/*
 * cell.h - numbers as they lie in binary tables and in arrays of programs.
 */
#ifndef DATA_TABLE_CELL_H
#define DATA_TABLE_CELL_H

#include <stddef.h>

enum cell {
    CELL_U8,
    CELL_I8,
    CELL_U16,
    CELL_I16,
    CELL_U32,
    CELL_I32,
    CELL_U64,
    CELL_I64,
    CELL_F32,
    CELL_F64,
    CELL_BOOL
};

/* A number in the machine's byte order, and its size. */
double cell_load(enum cell cell, const void *at);
size_t cell_bytes(enum cell cell);

#endif /* DATA_TABLE_CELL_H */
