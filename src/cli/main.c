/*
 * main.c - the table of commands, and the way from argv to one of them.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/mpi_ranks.h"
#include "math/isa.h"
#include "node/arithmetic.h"
#include "os/file/file.h"
#include "os/log.h"
#include "os/run/limits.h"
#include "os/run/pages.h"
#include "os/run/signals.h"
#include "os/run/streams.h"

/* Half of it is the most that any command was seen to take. */
#define STACK_LEAST  (256u << 10)
#define MEMORY_LEAST (1u << 20)

#define POSITIONAL(bit, ...)                                                   \
    {                                                                          \
        .command = (bit), .positional = {__VA_ARGS__},                         \
        .positional_count = sizeof((int[]){__VA_ARGS__}) / sizeof(int)         \
    }

static const struct command commands[] = {
    {"train", POSITIONAL(CMD_TRAIN, OPT_DATA, OPT_SAVE), "DATA [FILE]",
     "Train a model, here or on many machines",
     "The result is the same to the bit, whoever was slow, died or joined.",
     "  muster train data.svm model.txt\n"
     "  muster train data.svm -n 8 --delay worker:w3=5 --chaos kill:w1@20\n"
     "  muster train data.svm --listen 0.0.0.0:7731 --workers 3:16 "
     "--token-file cluster.token\n"
     "  muster train -s 0 -c 1 -v 5 data.svm\n"
     "  muster train data.svm best.txt --grid \"c=0.01,0.1,1\" --metric auc\n",
     train_command},
    {"predict",
     POSITIONAL(CMD_PREDICT, OPT_DATA, OPT_MODEL_FILE, OPT_PREDICTIONS),
     "DATA MODEL [OUT]", "Say what a model makes of rows",
     "Where the rows have labels that the model knows, also how good it is.",
     "  muster predict test.svm model.txt\n"
     "  muster predict test.svm model.txt out.csv --probability\n",
     predict_command},
    {"model",
     POSITIONAL(CMD_MODEL, OPT_MODEL_ACTION, OPT_MODEL_FILE, OPT_CONVERTED),
     "show|convert MODEL [OUT]", "Look into a model file, or convert it",
     "With --shape, MODEL is the text of a network, or a file that holds it.",
     "  muster model show model.txt\n"
     "  muster model show \"conv3x3x8 relu pool2 dense10\" --shape 28x28x1\n"
     "  muster model convert model.txt model.npy\n",
     model_command},
    {"product", POSITIONAL(CMD_PRODUCT, OPT_FACTOR, OPT_COLUMNS, OPT_PRODUCT),
     "A B OUT", "Multiply matrices on machines that straggle and die",
     "A's rows are coded, so that any K of N answers give A times B.  It is "
     "the "
     "same\nto rounding, whoever was slow, died or joined.",
     "  muster product A.npy B.npy C.npy --code mds:k=6 -n 8\n"
     "  muster product A.npy x.npy y.npy --code mds:k=6 -n 8 --delay "
     "worker:w3=5\n",
     product_command},
    {"join", POSITIONAL(CMD_JOIN, OPT_ADDRESS, OPT_SAVE),
     "HOST:PORT|RUN [FILE]", "Work for a coordinator, or be a peer of a ring",
     "It leaves in good order on SIGTERM.",
     "  muster join muster-runs/0001-1a2b\n"
     "  muster join trainer.example:7731 --token-file w1.token\n"
     "  muster join peer.example:7000 m.model --token-file cluster.token\n",
     join_command},
    {"relay", POSITIONAL(CMD_RELAY, OPT_ADDRESS), "HOST:PORT|RUN",
     "Stand between a coordinator and workers, and merge their answers",
     "Workers join the relay as they would the coordinator, which they need "
     "not\n"
     "reach; it sees one connection for all of them.",
     "  muster relay trainer.example:7731 --listen 0.0.0.0:7732 --token-file "
     "cluster.token\n",
     relay_command},
    {"launch",
     {.command = CMD_LAUNCH,
      .positional = {OPT_ENGINE},
      .positional_count = 1,
      .rest = true},
     "ENGINE -- train ...",
     "Train here with workers on other machines, started for you",
     "The coordinator runs here, `muster join` there, with a key that goes "
     "over "
     "ssh.\n"
     "Ctrl-C stops all of them; the state is saved.",
     "  muster launch ssh --hosts node1,node2:4 -- train data.svm model.txt\n"
     "  muster launch ssh --hostfile hosts --restart -- train data.svm -q\n"
     "  muster launch ssh --hostfile hosts -- train --resume\n"
     "  muster launch slurm --workers 4:32 -- train data.svm model.txt\n"
     "  srun -n 8 muster launch ranks -- train data.svm model.txt --out run\n",
     launch_command},
    {"data", POSITIONAL(CMD_DATA, OPT_DATA_ACTION, OPT_WHAT),
     "info|entropy|prepare|get WHAT",
     "Look at data, encode public data sets, download", NULL,
     "  muster data info data.csv --label y\n"
     "  muster data entropy data.csv --label y --plot entropy.svg\n"
     "  muster data prepare amazon --raw raw --to amazon\n"
     "  muster data get mnist --to mnist\n",
     data_command},
    {"status", POSITIONAL(CMD_STATUS, OPT_ADDRESS), "[ADDRESS]",
     "Ask a run how it is", NULL,
     "  muster status muster-runs/0001-1a2b\n"
     "  muster status muster-runs/0001-1a2b --why-slow\n"
     "  muster status 127.0.0.1:7731 --token-file cluster.token --format "
     "json\n",
     status_command},
    {"stop", POSITIONAL(CMD_STOP, OPT_ADDRESS), "[ADDRESS]",
     "End a run at the next step; its state is saved",
     "While it reads its rows it ends at once, and there is none to save.",
     "  muster stop muster-runs/0001-1a2b\n"
     "  muster stop 127.0.0.1:7731 --token-file cluster.token\n",
     stop_command},
    {"set", POSITIONAL(CMD_SET, OPT_ADDRESS, OPT_SETTING),
     "[ADDRESS] size=SHARE", "Change a run while it is under way",
     "Samples (--code flexent) have another size from the next pass on, and\n"
     "a resumed run draws the same ones.",
     "  muster set muster-runs/0001-1a2b size=20%\n"
     "  muster set 127.0.0.1:7731 size=20% --token-file cluster.token\n",
     set_command},
    {"token", POSITIONAL(CMD_TOKEN, OPT_ACTION, OPT_FILE), "new FILE",
     "Make a key for runs on several machines",
     "A cluster token starts coordinators; a worker's token (--name, --from)\n"
     "only joins under that name.",
     "  muster token new cluster.token\n"
     "  muster token new w1.token --name w1 --from cluster.token\n",
     token_command},
    {"simulate", POSITIONAL(CMD_SIMULATE, OPT_DATA), "[DATA]",
     "The same run in virtual time; with --faults, test the protocol", NULL,
     "  muster simulate --workers 30 --code frc --stragglers 2 --no-compute "
     "--delay reference\n"
     "  muster simulate --faults --seeds 1:1000\n",
     simulate_command},
    {"plan", POSITIONAL(CMD_PLAN, OPT_PLAN_ACTION, OPT_PLAN_FROM),
     "[choose|fit|generate] [FILE]",
     "Which code for these delays? Also: make and fit traces", NULL,
     "  muster plan -n 30 --delay bimodal:.05,3\n"
     "  muster plan generate slow.trace -n 30 --steps 1000\n"
     "  muster plan choose slow.trace --exact approx\n"
     "  muster plan fit slow.trace\n"
     "  muster plan --net \"conv3x3x8 relu pool2 dense10\" --shape 28x28x1 "
     "--rows 60000 --batch 128 -n 8 --gflops 20 "
     "--delay bimodal:.05,3\n",
     plan_command},
    {"codes", POSITIONAL(CMD_CODES, OPT_CODE_NAME), "[NAME]",
     "List the codes and what they promise, or look at one",
     "With a name: the code built for -n workers (8 unless given), its "
     "matrix,\n"
     "certificate and errors.  matrix:FILE reads an encoding from a CSV file.",
     "  muster codes\n"
     "  muster codes cyclic -n 6 --stragglers 2 --silent 1,4\n",
     codes_command},
    {"reproduce", POSITIONAL(CMD_REPRODUCE, OPT_EXPERIMENT), "[NAME|all]",
     "Run a paper's experiment again: their numbers beside ours",
     "Without a name: the list of experiments.",
     "  muster reproduce\n"
     "  muster reproduce gradient-coding --quick\n"
     "  muster reproduce all --virtual --raw data --to results\n",
     reproduce_command},
    {"report", POSITIONAL(CMD_REPORT, OPT_RUN), "[RUN]",
     "Write a run's story as one HTML page",
     "Loss, metrics, step times, who was slow, the code, receipts, and what\n"
     "other codes would have taken.  The page needs no network.",
     "  muster report muster-runs/0001-1a2b\n"
     "  muster report muster-runs/0001-1a2b --to story.html\n"
     "  muster report muster-runs/0001-1a2b --price .11\n",
     report_command},
    {"version",
     {.command = CMD_VERSION},
     "",
     "Print the version",
     NULL,
     "  muster version\n",
     version_command},
    {"help", POSITIONAL(CMD_HELP, OPT_TOPIC), "[COMMAND]", "Explain a command",
     NULL, "  muster help train\n", help_command},
};

