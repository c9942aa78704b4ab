/*
 * table.c - who holds what, by rows (a slot's spans in the order of work) and
 * by columns (a span's holders, ascending).
 */
#include "base/mem.h"
#include "code/axes.h"

static enum err make_rows(struct code *code)
{
    const struct placement_ops *place = placement_ops(code->spec.placement);
    struct code_table *table = &code->table;

    table->row = mem_new((size_t)code->slots + 1, sizeof *table->row);
    if (table->row == NULL)
        return ERR_NOMEM;
    for (uint32_t slot = 0; slot < code->slots; slot++)
        table->row[slot + 1] =
            table->row[slot] + place->row(code, slot, NULL, 0);
    table->count = table->row[code->slots];
    table->span = mem_new(table->count, sizeof *table->span);
    table->value = mem_new(table->count, sizeof *table->value);
    if (table->span == NULL || table->value == NULL)
        return ERR_NOMEM;
    for (uint32_t slot = 0; slot < code->slots; slot++)
        (void)place->row(code, slot, table->span + table->row[slot],
                         table->row[slot + 1] - table->row[slot]);
    for (uint32_t i = 0; i < table->count; i++)
        table->value[i] = 1;
    return ERR_OK;
}

/* Counting sort by span; slots come in ascending order. */
static enum err make_columns(struct code *code)
{
    struct code_table *table = &code->table;
    uint32_t *next;

    table->column = mem_new((size_t)code->span_count + 1, sizeof *next);
    table->holder = mem_new(table->count, sizeof *table->holder);
    table->entry = mem_new(table->count, sizeof *table->entry);
    next = mem_new((size_t)code->span_count + 1, sizeof *next);
    if (table->column == NULL || table->holder == NULL ||
        table->entry == NULL || next == NULL) {
        mem_free(next);
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < table->count; i++)
        table->column[table->span[i] + 1]++;
    for (uint32_t span = 0; span < code->span_count; span++) {
        if (table->column[span + 1] > code->copies)
            code->copies = table->column[span + 1];
        table->column[span + 1] += table->column[span];
        next[span] = table->column[span];
    }
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        for (uint32_t i = table->row[slot]; i < table->row[slot + 1]; i++) {
            const uint32_t at = next[table->span[i]]++;

            table->holder[at] = slot;
            table->entry[at] = i;
        }
    }
    mem_free(next);
    return ERR_OK;
}

enum err table_build(struct code *code)
{
    const enum err err = make_rows(code);

    return err != ERR_OK ? err : make_columns(code);
}

void table_close(struct code_table *table)
{
    mem_free(table->row);
    mem_free(table->span);
    mem_free(table->value);
    mem_free(table->column);
    mem_free(table->holder);
    mem_free(table->entry);
    *table = (struct code_table){0};
}

uint32_t table_find(const struct code_table *table, uint32_t slot,
                    uint32_t span)
{
    uint32_t low = table->column[span];
    uint32_t high = table->column[span + 1];

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (table->holder[middle] < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->column[span + 1] && table->holder[low] == slot
               ? table->entry[low]
               : UINT32_MAX;
}

bool table_covers(const struct code_table *table, uint32_t span,
                  const bool *slots)
{
    for (uint32_t i = table->column[span]; i < table->column[span + 1]; i++) {
        if (slots[table->holder[i]])
            return true;
    }
    return false;
}
