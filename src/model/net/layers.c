/*
 * layers.c - the table of layers.
 */
#include <string.h>

#include "model/net/bugs.h"
#include "model/net/layer.h"

#define NUMBER_MAX (UINT32_C(1) << 20)

#ifdef MUSTER_PLANTED_BUGS
enum neural_bug neural_bug = NEURAL_BUG_NONE;
#endif

static const struct layer_ops *const table[] = {
#define LAYER_OPS(name) &layer_##name,
    NEURAL_LAYERS(LAYER_OPS)
#undef LAYER_OPS
};

const struct layer_ops *layer_find(const char *text, const char **rest)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const size_t length = strlen(table[i]->name);

        if (strncmp(text, table[i]->name, length) == 0) {
            *rest = text + length;
            return table[i];
        }
    }
    return NULL;
}

const char *layer_name(uint32_t i)
{
    return i < sizeof table / sizeof *table ? table[i]->name : NULL;
}

bool layer_number(const char **text, uint32_t *number)
{
    uint32_t value = 0;
    const char *at = *text;

    for (; *at >= '0' && *at <= '9' && value <= NUMBER_MAX; at++)
        value = value * 10 + (uint32_t)(*at - '0');
    if (at == *text || value == 0 || value > NUMBER_MAX)
        return false;
    *text = at;
    *number = value;
    return true;
}

bool layer_option(const char **text, char mark, uint32_t otherwise,
                  uint32_t *number)
{
    *number = otherwise;
    if (**text != mark)
        return true;
    ++*text;
    return layer_number(text, number);
}

bool layer_is_one(const char *text)
{
    struct layer layer = {0};
    const char *rest;

    layer.ops = layer_find(text, &rest);
    return layer.ops != NULL && layer.ops->parse(rest, &layer);
}