#define COMMANDS (sizeof commands / sizeof *commands)

const struct command *command_list(size_t *count)
{
    *count = COMMANDS;
    return commands;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

/* Who is refused for computing other bits compares the second word. */
int version_command(struct cli *cli)
{
    const struct digest arithmetic = arithmetic_digest();
    char text[DIGEST_TEXT];

    (void)digest_text(&arithmetic, text);
    if (cli->json)
        say_json(json_pack("{s:s, s:s}", "version", version_text, "arithmetic",
                           text));
    else
        (void)printf("muster %s (arithmetic %.16s)\n", version_text, text);
    return EXIT_DONE;
}

/* What other programs call it, or NULL. */
static const char *foreign_command(const char *typed)
{
    static const char *const list[][2] = {
        {"fit", "train"},
        {"run", "train"},
        {"learn", "train"},
        {"score", "predict"},
        {"test", "predict"},
        {"evaluate", "predict"},
        {"eval", "predict"},
        {"infer", "predict"},
        {"show", "model show"},
        {"inspect", "model show"},
        {"convert", "model convert"},
        {"info", "data info"},
        {"worker", "join"},
        {"kill", "stop"},
    };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(typed, list[i][0]) == 0)
            return list[i][1];
    return NULL;
}

static int unknown_command(const struct cli *cli, const char *typed)
{
    const char *names[COMMANDS];
    const char *near = foreign_command(typed);

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    if (near == NULL && file_exists(typed) && !file_is_folder(typed))
        return say_error(cli, EXIT_USAGE,
                         "no command %.48s, but a file; to train on it: "
                         "`muster train %.48s`",
                         typed, typed);
    if (near == NULL)
        near = nearest_name(typed, names, COMMANDS);
    if (near != NULL)
        return say_error(cli, EXIT_USAGE,
                         "no command %.48s; did you mean `muster %s`?", typed,
                         near);
    return say_error(cli, EXIT_USAGE,
                     "no command %.48s; `muster help` lists them", typed);
}

