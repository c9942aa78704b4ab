/*
 * missing.c - which rows an approximate run went without, read from the
 * receipts.
 */
#include "cli/missing.h"

#include <stdio.h>

struct rows {
    uint32_t first, end;
};

static bool is_silent(const struct train_missing *missing, uint32_t slot)
{
    return ((unsigned)missing->silent[slot / 8] >> slot % 8 & 1u) != 0;
}

/* Of a slot's part, as code.h cuts them. */
static struct rows rows_of(const struct dataset *data, uint32_t slots,
                           uint32_t slot)
{
    const uint64_t chunks = dataset_chunks(data);
    const uint64_t end = (slot + 1) * chunks / slots * data->chunk_rows;

    return (struct rows){
        (uint32_t)(slot * chunks / slots * data->chunk_rows),
        end < data->rows ? (uint32_t)end : data->rows,
    };
}

static uint32_t slots_of(const struct train_missing *missing)
{
    return missing->slots < RECORD_SLOTS ? missing->slots : RECORD_SLOTS;
}

void missing_text(const struct setup *setup, const struct train_result *result)
{
    if (result->partial > 0)
        (void)printf("missing    some rows from %u of %u steps\n",
                     result->partial, result->steps);
    for (uint32_t i = 0; i < result->missing_count; i++) {
        const struct train_missing *missing = &result->missing[i];

        for (uint32_t slot = 0; slot < slots_of(missing); slot++) {
            const struct rows rows =
                rows_of(&setup->data, missing->slots, slot);

            if (is_silent(missing, slot))
                (void)printf("           step %u: rows %u to %u, slot %u of "
                             "%u\n",
                             missing->step, rows.first, rows.end - 1, slot,
                             missing->slots);
        }
    }
    if (result->partial > result->missing_count)
        (void)printf("           and so on: the journal has them all\n");
}

json_t *missing_json(const struct setup *setup,
                     const struct train_result *result)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < result->missing_count; i++) {
        const struct train_missing *missing = &result->missing[i];
        json_t *silent = json_array();
        json_t *gaps = json_array();

        for (uint32_t slot = 0; slot < slots_of(missing); slot++) {
            const struct rows rows =
                rows_of(&setup->data, missing->slots, slot);

            if (!is_silent(missing, slot))
                continue;
            (void)json_array_append_new(silent, json_integer(slot));
            (void)json_array_append_new(gaps, json_pack("[I, I]",
                                                        (json_int_t)rows.first,
                                                        (json_int_t)rows.end));
        }
        (void)json_array_append_new(
            list,
            json_pack("{s:I, s:I, s:o, s:o}", "step", (json_int_t)missing->step,
                      "slots", (json_int_t)missing->slots, "silent", silent,
                      "rows", gaps));
    }
    return list;
}
