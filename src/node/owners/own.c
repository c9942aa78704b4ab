/*
 * own.c - a thread for one's own rows in a roll call.
 */
#include "node/owners/own.h"

#include "base/check.h"
#include "base/mem.h"
#include "os/run/loop.h"

struct own {
    struct enrol_options options;
    struct net_address door;
    struct enrol *enrol;
    struct loop *loop;
    struct task *task; /* Its thread owns the next four until it is freed. */
    struct owned owned;
    struct parts parts; /* Those of the caller, once more. */
    enum err err;
    struct why why;
    struct flag stop, failed; /* Any thread. */
};

static void work(void *context)
{
    struct own *own = context;

    own->err = enrol_serve(own->enrol, &own->owned, &own->parts, &own->why);
    if (own->err != ERR_OK)
        flag_raise(&own->failed);
}

/* Nobody runs that loop: own_end waits. */
static void done(void *context)
{
    (void)context;
}

enum err own_start(const struct enrol_options *options, struct own **own,
                   struct why *why)
{
    struct own *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    CHECK(options->ring);
    made->options = *options;
    made->options.stop = &made->stop;
    made->door = options->addresses[0];
    made->options.addresses = &made->door;
    made->options.address_count = 1;
    err = enrol_new(&made->options, &made->enrol, why);
    if (err == ERR_OK)
        err = loop_new(&made->loop);
    if (err == ERR_OK)
        err = task_new(made->loop, work, done, made, &made->task);
    if (err != ERR_OK) {
        own_free(made);
        return err;
    }
    task_start(made->task);
    *own = made;
    return ERR_OK;
}

const struct flag *own_failed(const struct own *own)
{
    return &own->failed;
}

enum err own_end(struct own *own, struct owned *owned, struct why *why)
{
    if (own->task != NULL)
        task_free(own->task);
    own->task = NULL;
    if (own->err != ERR_OK)
        return why_set(why, own->err, "%s", own->why.text);
    *owned = own->owned;
    own->owned = (struct owned){0};
    return ERR_OK;
}

void own_free(struct own *own)
{
    if (own == NULL)
        return;
    flag_raise(&own->stop);
    if (own->task != NULL)
        task_free(own->task);
    loop_free(own->loop);
    enrol_free(own->enrol);
    owned_close(&own->owned);
    parts_close(&own->parts);
    mem_free(own);
}