/* The form of errors must be known before the flags are: a mistake may stand
 * in front of --format. */
static bool wants_json(int argc, char *const *argv)
{
    const char *set = getenv("MUSTER_FORMAT");
    bool json = set != NULL && strcmp(set, "json") == 0;

    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "--format=", 9) == 0)
            json = strcmp(argv[i] + 9, "json") == 0;
        else if (strcmp(argv[i], "--format") == 0 && i + 1 < argc)
            json = strcmp(argv[i + 1], "json") == 0;
    }
    return json;
}

int command_run(struct cli *cli, int argc, char *const *argv)
{
    struct why why = {0};
    enum err err =
        options_parse(&cli->options, &cli->command->shape, argc, argv, &why);

    if (err != ERR_OK)
        return err == ERR_NOTFOUND || err == ERR_NOMEM
                   ? say_error(cli, EXIT_FAILED, "%s", why.text)
                   : say_error(cli, EXIT_USAGE, "%s", why.text);
    if (option_flag(&cli->options, OPT_HELP)) {
        if (ranks_first(cli))
            help_of(cli->command, cli->options.help_all);
        return EXIT_DONE;
    }
    cli->json = strcmp(option_text(&cli->options, OPT_FORMAT), "json") == 0;
    cli->quiet = option_flag(&cli->options, OPT_QUIET) || !ranks_first(cli);
    log_quiet(cli->quiet);
    if (option_flag(&cli->options, OPT_PRINT_CONFIG)) {
        if (ranks_first(cli))
            config_print(cli);
        return EXIT_DONE;
    }
    err = isa_choose(option_text(&cli->options, OPT_ISA), &why);
    if (err == ERR_OK)
        err = files_check(&cli->options, &why);
    return err != ERR_OK ? say_why(cli, err, &why) : cli->command->run(cli);
}

static const char *as_command(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return "version";
    return word;
}

/* A stack that is too small ends a program without a word. */
static bool stack_suffices(const struct cli *cli)
{
    const uint64_t stack = limits_stack();

    if (stack >= STACK_LEAST)
        return true;
    (void)say_error(cli, EXIT_FAILED,
                    "the stack may grow to %" PRIu64 " KiB only, and %u are "
                    "needed; say `ulimit -s %u` first",
                    stack >> 10, STACK_LEAST >> 10, STACK_LEAST >> 10);
    return false;
}

/* libcrypto crashes, rather than fails, if memory runs out when it first makes
 * its tables; so what they take is looked for first. */
static bool memory_suffices(const struct cli *cli)
{
    void *spare = mem_new(1, MEMORY_LEAST);
    const bool enough = spare != NULL;

    mem_free(spare);
    if (enough && hash_ready())
        return true;
    (void)say_error(cli, EXIT_FAILED,
                    "there is not enough memory to start (ulimit -v)");
    return false;
}

int main(int argc, char **argv)
{
    struct cli cli = {.json = wants_json(argc, argv)};
    int status;

    if (!stack_suffices(&cli) || !memory_suffices(&cli))
        return EXIT_FAILED;
    signals_own();
    (void)streams_hold();
    file_map_watch();
    (void)limits_files_raise(UINT64_MAX);
    if (argc < 2)
        return say_error(&cli, EXIT_USAGE,
                         "which command? `muster help` lists them; "
                         "`muster train --demo` shows what it is about");
    cli.command = command_find(as_command(argv[1]));
    if (cli.command == NULL)
        return unknown_command(&cli, argv[1]);
    ranks_expect(&cli, argc, argv);
    status = ranks_close(&cli, command_run(&cli, argc - 2, argv + 2));
    options_close(&cli.options);
    log_end();
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        (void)fputs("muster: cannot write the result to standard output\n",
                    stderr);
        return EXIT_FAILED;
    }
    return status;
}
