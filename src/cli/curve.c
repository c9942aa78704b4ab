#include "cli/curve.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "core/store.h"
#include "os/clock.h"
#include "os/file.h"

#define PAUSE_US  SECOND_US
#define SHARE     10 /* At most a tenth of the time. */
#define PATH_SIZE 1024u
#define FILES     2

void curve_init(struct curve *curve)
{
    *curve = (struct curve){.pause_us = PAUSE_US};
}

static void thin(struct curve *curve)
{
    for (uint32_t i = 0; i < CURVE_POINTS / 2; i++) {
        curve->step[i] = curve->step[2 * (size_t)i];
        curve->value[i] = curve->value[2 * (size_t)i];
    }
    curve->count = CURVE_POINTS / 2;
    curve->pause_us *= 2;
}

static void measure(struct curve *curve, const struct setup *setup,
                    const struct checkpoint *checkpoint)
{
    const struct optim_options options = setup_optim(setup, &setup->code);
    const struct problem problem = setup_problem(setup);
    struct reader in = reader_on(checkpoint->state, checkpoint->state_size);
    struct optim optim = {0};
    struct metrics metrics;
    double value;

    if (optim_init(&optim, &options, problem_dims(&problem)) != ERR_OK)
        return;
    if (optim_load(&optim, &in) == ERR_OK) {
        metrics = setup_measure(setup, &setup->valid, optim_weights(&optim));
        value = metric_value(&metrics, setup->metric);
        if (curve->count == CURVE_POINTS)
            thin(curve);
        if (isfinite(value)) {
            curve->step[curve->count] = checkpoint->step;
            curve->value[curve->count++] = value;
        }
    }
    optim_close(&optim);
}

/* Both are written in turn; a half written one does not decode. */
static void look_into(struct curve *curve, const struct setup *setup,
                      const char *folder, int number)
{
    char path[PATH_SIZE];
    struct checkpoint checkpoint;
    uint8_t *data;
    size_t size;

    (void)snprintf(path, sizeof path, "%s/checkpoint.%d", folder, number);
    if (file_read_plain(path, SIZE_MAX / 2, &data, &size, NULL) != ERR_OK)
        return;
    if (checkpoint_decode(data, size, &checkpoint) == ERR_OK &&
        (curve->count == 0 || checkpoint.step > curve->step[curve->count - 1]))
        measure(curve, setup, &checkpoint);
    mem_free(data);
}

void curve_look(struct curve *curve, const struct setup *setup,
                const char *folder, time_us now)
{
    if (!setup->has_valid || now - curve->looked_at < curve->pause_us ||
        now - curve->looked_at < SHARE * curve->looked_us)
        return;
    for (int number = 0; number < FILES; number++)
        look_into(curve, setup, folder, number);
    curve->looked_at = clock_now_us();
    curve->looked_us = curve->looked_at - now;
}

json_t *curve_json(const struct curve *curve)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < curve->count; i++)
        (void)json_array_append_new(
            list,
            json_pack("[I, f]", (json_int_t)curve->step[i], curve->value[i]));
    return list;
}
