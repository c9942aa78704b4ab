/*
 * token.c - `muster token new`.
 */
#include "os/net/token.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "learn/card/json.h"

int token_command(struct cli *cli)
{
    const char *action = option_text(&cli->options, OPT_ACTION);
    const char *file = option_text(&cli->options, OPT_FILE);
    const char *name = option_text(&cli->options, OPT_NAME);
    const char *from = option_text(&cli->options, OPT_FROM);
    struct why why = {0};
    enum err err;

    if (action == NULL || file == NULL)
        return say_error(cli, EXIT_USAGE,
                         "which file? write `muster token new FILE`");
    if ((name == NULL) != (from == NULL))
        return say_error(cli, EXIT_USAGE,
                         "a worker's token takes both --name and --from, the "
                         "file of the cluster's token");
    err = token_new(file, name, from, &why);
    if (err != ERR_OK)
        return say_error(cli, err == ERR_RANGE ? EXIT_USAGE : EXIT_FAILED, "%s",
                         why.text[0] == '\0' ? err_text(err) : why.text);
    if (cli->json)
        say_json(json_pack("{s:o, s:s}", "file", name_json(file), "name",
                           name == NULL ? TOKEN_CLUSTER : name));
    else
        say_name("", file, "\n");
    return EXIT_DONE;
}
