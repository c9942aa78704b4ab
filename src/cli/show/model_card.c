/*
 * model_card.c - the model cards of the command line.
 */
#include "cli/show/model_card.h"

#include <stdio.h>

#include "base/mem.h"
#include "learn/card/text.h"
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
        say_aloud("muster: a model card was not written: %s", why.text);
    json_decref(card);
}

void model_card_show(json_t *card)
{
    char *const text = card_text(card, false);

    (void)fputs(text == NULL ? "card       out of memory\n" : text, stdout);
    mem_free(text);
}
