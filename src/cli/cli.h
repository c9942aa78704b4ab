/*
 * cli.h - what the commands share: the table of commands, how to speak, and
 * exit codes.
 *
 * Results go to standard output, everything else to standard error.  With
 * --format json a command prints exactly one object on standard output, also
 * when it fails: {"error": "sentence"}.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "cli/options/options.h"
#include "node/host/answer.h" /* json_number */

#define EXIT_DONE      0
#define EXIT_FAILED    1
#define EXIT_USAGE     2
#define EXIT_PREEMPTED 75 /* State is saved: start again (EX_TEMPFAIL). */
#define EXIT_SIGNAL    128

/* A link to the newest run under this folder: what --resume, status, stop and
 * report mean unless told otherwise. */
#define RUNS_FOLDER "muster-runs"
#define LATEST_RUN  RUNS_FOLDER "/latest"

/* That, or without a link the newest run that is there; NULL: there is none. */
#define RUN_PATH_SIZE 512u
const char *latest_run(char path[RUN_PATH_SIZE]);
/* The same, or, if nobody runs that, the newest that somebody does: a run that
 * reads its rows is not the latest yet. */
const char *going_run(char path[RUN_PATH_SIZE]);

struct cli {
    const struct command *command;
    struct options options;
    bool json;
    bool quiet;
    /* A rank joins the run in that folder by its address, and the run may be
     * over when it comes; NULL: nobody was led there. */
    const char *led_to;
    bool led; /* By `muster launch ranks`: other ranks have other parts. */
    struct ranks *ranks; /* Of an MPI job: cli/mpi_ranks.h; NULL: none. */
};

struct command {
    const char *name;
    struct option_shape shape;
    const char *usage;   /* Positional arguments as --help shows them. */
    const char *line;    /* For the list of commands. */
    const char *text;    /* More, for its own --help; NULL if none. */
    const char *example; /* One or more lines, each a command. */
    /* Returns the exit code. */
    int (*run)(struct cli *cli);
};

const struct command *command_list(size_t *count);
/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/* `cli->command` with these words; returns the exit code.  The options are open
 * afterwards. */
int command_run(struct cli *cli, int argc, char *const *argv);

int train_command(struct cli *cli);
int join_command(struct cli *cli);
int relay_command(struct cli *cli);
int launch_command(struct cli *cli);
int status_command(struct cli *cli);
int stop_command(struct cli *cli);
int set_command(struct cli *cli);
int token_command(struct cli *cli);
int data_command(struct cli *cli);
int simulate_command(struct cli *cli);
int codes_command(struct cli *cli);
int plan_command(struct cli *cli);
int report_command(struct cli *cli);
int version_command(struct cli *cli);
int help_command(struct cli *cli);
int predict_command(struct cli *cli);
int product_command(struct cli *cli);
int reproduce_command(struct cli *cli);
int model_command(struct cli *cli);

/* Help on standard output, or (after a mistake) a hint on standard error. */
void help_program(void);
void help_of(const struct command *command, bool all);

/* cli/pages/page_man.c, cli/pages/page_complete.c: the whole program on
 * standard output, as a manual page and for a shell ("bash" or "zsh"). */
void page_man(void);
/* `muster codes --rules`; returns the exit code. */
int page_rules(const struct cli *cli);
void page_completion(const char *shell);

/* One sentence and the exit code to return: `muster: ...` on standard error,
 * or the JSON form. */
__attribute__((format(printf, 3, 4))) int
say_error(const struct cli *cli, int status, const char *format, ...);
/* The same from a failed call: 2 if the user can mend the command line. */
int say_why(const struct cli *cli, enum err err, const struct why *why);
/* A line on standard error unless --quiet. */
__attribute__((format(printf, 2, 3))) void say_note(const struct cli *cli,
                                                    const char *format, ...);
/* The same for those who have no `cli`. */
void tell_note(void *context, const char *sentence);
/* Also with --quiet: what one must know to go on. */
__attribute__((format(printf, 1, 2))) void say_aloud(const char *format, ...);
/* A file's name in a result, on standard output between two texts of ours: what
 * a terminal would obey, and ends of lines, are '?' there.  Into pipes, too:
 * whoever reads lines has one for each, and JSON has the name as it is. */
void say_name(const char *before, const char *name, const char *after);
/* Print the object on standard output and let go of it. */
void say_json(json_t *object);

/* --print-config. */
void config_print(const struct cli *cli);
/* {name: {value, origin}} of every option that decides what a run does. */
json_t *config_json(const struct options *options);
/* The same as lines of a config file, for the run's folder, of those that it
 * keeps, and whether such a file is still what was written. */
bool config_keeps(const struct options *options, int id);
MUST_CHECK enum err config_write(const struct options *options,
                                 const char *path, struct why *why);
MUST_CHECK enum err config_check(const char *path, struct why *why);

#endif /* CLI_CLI_H */
