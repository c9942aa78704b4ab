/*
 * help.c - help from the tables of commands and options.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define LEFT  26u /* Where the explanation starts. */
#define WIDTH 79u

/* Print words from column `at`, each further line starting at LEFT. */
static void wrap(const char *text, size_t at)
{
    if (at + 2 > LEFT) {
        (void)fputc('\n', stdout);
        at = 0;
    }
    (void)printf("%*s", (int)(LEFT - at), "");
    at = LEFT;
    while (*text != '\0') {
        const size_t word = strcspn(text, " ");

        if (at > LEFT && at + 1 + word > WIDTH) {
            (void)printf("\n%*s", (int)LEFT, "");
            at = LEFT;
        }
        if (at > LEFT) {
            (void)fputc(' ', stdout);
            at++;
        }
        (void)fwrite(text, 1, word, stdout);
        at += word;
        text += word + (text[word] == ' ');
    }
    (void)fputc('\n', stdout);
}

/* "--name VALUE", with its one-letter form in front if it has one. */
static size_t left_side(const struct option *row, const char *value, char *out,
                        size_t size)
{
    const char *space = value == NULL ? "" : " ";
    const bool is_short = row->name[1] == '\0';
    const bool has_short = row->aliases != NULL && row->aliases[1] == '\0';
    int wrote;

    value = value == NULL ? "" : value;
    if (row->kind == VALUE_FLAG && row->initial != NULL)
        wrote = snprintf(out, size, "  --no-%s", row->name);
    else if (is_short)
        wrote = snprintf(out, size, "  -%s%s%s", row->name, space, value);
    else if (has_short)
        wrote = snprintf(out, size, "  -%s, --%s%s%s", row->aliases, row->name,
                         space, value);
    else
        wrote = snprintf(out, size, "  --%s%s%s", row->name, space, value);
    return (size_t)wrote;
}

/* Whoever looks for the name that another program has finds it beside ours. */
static void explain(const struct option *row, const struct option_words *words,
                    size_t used)
{
    char right[640], also[OPTION_ALSO_SIZE];
    const bool has = option_also(row, also)[0] != '\0';

    (void)snprintf(right, sizeof right, "%s%s%s%s%s%s", words->help,
                   words->shown != NULL ? " (default " : "",
                   words->shown != NULL ? words->shown : "",
                   has && words->shown != NULL ? "; also "
                   : has                       ? " (also "
                                               : "",
                   also, has || words->shown != NULL ? ")" : "");
    wrap(right, used);
}

static void help_option(int id, uint32_t command)
{
    const struct option_words words = option_words(id, command);
    char left[64];
    const size_t used =
        left_side(option_row(id), words.value, left, sizeof left);

    (void)fputs(left, stdout);
    explain(option_row(id), &words, used);
}

static void help_positionals(const struct option_shape *shape)
{
    for (uint32_t i = 0; i < shape->positional_count; i++) {
        const struct option_words words =
            option_words(shape->positional[i], (uint32_t)shape->command);

        (void)printf("  %s", words.value);
        explain(option_row(shape->positional[i]), &words,
                2 + strlen(words.value));
    }
}

/* Has the command so many options that a few are to be seen first? */
static bool has_first(uint32_t command)
{
    const struct option_use *use = option_uses();

    for (int i = 0; i < OPTIONS; i++)
        if ((use[i].first & command) != 0)
            return true;
    return false;
}

/* The options that are shown; returns how many are not. */
static uint32_t help_options(uint32_t command, bool all)
{
    const struct option_use *use = option_uses();
    const char *section = NULL;
    uint32_t hidden = 0;

    for (int i = 0; i < OPTIONS; i++, use++) {
        if ((use->commands & command) == 0 || use->section == NULL)
            continue;
        if (!all && (use->first & command) == 0) {
            hidden++;
            continue;
        }
        if (section != use->section) {
            section = use->section;
            (void)printf("\n%s:\n", section);
        }
        help_option(use->id, command);
    }
    return hidden;
}

void help_of(const struct command *command, bool all)
{
    const uint32_t bit = (uint32_t)command->shape.command;
    uint32_t hidden;

    (void)printf("usage: muster %s [options]%s%s\n\n%s.\n", command->name,
                 command->usage[0] == '\0' ? "" : " ", command->usage,
                 command->line);
    if (command->text != NULL)
        (void)printf("%s\n", command->text);
    if (command->shape.positional_count > 0)
        (void)fputc('\n', stdout);
    help_positionals(&command->shape);
    hidden = help_options(bit, all || !has_first(bit));
    if (hidden > 0)
        (void)printf("\n%u more: muster %s --help all\n", hidden,
                     command->name);
    (void)printf("\nOptions may also stand in the environment: --token-file as "
                 "MUSTER_TOKEN_FILE.\n\nExample:\n%s",
                 command->example);
}

void help_program(void)
{
    size_t count;
    const struct command *list = command_list(&count);

    (void)fputs("usage: muster COMMAND [options]\n\n"
                "Exact distributed training that survives kill -9.\n\n"
                "Commands:\n",
                stdout);
    for (size_t i = 0; i < count; i++)
        (void)printf("  %-10s %s\n", list[i].name, list[i].line);
    (void)fputs("\nStart here:\n"
                "  muster train --demo\n"
                "  muster train data.svm model.txt\n"
                "  muster COMMAND --help\n",
                stdout);
}

int help_command(struct cli *cli)
{
    const char *topic = option_text(&cli->options, OPT_TOPIC);
    const struct command *command;

    if (option_flag(&cli->options, OPT_MAN)) {
        page_man();
        return EXIT_DONE;
    }
    if (option_text(&cli->options, OPT_COMPLETION) != NULL) {
        page_completion(option_text(&cli->options, OPT_COMPLETION));
        return EXIT_DONE;
    }
    if (topic == NULL) {
        help_program();
        return EXIT_DONE;
    }
    command = command_find(topic);
    if (command == NULL)
        return say_error(cli, EXIT_USAGE,
                         "no command %.48s; `muster help` lists them", topic);
    help_of(command, false);
    return EXIT_DONE;
}
