/*
 * translate.c - a network as Keras and PyTorch write it, in layers of ours:
 *
 *     Dense(32, activation='relu'), Dense(3)     dense32 relu dense3
 *     nn.Conv2d(1, 32, 3), nn.ReLU()             conv3x3x32 relu
 *     dense32-relu-dense3                        dense32 relu dense3
 *
 * It is for a sentence, not for training: of what it does not know it says
 * nothing.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/span.h"
#include "model/net/layer.h"

enum { ARGUMENTS_MAX = 12 };

/* Name(argument, argument, key=argument). */
struct call {
    struct span name;
    struct span argument[ARGUMENTS_MAX];
    uint32_t arguments;
};

struct text {
    char *at;
    size_t room, used;
};

static bool is_named(const struct call *call, const char *name)
{
    return call->name.size == strlen(name) &&
           strncasecmp(call->name.at, name, call->name.size) == 0;
}

/* Of nn.Linear and keras.layers.Dense the end; drop.25 has no letter there. */
static void cut_package(struct span *name)
{
    for (size_t i = name->size; i-- > 1;)
        if (name->at[i - 1] == '.' && isalpha((unsigned char)name->at[i])) {
            name->at += i;
            name->size -= i;
            return;
        }
}

/* *at is behind a bracket, and moves behind the one that closes it. */
static bool take_arguments(const char **at, struct call *call)
{
    const char *begin = *at;
    uint32_t depth = 0;

    for (; **at != '\0'; ++*at) {
        const bool closes = **at == ')' || **at == ']';

        if (depth == 0 && (**at == ',' || **at == ')')) {
            const struct span one =
                span_trim((struct span){begin, (size_t)(*at - begin)});

            if (call->arguments == ARGUMENTS_MAX)
                return false;
            if (one.size > 0)
                call->argument[call->arguments++] = one;
            begin = *at + 1;
            if (**at == ')') {
                ++*at;
                return true;
            }
        } else if (closes && depth-- == 0) {
            return false;
        }
        depth += **at == '(' || **at == '[';
    }
    return false;
}

/* What stands around layers: lists, and the brackets of Sequential. */
static void skip_around(const char **at)
{
    static const char *const around[] = {"nn.Sequential(", "Sequential(",
                                         "model.add("};

    for (bool more = true; more;) {
        *at += strspn(*at, " \t\r\n,;->|[]()");
        more = false;
        for (size_t i = 0; i < sizeof around / sizeof *around && !more; i++)
            if (strncmp(*at, around[i], strlen(around[i])) == 0) {
                *at += strlen(around[i]);
                more = true;
            }
    }
}

static bool take_call(const char **at, struct call *call)
{
    const char *const begin = *at;

    *call = (struct call){0};
    while (isalnum((unsigned char)**at) ||
           (**at != '\0' && strchr("._/+", **at) != NULL))
        ++*at;
    call->name = (struct span){begin, (size_t)(*at - begin)};
    cut_package(&call->name);
    if (call->name.size == 0)
        return false;
    if (**at != '(')
        return true;
    ++*at;
    return take_arguments(at, call);
}

/* By one of the keys ("units|out_features"), or by its place among those that
 * have none. */
static struct span argument(const struct call *call, const char *keys,
                            uint32_t place)
{
    uint32_t nameless = 0;

    for (uint32_t i = 0; i < call->arguments; i++) {
        const struct span one = call->argument[i];
        const char *const sign = memchr(one.at, '=', one.size);
        const struct span key = span_trim(
            (struct span){one.at, sign == NULL ? 0 : (size_t)(sign - one.at)});

        if (sign == NULL && nameless++ == place)
            return one;
        for (const char *name = keys; sign != NULL && *name != '\0';) {
            const size_t size = strcspn(name, "|");

            if (size == key.size && memcmp(name, key.at, size) == 0)
                return span_trim((struct span){
                    sign + 1, one.size - (size_t)(sign + 1 - one.at)});
            name += size + (name[size] == '|');
        }
    }
    return (struct span){0};
}

static uint32_t nameless_arguments(const struct call *call)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < call->arguments; i++)
        count +=
            memchr(call->argument[i].at, '=', call->argument[i].size) == NULL;
    return count;
}

/* 3, or (3, 5); `otherwise` if there is none. */
static bool sides(struct span value, uint32_t otherwise, uint32_t side[2])
{
    char text[32];
    const char *at = text;

    side[0] = side[1] = otherwise;
    if (value.size == 0)
        return otherwise != UINT32_MAX;
    if (value.size >= sizeof text)
        return false;
    (void)snprintf(text, sizeof text, "%.*s", (int)value.size, value.at);
    at += strspn(at, "([ ");
    if (*at == '0') {
        side[0] = side[1] = 0;
        return at[strspn(at, "0, )]")] == '\0';
    }
    if (!layer_number(&at, &side[0]))
        return false;
    at += strspn(at, ", ");
    side[1] = side[0];
    if (*at != '\0' && strchr(")]", *at) == NULL &&
        !layer_number(&at, &side[1]))
        return false;
    return at[strspn(at, ")] ")] == '\0';
}

/* Lower case, without quotes; false: there is no such layer. */
static bool put_layer(struct text *text, struct span word)
{
    char layer[NEURAL_TEXT_MAX];
    size_t size = 0;

    for (size_t i = 0; i < word.size && size + 1 < sizeof layer; i++)
        if (strchr("'\"", word.at[i]) == NULL)
            layer[size++] = (char)tolower((unsigned char)word.at[i]);
    layer[size] = '\0';
    if (!layer_is_one(layer) || text->used + size + 2 > text->room)
        return false;
    text->used +=
        (size_t)snprintf(text->at + text->used, text->room - text->used, "%s%s",
                         text->used > 0 ? " " : "", layer);
    return true;
}

