#include "stage.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "code/preset.h"

uint32_t stage_count(const struct actions *actions, enum action_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < actions->count; i++)
        count += actions->list[i].kind == kind;
    return count;
}

const struct action *stage_find_action(const struct actions *actions,
                                       enum action_kind kind)
{
    for (uint32_t i = 0; i < actions->count; i++) {
        if (actions->list[i].kind == kind)
            return &actions->list[i];
    }
    return NULL;
}

uint32_t stage_count_msg(const struct actions *actions, enum msg_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < actions->count; i++)
        count += actions->list[i].kind == ACTION_SEND &&
                 actions->list[i].msg.kind == kind;
    return count;
}

const struct msg *stage_find(const struct actions *actions, enum msg_kind kind)
{
    for (uint32_t i = 0; i < actions->count; i++) {
        if (actions->list[i].kind == ACTION_SEND &&
            actions->list[i].msg.kind == kind)
            return &actions->list[i].msg;
    }
    return NULL;
}

uint32_t stage_count_trace(const struct actions *actions, enum trace_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < actions->count; i++)
        count += actions->list[i].kind == ACTION_TRACE &&
                 actions->list[i].trace.kind == kind;
    return count;
}

uint8_t *stage_sealed(const struct action *checkpoint, size_t *size)
{
    const struct digest digest =
        hash_bytes(checkpoint->bytes, checkpoint->size);
    uint8_t *file;

    *size = checkpoint->size + DIGEST_BYTES;
    file = mem_new(*size, 1);
    CHECK(file != NULL);
    memcpy(file, checkpoint->bytes, checkpoint->size);
    memcpy(file + checkpoint->size, digest.bytes, DIGEST_BYTES);
    return file;
}

struct job stage_job(uint32_t chunks)
{
    return (struct job){
        .id = 77,
        .coded_cols = 8,
        .rows = chunks * 4,
        .chunk_rows = 4,
        .dims = 8,
        .sum_dims = 8,
        .chunks = chunks,
        .beat_us = 50 * MS_US,
        .dead_us = 2 * SECOND_US,
    };
}

static enum err unit_exponents(struct scale *self,
                               const struct evaluation *what, int16_t *exponent)
{
    (void)self;
    for (uint32_t j = 0; j < 8; j++) {
        if (!isfinite(what->w[j]))
            return ERR_RANGE;
        exponent[j] = 0;
    }
    exponent[8] = 60;
    return ERR_OK;
}

static const struct scale_ops unit_ops = {.exponents = unit_exponents};
static struct scale unit_scale = {.ops = &unit_ops};

struct coordinator_options stage_options(const char *preset, uint32_t slots,
                                         uint32_t stragglers, uint32_t steps)
{
    struct coordinator_options options = {
        .vectors = 1,
        .length = 8,
        .job = stage_job(2 * slots),
        .slots = slots,
        .links_max = slots + 4,
        .optim = {.kind = OPTIM_GD,
                  .rate = 0.5,
                  .decay = 1,
                  .steps = steps,
                  .rows = 8 * slots},
        .scale = &unit_scale,
        .suspect_us = 300 * MS_US,
        .resend_us = SECOND_US,
        .gather_us = SECOND_US,
        .ledger.checkpoint_steps = 1000,
        .ledger.checkpoint_us = TIME_NEVER,
    };
    const struct preset_options choice = {
        .name = preset,
        .stragglers = stragglers,
        .workers = slots,
        .collect = 1,
    };
    struct why why = {0};

    CHECK(preset_spec(&choice, &options.code, &why) == ERR_OK);
    return options;
}
