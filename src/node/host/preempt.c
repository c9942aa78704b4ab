/*
 * preempt.c - a timer and a thread that ask for the preemption notice of a spot
 * instance, beside a worker's loop.
 */
#include "node/host/preempt.h"

#include "base/mem.h"
#include "os/clock.h"
#include "os/log.h"

struct preempt {
    struct timer *timer;
    struct task *task; /* Its thread owns the fields below while busy. */
    struct notice *notice;
    bool is_told;
    struct why why;
    /* The loop's. */
    bool mute; /* That nobody answers was said. */
    loop_callback told;
    void *context;
};

static void look(void *context)
{
    struct preempt *preempt = context;

    preempt->is_told = notice_look(preempt->notice, &preempt->why);
}

/* Said once, and again when it happens anew. */
static void complain(struct preempt *preempt)
{
    const bool failed = preempt->why.text[0] != '\0';

    if (failed && !preempt->mute)
        log_line("the spot notice cannot be asked for: %s; still trying",
                 preempt->why.text);
    preempt->mute = failed;
}

static void looked(void *context)
{
    struct preempt *preempt = context;

    complain(preempt);
    if (preempt->is_told) {
        log_note("this machine is to be taken away; leaving");
        preempt->told(preempt->context);
        return;
    }
    timer_at(preempt->timer, clock_now_us() + NOTICE_EVERY_US);
}

static void due(void *context)
{
    struct preempt *preempt = context;

    task_start(preempt->task);
}

enum err preempt_new(struct loop *loop, const struct notice_options *options,
                     loop_callback told, void *context,
                     struct preempt **preempt)
{
    struct preempt *made;
    enum err err;

    *preempt = NULL;
    if (options->kind == NULL)
        return ERR_OK;
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    made->told = told;
    made->context = context;
    err = notice_new(options, &made->notice);
    if (err == ERR_OK)
        err = timer_new(loop, due, made, &made->timer);
    if (err == ERR_OK)
        err = task_new(loop, look, looked, made, &made->task);
    if (err != ERR_OK) {
        preempt_free(made);
        return err;
    }
    timer_at(made->timer, clock_now_us());
    *preempt = made;
    return ERR_OK;
}

void preempt_free(struct preempt *preempt)
{
    if (preempt == NULL)
        return;
    task_free(preempt->task);
    timer_free(preempt->timer);
    notice_free(preempt->notice);
    mem_free(preempt);
}
