/*
 * value_check.c - what is no value of its row is refused where it is given.
 */
#include "learn/recipe/value_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "code/preset.h"
#include "data/read/table_source.h"
#include "data/rows/colour.h"
#include "data/rows/image.h"
#include "learn/network_text.h"
#include "learn/trust.h"
#include "node/host/chaos.h"
#include "node/host/ways.h"
#include "os/file/file.h"
#include "os/net/net.h"
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

/* A label may be any word, so that only the last weight can be told. */
enum err value_check_class_weight(const char *text, struct why *why)
{
    const char *const last = strrchr(text, '=');
    char *end;
    double weight;

    if (strcmp(text, "balanced") == 0)
        return ERR_OK;
    if (last == NULL)
        return why_set(why, ERR_RANGE,
                       "--class-weight %.64s: expected LABEL=WEIGHT,... or "
                       "balanced",
                       text);
    weight = strtod(last + 1, &end);
    if (end == last + 1 || (*end != '\0' && strcmp(end, ",") != 0) ||
        !(weight > 0 && weight <= 1e12))
        return why_set(why, ERR_RANGE,
                       "--class-weight %.64s: the weight must be above 0 and "
                       "at most 1e12",
                       text);
    return ERR_OK;
}

enum err value_check_listen(const char *text, struct why *why)
{
    struct net_address address;
    const enum err err = net_parse(text, &address, why);

    return err == ERR_OK ? err : why_in(why, err, "--listen");
}

enum err value_check_peers(const char *text, struct why *why)
{
    struct ways ways = {0};
    const enum err err = ways_parse(text, &ways, why);

    return err == ERR_OK ? err : why_in(why, err, "--peers");
}

enum err value_check_separator(const char *text, struct why *why)
{
    char separator;

    return table_separator(text, &separator, why);
}

enum err value_check_shape(const char *text, struct why *why)
{
    struct image image;

    return image_parse(text, &image, why);
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
    err = preset_read(copy, &options, why);
    if (err == ERR_OK)
        err = preset_words(&options, why);
    if (err == ERR_OK && options.filters != NULL)
        err = colour_vet(options.filters, why);
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

/* What is neither a part of the rows nor a file, but a number: 20 or 20% is
 * what others write. */
enum err value_check_valid(const char *text, struct why *why)
{
    char *end;
    const double value = strtod(text, &end);

    if (end == text || (*end != '\0' && strcmp(end, "%") != 0) ||
        (value > 0 && value < 1 && *end == '\0') || file_exists(text))
        return ERR_OK;
    if (value < 100 && (value >= 2 || (value > 0 && *end == '%')))
        return why_set(why, ERR_RANGE,
                       "--valid %.32s: there is no such file; a part of the "
                       "rows is written as %.6g",
                       text, value / 100);
    return why_set(why, ERR_RANGE,
                   "--valid %.32s: a part of the rows is above 0 and below "
                   "1, and there is no such file",
                   text);
}
