/*
 * value_check.c - what is no value of its row is refused where it is given.
 */
#include "learn/recipe/value_check.h"

#include <string.h>

#include "base/mem.h"
#include "code/preset.h"
#include "learn/network_text.h"
#include "learn/trust.h"
#include "node/host/chaos.h"
#include "plan/delay.h"

enum err value_check_audit(const char *text, struct why *why)
{
    double share;

    return trust_share(text, &share, why);
}

enum err value_check_chaos(const char *text, struct why *why)
{
    struct chaos *const chaos = mem_new(1, sizeof *chaos); /* It is large. */
    enum err err;

    if (chaos == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = chaos_parse(text, chaos, why);
    mem_free(chaos);
    return err;
}

enum err value_check_code(const char *text, struct why *why)
{
    struct preset_options options = {0};
    char *copy;
    enum err err;

    if (strcmp(text, AUTO_NAME) == 0)
        return ERR_OK;
    copy = mem_text(text);
    if (copy == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    err = preset_parse(copy, &options, why);
    if (err == ERR_OK)
        err = preset_words(&options, why);
    mem_free(copy);
    return err == ERR_UNKNOWN || err == ERR_RANGE ? why_in(why, err, "--code")
                                                  : err;
}

enum err value_check_delay(const char *text, struct why *why)
{
    struct delay delay;

    return delay_parse(text, 0, &delay, why);
}

enum err value_check_net(const char *text, struct why *why)
{
    return network_check(text, why);
}
