/*
 * page_complete.c - completion for shells from the tables of commands and
 * options: `muster help --completion bash|zsh`.
 *
 * bash gets one function that knows the options of each command and the values
 * of choices; where a value or an argument is free, files are offered.  zsh
 * gets the same with explanations.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static bool takes(const struct command *command, const struct option_use *use)
{
    return (use->commands & (uint32_t)command->shape.command) != 0 &&
           use->section != NULL;
}

/* "a|b|c" with blanks for bars. */
static void put_words(const char *list)
{
    for (; list != NULL && *list != '\0'; list++)
        (void)fputc(*list == '|' ? ' ' : *list, stdout);
}

/* --name, or --no-name where that is the news; then one-letter forms. */
static void put_flag(const struct option *row)
{
    const bool off = row->kind == VALUE_FLAG && row->initial != NULL;

    (void)printf(" %s%s%s", row->name[1] == '\0' ? "-" : "--", off ? "no-" : "",
                 row->name);
    if (row->aliases != NULL && row->aliases[1] == '\0')
        (void)printf(" -%s", row->aliases);
}

/* First words of a command that are one of a few. */
static const char *actions(const struct command *command)
{
    const struct option *row;

    if (command->shape.positional_count == 0)
        return NULL;
    row = option_row(command->shape.positional[0]);
    return row->kind == VALUE_CHOICE ? row->choices : NULL;
}

static void put_choices(void)
{
    for (int i = 0; i < OPTIONS; i++) {
        const struct option_use *use = &option_uses()[i];
        const struct option *row = option_row(use->id);

        if (row->kind != VALUE_CHOICE || use->section == NULL)
            continue;
        (void)printf("    --%s) words='", row->name);
        put_words(row->choices);
        (void)fputs("' ;;\n", stdout);
    }
}

static void put_bash(void)
{
    size_t count;
    const struct command *list = command_list(&count);

    (void)fputs("# Completion of muster for bash.\n"
                "_muster() {\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
                "    local before=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        words='",
                stdout);
    for (size_t i = 0; i < count; i++)
        (void)printf("%s%s", i == 0 ? "" : " ", list[i].name);
    (void)fputs("'\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
                "\"$word\")\n"
                "        return\n"
                "    fi\n"
                "    case $before in\n",
                stdout);
    put_choices();
    (void)fputs("    esac\n"
                "    if [ -z \"$words\" ] && [[ $word == -* ]]; then\n"
                "        case ${COMP_WORDS[1]} in\n",
                stdout);
    for (size_t i = 0; i < count; i++) {
        (void)printf("        %s) words='", list[i].name);
        for (int j = 0; j < OPTIONS; j++)
            if (takes(&list[i], &option_uses()[j]))
                put_flag(option_row(option_uses()[j].id));
        (void)fputs("' ;;\n", stdout);
    }
    (void)fputs(
        "        esac\n"
        "    elif [ -z \"$words\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
        "        case $before in\n",
        stdout);
    for (size_t i = 0; i < count; i++)
        if (actions(&list[i]) != NULL) {
            (void)printf("        %s) words='", list[i].name);
            put_words(actions(&list[i]));
            (void)fputs("' ;;\n", stdout);
        }
    (void)fputs("        help) words='", stdout);
    for (size_t i = 0; i < count; i++)
        (void)printf("%s%s", i == 0 ? "" : " ", list[i].name);
    (void)fputs("' ;;\n"
                "        esac\n"
                "    fi\n"
                "    if [ -n \"$words\" ]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
                "\"$word\")\n"
                "    else\n"
                "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                "    fi\n"
                "}\n"
                "complete -o filenames -F _muster muster\n",
                stdout);
}

/* Between quotes and brackets: what would end them is left out. */
static void put_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if (strchr("'[]:`\\", *text) == NULL)
            (void)fputc(*text, stdout);
        else if (*text == ':')
            (void)fputs("\\:", stdout);
}

static void put_zsh_option(int id, uint32_t command)
{
    const struct option *row = option_row(id);
    const bool off = row->kind == VALUE_FLAG && row->initial != NULL;

    (void)printf("            '%s%s%s[", row->name[1] == '\0' ? "-" : "--",
                 off ? "no-" : "", row->name);
    put_plain(option_words(id, command).help);
    (void)fputc(']', stdout);
    if (row->kind == VALUE_CHOICE) {
        (void)fputs(":value:(", stdout);
        put_words(row->choices);
        (void)fputc(')', stdout);
    } else if (row->kind != VALUE_FLAG) {
        (void)fputs(":value:_files", stdout);
    }
    (void)fputs("' \\\n", stdout);
}

static void put_zsh(void)
{
    size_t count;
    const struct command *list = command_list(&count);

    (void)fputs("#compdef muster\n"
                "# Completion of muster for zsh.\n"
                "_muster() {\n"
                "    local -a commands\n"
                "    commands=(\n",
                stdout);
    for (size_t i = 0; i < count; i++) {
        (void)printf("        '%s:", list[i].name);
        put_plain(list[i].line);
        (void)fputs("'\n", stdout);
    }
    (void)fputs("    )\n"
                "    if (( CURRENT == 2 )); then\n"
                "        _describe command commands\n"
                "        return\n"
                "    fi\n"
                "    local command=$words[2]\n"
                "    shift words\n"
                "    (( CURRENT-- ))\n"
                "    case $command in\n",
                stdout);
    for (size_t i = 0; i < count; i++) {
        (void)printf("    %s)\n        _arguments \\\n", list[i].name);
        for (int j = 0; j < OPTIONS; j++)
            if (takes(&list[i], &option_uses()[j]))
                put_zsh_option(option_uses()[j].id,
                               (uint32_t)list[i].shape.command);
        if (actions(&list[i]) != NULL) {
            (void)fputs("            '1:action:(", stdout);
            put_words(actions(&list[i]));
            (void)fputs(")' \\\n", stdout);
        }
        (void)fputs("            '*:file:_files'\n        ;;\n", stdout);
    }
    (void)fputs("    esac\n"
                "}\n"
                "_muster \"$@\"\n",
                stdout);
}

void page_completion(const char *shell)
{
    if (strcmp(shell, "zsh") == 0)
        put_zsh();
    else
        put_bash();
}
