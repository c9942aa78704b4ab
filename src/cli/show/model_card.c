/*
 * model_card.c - the model cards of the command line, and cards as text.
 */
#include "cli/show/model_card.h"

#include <stdio.h>
#include <string.h>

#include "base/plain.h"
#include "os/file/output.h"

void model_card_write(const struct run *run, const struct train_result *result,
                      const char *model, const struct digest *sum)
{
    struct why why = {"out of memory"};
    json_t *card;

    if (output_is_stdout(model) || !output_is_file(model))
        return; /* The rows need not be hashed. */
    card = model_card_new(run->setup, &run->cli->options.recipe, result,
                          &run->metrics);
    if (model_card_save(card, model, sum, &why) != ERR_OK || card == NULL)
        (void)fprintf(stderr, "muster: no model card was written: %s\n",
                      why.text);
    json_decref(card);
}

/* "name value, name value" of an object's numbers and texts. */
static void list(json_t *object, const char *between, char *text, size_t size)
{
    size_t used = 0;
    const char *name;
    json_t *value;

    text[0] = '\0';
    json_object_foreach(object, name, value)
    {
        char number[32] = "";

        if (json_is_number(value))
            (void)snprintf(number, sizeof number, "%.6g",
                           json_number_value(value));
        else if (!json_is_string(value))
            continue;
        if (used < size)
            used += (size_t)snprintf(
                text + used, size - used, "%s%s %s", used > 0 ? between : "",
                name, number[0] != '\0' ? number : json_string_value(value));
    }
}

/* A card may be anybody's: no control character of it is shown. */
static void show_list(const char *title, json_t *object)
{
    char text[WHY_SIZE], shown[WHY_SIZE];

    list(object, ", ", text, sizeof text);
    (void)plain_copy(shown, sizeof shown, text, strlen(text));
    if (shown[0] != '\0')
        (void)printf("%-10s %s\n", title, shown);
}

void model_card_show(json_t *card)
{
    static const struct {
        const char *title, *key;
    } lines[] = {
        {"data", "data"},           {"options", "options"},
        {"exactness", "exactness"}, {"workers", "workers"},
        {"test", "test_metrics"},   {"valid", "valid_metrics"},
        {"train", "train_metrics"},
    };
    json_t *const run =
        json_pack("{s:o*, s:o*, s:o*, s:o*, s:o*, s:o*}", "net",
                  json_incref(json_object_get(card, "net")), "muster",
                  json_incref(json_object_get(card, "muster")), "code",
                  json_incref(json_object_get(card, "code")), "steps",
                  json_incref(json_object_get(card, "steps")), "objective",
                  json_incref(json_object_get(card, "objective")), "end",
                  json_incref(json_object_get(card, "end")));

    show_list("trained", run);
    json_decref(run);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        show_list(lines[i].title, json_object_get(card, lines[i].key));
}