static bool put_text(struct text *text, const char *layer)
{
    return put_layer(text, (struct span){layer, strlen(layer)});
}

static bool put_dense(struct text *text, const struct call *call)
{
    const bool both = nameless_arguments(call) > 1 && is_named(call, "linear");
    uint32_t units[2];
    char layer[NEURAL_TEXT_MAX];

    if (!sides(argument(call, "units|out_features", both ? 1 : 0), UINT32_MAX,
               units))
        return false;
    (void)snprintf(layer, sizeof layer, "dense%u", units[0]);
    return put_text(text, layer);
}

/* torch's Conv2d has the channels of its input first, Keras' Conv2D has not. */
static bool put_conv(struct text *text, const struct call *call)
{
    const uint32_t first = call->name.at[call->name.size - 1] == 'd' ? 1 : 0;
    const struct span edge = argument(call, "padding", first + 3);
    const bool same = edge.size > 2 && memcmp(edge.at + 1, "same", 4) == 0;
    const bool word = edge.size > 0 && strchr("'\"", *edge.at) != NULL;
    const struct span zeros = {edge.at, word ? 0 : edge.size};
    uint32_t out[2], side[2], step[2], pad[2];
    char layer[2 * NEURAL_TEXT_MAX], more[NEURAL_TEXT_MAX] = "";

    if (!sides(argument(call, "filters|out_channels", first), UINT32_MAX,
               out) ||
        !sides(argument(call, "kernel_size", first + 1), UINT32_MAX, side) ||
        !sides(argument(call, "strides|stride", first + 2), 1, step) ||
        !sides(zeros, 0, pad))
        return false;
    if (same)
        pad[0] = pad[1] = side[0] / 2;
    if (step[0] != step[1] || pad[0] != pad[1] ||
        (same && (side[0] != side[1] || side[0] % 2 == 0 || step[0] != 1)))
        return false;
    if (step[0] > 1)
        (void)snprintf(more, sizeof more, "/%u", step[0]);
    if (pad[0] > 0)
        (void)snprintf(more + strlen(more), sizeof more - strlen(more), "+%u",
                       pad[0]);
    (void)snprintf(layer, sizeof layer, "conv%ux%ux%u%s", side[0], side[1],
                   out[0], more);
    return put_text(text, layer);
}

static bool put_pool(struct text *text, const struct call *call)
{
    uint32_t side[2], step[2];
    char layer[NEURAL_TEXT_MAX], more[16] = "";

    if (!sides(argument(call, "pool_size|kernel_size", 0), 2, side) ||
        !sides(argument(call, "strides|stride", 1), side[0], step) ||
        side[0] != side[1] || step[0] != step[1])
        return false;
    if (step[0] != side[0])
        (void)snprintf(more, sizeof more, "/%u", step[0]);
    (void)snprintf(layer, sizeof layer, "%s%u%s",
                   tolower((unsigned char)*call->name.at) == 'm' ? "pool"
                                                                 : "avg",
                   side[0], more);
    return put_text(text, layer);
}

static bool put_drop(struct text *text, const struct call *call)
{
    const struct span rate = argument(call, "rate|p", 0);
    char layer[NEURAL_TEXT_MAX];

    (void)snprintf(layer, sizeof layer, "drop%.*s", (int)rate.size, rate.at);
    return put_text(text, layer);
}

/* A function behind a layer.  The loss has its own, and linear is none. */
static bool put_activation(struct text *text, struct span name)
{
    static const char *const none[] = {"'softmax'", "\"softmax\"", "'linear'",
                                       "\"linear\"", "None"};

    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (span_is(name, none[i]))
            return true;
    return name.size == 0 || put_layer(text, name);
}

static bool is_implied(const struct call *call)
{
    static const char *const names[] = {"softmax", "logsoftmax", "log_softmax",
                                        "flatten", "input",      "inputlayer"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(call, names[i]))
            return true;
    return false;
}

static bool put_call(struct text *text, const struct call *call)
{
    static const struct {
        const char *name;
        bool (*put)(struct text *text, const struct call *call);
    } kinds[] = {{"dense", put_dense},      {"linear", put_dense},
                 {"lazylinear", put_dense}, {"conv2d", put_conv},
                 {"maxpool2d", put_pool},   {"maxpooling2d", put_pool},
                 {"avgpool2d", put_pool},   {"averagepooling2d", put_pool},
                 {"dropout", put_drop}};

    if (is_implied(call))
        return true;
    if (is_named(call, "activation"))
        return put_activation(text, argument(call, "activation", 0));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_named(call, kinds[i].name))
            return kinds[i].put(text, call) &&
                   put_activation(
                       text,
                       argument(call, "activation",
                                is_named(call, "dense") ? 1 : ARGUMENTS_MAX));
    return call->arguments == 0 && put_layer(text, call->name);
}

bool layer_translate(const char *net, char *ours, size_t room)
{
    struct text text = {.at = ours, .room = room};

    *ours = '\0';
    for (skip_around(&net); *net != '\0'; skip_around(&net)) {
        struct call call;

        if (!take_call(&net, &call) || !put_call(&text, &call))
            return false;
    }
    return text.used > 0;
}
