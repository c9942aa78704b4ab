/*
 * notice_child.c - a process that ends when the spot notice comes.
 */
#include "node/run/notice_child.h"

#include <stddef.h>

#include "os/log.h"
#include "os/run/process.h"

/* It ends with 0 when the notice has come. */
static int notice_main(void *context)
{
    struct notice *notice;

    if (notice_new(context, &notice) != ERR_OK)
        return 1;
    notice_await(notice);
    notice_free(notice);
    return 0;
}

enum err notice_child_start(const struct notice_options *options,
                            const int *drop, uint32_t drop_count, int *pid,
                            struct why *why)
{
    struct notice_options copy = *options;
    const struct process_start how = {.title = "muster:notice",
                                      .drop = drop,
                                      .drop_count = drop_count,
                                      .main = notice_main,
                                      .context = &copy};

    return options->kind == NULL ? ERR_OK : process_fork(&how, pid, why);
}

bool notice_child_told(int *pid)
{
    struct process_end end;

    if (*pid == 0 || !process_ended(*pid, &end))
        return false;
    *pid = 0;
    if (process_failed(&end)) {
        log_line("nobody looks for the spot notice any more");
        return false;
    }
    log_note("this machine is to be taken away; saving the state");
    return true;
}

void notice_child_end(int *pid)
{
    if (*pid == 0)
        return;
    process_kill(*pid);
    process_reap(*pid);
    *pid = 0;
}
