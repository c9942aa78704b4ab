/*
 * curve.c - the learning curve on the validation set of a run with workers: a
 * child of the supervisor reads the newest checkpoint now and then and measures
 * it.
 */
#include "cli/show/curve.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "core/run/store.h"
#include "learn/family/family.h"
#include "os/file/file.h"
#include "os/run/process.h"
#include "os/run/wait.h"

#define PAUSE_US    SECOND_US
#define SHARE       10 /* At most a tenth of the time. */
#define PATH_SIZE   1024u
#define FILES       2
#define SPARE_BYTES (UINT64_C(1) << 20)

struct point {
    uint32_t step;
    double value;
};

struct look {
    const struct setup *setup;
    const char *folder;
    uint32_t after; /* Of later steps only. */
    int writer;
};

void curve_init(struct curve *curve)
{
    *curve = (struct curve){.pause_us = PAUSE_US, .reader = -1};
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

/* In the child: what it finds goes through the pipe, in one piece each. */
static void measure(const struct look *look,
                    const struct checkpoint *checkpoint)
{
    const struct setup *setup = look->setup;
    const struct optim_options options = setup_optim(setup, &setup->code);
    struct reader in = reader_on(checkpoint->state, checkpoint->state_size);
    struct optim optim = {0};
    struct metrics metrics;
    struct point point = {.step = checkpoint->step};

    if (optim_init(&optim, &options, setup_family(setup)->dims(setup)) !=
        ERR_OK)
        return;
    if (optim_load(&optim, &in) == ERR_OK) {
        metrics = setup_measure(setup, &setup->valid, optim_weights(&optim));
        point.value = metric_value(&metrics, setup->metric);
        if (isfinite(point.value))
            wait_write(look->writer, &point, sizeof point);
    }
    optim_close(&optim);
}

/* More than a checkpoint of this training has: beside the optimiser's state
 * there are the best model and scales, of as many numbers as there are weights
 * at most. */
static size_t largest(const struct setup *setup)
{
    const struct optim_options options = setup_optim(setup, &setup->code);
    struct optim optim = {0};
    size_t bytes = 0;

    if (optim_init(&optim, &options, setup_family(setup)->dims(setup)) ==
        ERR_OK) {
        bytes = checkpoint_bytes(8 * optim_state_bytes(&optim) + SPARE_BYTES);
        optim_close(&optim);
    }
    return bytes;
}

/* Both are written in turn; a half written one does not decode. */
static void look_into(const struct look *look, int number)
{
    char path[PATH_SIZE];
    struct checkpoint checkpoint;
    uint8_t *data;
    size_t size;

    (void)snprintf(path, sizeof path, "%s/checkpoint.%d", look->folder, number);
    if (file_read_plain(path, largest(look->setup), &data, &size, NULL) !=
        ERR_OK)
        return;
    if (checkpoint_decode(data, size, &checkpoint) == ERR_OK &&
        checkpoint.step > look->after)
        measure(look, &checkpoint);
    mem_free(data);
}

static int look_main(void *context)
{
    struct look *look = context;

    process_keep_only(&look->writer);
    for (int number = 0; number < FILES; number++)
        look_into(look, number);
    return 0;
}

static void begin(struct curve *curve, const struct setup *setup,
                  const char *folder, time_us now)
{
    struct look look = {
        .setup = setup,
        .folder = folder,
        .after = curve->count == 0 ? 0 : curve->step[curve->count - 1],
    };
    const struct process_start how = {
        .title = "muster:valid", .main = look_main, .context = &look};

    curve->looked_at = now;
    if (wait_pipe(&curve->reader, &look.writer, NULL) != ERR_OK)
        return;
    if (process_fork(&how, &curve->pid, NULL) != ERR_OK)
        wait_close(&curve->reader);
    wait_close(&look.writer);
}

static void take(struct curve *curve, const struct point *point)
{
    if (curve->count == CURVE_POINTS)
        thin(curve);
    if (curve->count > 0 && point->step <= curve->step[curve->count - 1])
        return; /* The older of two files. */
    curve->step[curve->count] = point->step;
    curve->value[curve->count++] = point->value;
}

/* Once the child is done: what it found. */
static void collect(struct curve *curve, time_us now)
{
    struct process_end end;
    struct point found[FILES];
    bool ended;
    size_t count;

    if (!process_ended(curve->pid, &end))
        return;
    curve->pid = 0;
    count =
        wait_read(curve->reader, found, sizeof found, &ended) / sizeof *found;
    wait_close(&curve->reader);
    for (size_t i = 0; i < count; i++)
        take(curve, &found[i]);
    curve->looked_us = now - curve->looked_at;
    curve->looked_at = now;
}

void curve_look(struct curve *curve, const struct setup *setup,
                const char *folder, time_us now)
{
    if (curve->pid != 0)
        collect(curve, now);
    else if (setup->has_valid && now - curve->looked_at >= curve->pause_us &&
             now - curve->looked_at >= SHARE * curve->looked_us)
        begin(curve, setup, folder, now);
}

void curve_end(struct curve *curve)
{
    if (curve->pid == 0)
        return;
    process_kill(curve->pid);
    process_reap(curve->pid);
    curve->pid = 0;
    wait_close(&curve->reader);
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
