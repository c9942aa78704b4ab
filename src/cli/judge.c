#include "cli/judge.h"

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

void judge_init(struct judge *judge)
{
    *judge = (struct judge){.pause_us = PAUSE_US};
}

static void thin(struct judge *judge)
{
    for (uint32_t i = 0; i < JUDGE_POINTS / 2; i++) {
        judge->step[i] = judge->step[2 * (size_t)i];
        judge->value[i] = judge->value[2 * (size_t)i];
    }
    judge->count = JUDGE_POINTS / 2;
    judge->pause_us *= 2;
}

static void measure(struct judge *judge, const struct setup *setup,
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
        if (judge->count == JUDGE_POINTS)
            thin(judge);
        if (isfinite(value)) {
            judge->step[judge->count] = checkpoint->step;
            judge->value[judge->count++] = value;
        }
    }
    optim_close(&optim);
}

/* Both are written in turn; a half written one does not decode. */
static void look_into(struct judge *judge, const struct setup *setup,
                      const char *folder, int number)
{
    char path[PATH_SIZE];
    struct checkpoint checkpoint;
    uint8_t *data;
    size_t size;

    (void)snprintf(path, sizeof path, "%s/checkpoint.%d", folder, number);
    if (file_read(path, SIZE_MAX / 2, &data, &size, NULL) != ERR_OK)
        return;
    if (checkpoint_decode(data, size, &checkpoint) == ERR_OK &&
        (judge->count == 0 || checkpoint.step > judge->step[judge->count - 1]))
        measure(judge, setup, &checkpoint);
    mem_free(data);
}

void judge_look(struct judge *judge, const struct setup *setup,
                const char *folder, time_us now)
{
    if (!setup->has_valid || now - judge->judged_at < judge->pause_us ||
        now - judge->judged_at < SHARE * judge->judged_us)
        return;
    for (int number = 0; number < FILES; number++)
        look_into(judge, setup, folder, number);
    judge->judged_at = clock_now_us();
    judge->judged_us = judge->judged_at - now;
}

json_t *judge_json(const struct judge *judge)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < judge->count; i++)
        (void)json_array_append_new(
            list,
            json_pack("[I, f]", (json_int_t)judge->step[i], judge->value[i]));
    return list;
}
