/*
 * demo.c - what `make run` shows: eight workers, one slow, and an invitation.
 *
 * The pace is set by small injected delays, not by the machine's speed, so
 * that it lasts about ten seconds on a laptop and on a server.  With nobody at
 * the terminal a worker and the coordinator are killed by script.
 */
#include "cli/run.h"

struct demo_setting {
    int id;
    const char *text;
};

static const struct demo_setting settings[] = {
    {OPT_DATA, "gen:digits:3000"},
    {OPT_N, "8"},
    {OPT_OPTIM, "agd"}, /* Many steps alike; the loss falls to the last. */
    {OPT_STEPS, "300"},
    {OPT_STRAGGLERS, "1"},
    {OPT_DELAY, "exp:0.015+worker:w3=100"},
    {OPT_THREADS, "1"},
};

static const struct demo_setting script = {OPT_CHAOS,
                                           "kill:w6@80,kill:coordinator@160"};

enum err demo_settings(struct options *options, bool terminal, struct why *why)
{
    const size_t count = sizeof settings / sizeof *settings;
    enum err err = ERR_OK;

    for (size_t i = 0; i < count && err == ERR_OK; i++)
        err = option_set(options, settings[i].id, settings[i].text,
                         ORIGIN_DEFAULT, why);
    if (err == ERR_OK && !terminal)
        err = option_set(options, script.id, script.text, ORIGIN_DEFAULT, why);
    return err;
}
