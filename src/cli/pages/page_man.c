/*
 * page_man.c - the manual page from the tables of commands and options:
 * `muster help --man`.  Installed as muster.1.
 */
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cli/cli.h"

/* Text for troff: no line may begin with a dot or a quote, a backslash and a
 * dash have meanings. */
static void put(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const bool first = at == text || at[-1] == '\n';

        if (first && (*at == '.' || *at == '\''))
            (void)fputs("\\&", stdout);
        if (*at == '\\')
            (void)fputs("\\e", stdout);
        else if (*at == '-')
            (void)fputs("\\-", stdout);
        else if (!first || *at != ' ')
            (void)fputc(*at, stdout);
    }
}

static void put_names(const struct option *row)
{
    const char *dashes = row->name[1] == '\0' ? "\\-" : "\\-\\-";

    (void)printf("\\fB%s", dashes);
    put(row->kind == VALUE_FLAG && row->initial != NULL ? "no-" : "");
    put(row->name);
    (void)fputs("\\fR", stdout);
    for (const char *at = row->aliases; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, "|");

        (void)printf(", \\fB%s%.*s\\fR", length == 1 ? "\\-" : "\\-\\-",
                     (int)length, at);
        at += length + (at[length] == '|');
    }
    if (row->value != NULL) {
        (void)fputs(" \\fI", stdout);
        put(row->value);
        (void)fputs("\\fR", stdout);
    }
    (void)fputc('\n', stdout);
}

static void put_words(const struct option_words *words)
{
    put(words->help);
    if (words->shown != NULL) {
        (void)fputs(" (default ", stdout);
        put(words->shown);
        (void)fputc(')', stdout);
    }
    (void)fputs(".\n", stdout);
}

/* "Taken by train, simulate." */
static void put_takers(const char *before, uint32_t commands, const char *after)
{
    size_t count;
    const struct command *list = command_list(&count);

    for (size_t i = 0; i < count; i++)
        if ((commands & (uint32_t)list[i].shape.command) != 0) {
            (void)printf("%s%s", before, list[i].name);
            before = ", ";
        }
    (void)fputs(after, stdout);
}

/* Commands with words of their own, each set of them once. */
static void put_own_words(int id, uint32_t commands)
{
    uint32_t told = 0;

    for (uint32_t one = 1; one <= commands; one <<= 1) {
        const struct option_words own = option_words(id, one);

        if ((commands & ~told & one) == 0 || own.commands == commands)
            continue;
        put_takers("For ", own.commands, ": ");
        put_words(&own);
        told |= own.commands;
    }
}

static void put_option(const struct option_use *use)
{
    const struct option_words common = option_words(use->id, 0);

    (void)fputs(".TP\n", stdout);
    put_names(option_row(use->id));
    put_words(&common);
    if (use->commands != CMD_ALL)
        put_takers("Taken by ", use->commands, ".\n");
    put_own_words(use->id, use->commands);
}

static void put_options(void)
{
    const struct option_use *use = option_uses();
    const char *section = NULL;

    (void)fputs(".SH OPTIONS\n"
                "Dashes and underscores in names are the same, and so are "
                "\\fB\\-\\-name=value\\fR and \\fB\\-\\-name value\\fR.\n"
                "Every option may also stand in the environment as "
                "\\fBMUSTER_NAME\\fR or in a file named by "
                "\\fB\\-\\-config\\fR; a flag is stronger than the "
                "environment, and that than the file.\n",
                stdout);
    for (int i = 0; i < OPTIONS; i++, use++) {
        if (use->section == NULL)
            continue;
        if (section != use->section) {
            section = use->section;
            (void)printf(".SS %s\n", section);
        }
        put_option(use);
    }
}

static void put_positionals(const struct option_shape *shape)
{
    for (uint32_t i = 0; i < shape->positional_count; i++) {
        const struct option_words words =
            option_words(shape->positional[i], (uint32_t)shape->command);

        (void)printf(".RS\n.TP\n\\fI%s\\fR\n", words.value);
        put_words(&words);
        (void)fputs(".RE\n", stdout);
    }
}

static void put_commands(void)
{
    size_t count;
    const struct command *list = command_list(&count);

    (void)fputs(".SH COMMANDS\n", stdout);
    for (size_t i = 0; i < count; i++) {
        (void)printf(".TP\n\\fB%s\\fR ", list[i].name);
        put(list[i].usage);
        (void)fputc('\n', stdout);
        put(list[i].line);
        (void)fputs(".\n", stdout);
        if (list[i].text != NULL) {
            put(list[i].text);
            (void)fputc('\n', stdout);
        }
        put_positionals(&list[i].shape);
    }
}

static void put_examples(void)
{
    size_t count;
    const struct command *list = command_list(&count);

    (void)fputs(".SH EXAMPLES\n.nf\n", stdout);
    for (size_t i = 0; i < count; i++)
        put(list[i].example);
    (void)fputs(".fi\n", stdout);
}

void page_man(void)
{
    (void)printf(".TH MUSTER 1 \"\" \"muster %s\" \"User Commands\"\n",
                 version_text);
    (void)fputs(".SH NAME\n"
                "muster \\- exact distributed training that survives kill "
                "\\-9\n"
                ".SH SYNOPSIS\n"
                "\\fBmuster\\fR \\fICOMMAND\\fR [\\fIoptions\\fR] ...\n"
                ".SH DESCRIPTION\n"
                "Trains linear models, on one machine or on many, to the same "
                "bits whoever was slow, died or joined.\n"
                "Results go to standard output, everything else to standard "
                "error.\n",
                stdout);
    put_commands();
    put_options();
    (void)fputs(".SH EXIT STATUS\n"
                ".TP\n0\nDone.\n.TP\n1\nFailed.\n"
                ".TP\n2\nThe command line is wrong.\n"
                ".TP\n75\nPreempted, state saved; start again.\n"
                ".TP\n128+N\nEnded by signal N.\n",
                stdout);
    put_examples();
}
