/*
 * witness.c - the trace of a run with workers as sentences for `log`.
 */
#include "api/witness.h"

#include "base/mem.h"
#include "node/run/train.h"
#include "os/clock.h"

struct witness {
    const struct muster_recipe *recipe;
    struct progress progress;
    struct waiting waiting;
};

enum err witness_new(const struct muster_recipe *recipe,
                     const struct waiting *waiting, struct witness **witness)
{
    struct witness *made;

    *witness = NULL;
    if (recipe->log == NULL)
        return ERR_OK;
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    made->recipe = recipe;
    made->waiting = *waiting;
    progress_init(&made->progress);
    *witness = made;
    return ERR_OK;
}

void witness_free(struct witness *witness)
{
    mem_free(witness);
}

static void say(const struct witness *witness, const char *sentence)
{
    if (sentence != NULL)
        callback_log(witness->recipe, sentence);
}

void witness_see(struct witness *witness, const struct trace *trace)
{
    char event[TRACE_TEXT], wait[WAITING_TEXT];
    const struct train_process *process;
    uint32_t count;

    if (witness == NULL)
        return;
    if (trace != NULL) {
        progress_event(&witness->progress, trace);
        say(witness, progress_sentence(&witness->progress, trace, event));
    }
    process = train_processes(&count);
    for (uint32_t i = 0; i < count; i++)
        if (process[i].pid == 0)
            progress_gone(&witness->progress, process[i].name);
    say(witness, waiting_look(&witness->waiting, &witness->progress,
                              clock_now_us(), wait));
}
