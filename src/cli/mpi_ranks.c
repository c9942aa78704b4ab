/*
 * mpi_ranks.c - one mouth and one exit code for all ranks of an MPI job.
 */
#include "cli/mpi_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "node/fixed/mpi.h"
#include "node/host/format.h"
#include "os/file/file.h"
#include "os/log.h"
#include "os/run/program.h"

#define PROGRAM_NAME_SIZE 32u
#define CONFIG_MOST       (1u << 20)

struct ranks {
    struct collective all;
    uint32_t here;
    bool met; /* From here on they are in step. */
};

static struct ranks the_ranks; /* Of the process, as MPI is. */
static bool hushed;            /* Without MPI: others say the same. */
static char *const *words;     /* That started this process. */

/* What is said of that flag, as `--name=word` or `--name word`; "": nothing;
 * NULL: it is not there. */
static const char *find_flag(int argc, char *const *argv, const char *name)
{
    const size_t length = strlen(name);

    for (int i = 0; i < argc; i++) {
        const char *const rest = argv[i] + length;

        if (strncmp(argv[i], name, length) != 0)
            continue;
        if (*rest == '=')
            return rest + 1;
        if (*rest == '\0')
            return i + 1 < argc && argv[i + 1][0] != '-' ? argv[i + 1] : "";
    }
    return NULL;
}

/* Is what is in that folder, if anything, no run of ranks? */
static bool is_other_run(const char *folder)
{
    char path[FILE_PATH_SIZE];
    uint8_t *bytes;
    size_t size;
    bool other;

    file_path_in(folder[0] == '\0' ? LATEST_RUN : folder, CONFIG_FILE, path);
    if (file_read_plain(path, CONFIG_MOST, &bytes, &size, NULL) != ERR_OK)
        return false;
    other = strstr((const char *)bytes, "--topology=mpi\n") == NULL;
    mem_free(bytes);
    return other;
}

/* Whoever starts many processes that train each by itself may do so: only what
 * speaks of ranks makes them some. */
static bool are_expected(int argc, char *const *argv)
{
    const char *topology = find_flag(argc, argv, "--topology");
    const char *const folder = find_flag(argc, argv, "--resume");

    if (topology == NULL)
        topology = getenv("MUSTER_TOPOLOGY");
    if (topology != NULL)
        return strcmp(topology, "mpi") == 0;
    return folder != NULL && !is_other_run(folder);
}

/* The program that has this MPI in; returns if there is none. */
static void become_rank(const struct launcher *launcher)
{
    const char *const names[] = {launcher->mpi, "mpi"};
    char name[PROGRAM_NAME_SIZE], path[FILE_PATH_SIZE];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(name, sizeof name, "muster-%s", names[i]);
        if (program_find(name, path, sizeof path))
            program_become(path, words);
    }
}

void ranks_expect(struct cli *cli, int argc, char *const *argv)
{
    const struct launcher launcher = launcher_find();

    words = argv;
    ranks_hush(cli->command->run == launch_command && launcher.size > 1 &&
               launcher.rank > 0);
    if (cli->command->run == train_command && launcher.mpi != NULL &&
        !cli->led && are_expected(argc, argv))
        (void)!ranks_open(cli, NULL); /* It is asked again. */
}

enum err ranks_open(struct cli *cli, struct why *why)
{
    const struct launcher launcher = launcher_find();
    enum err err;

    if (cli->ranks != NULL)
        return ERR_OK;
    err = launcher_check(&launcher, why);
    if (err != ERR_OK)
        return err;
    if (!mpi_built && launcher.mpi != NULL)
        become_rank(&launcher);
    err = mpi_open(&the_ranks.all, why);
    hushed = err != ERR_OK && why != NULL && launcher.rank > 0;
    if (err != ERR_OK)
        return err;
    the_ranks.here = mpi_neighbours();
    cli->ranks = &the_ranks;
    cli->quiet = cli->quiet || !ranks_first(cli);
    log_quiet(cli->quiet);
    return ERR_OK;
}

void ranks_warn(const struct cli *cli)
{
    const struct launcher launcher = launcher_find();
    struct why why = {0};

    if (launcher_check(&launcher, &why) != ERR_OK && !cli->led)
        say_aloud("muster: %s; it trains by itself", why.text);
    if (launcher.size < 2 || launcher.rank > 0 || launcher.inherited ||
        cli->led)
        return;
    say_aloud("muster: %u processes of this command were started, by %s, and "
              "each of them trains by itself; for one training by all of them "
              "add --topology mpi, or write `muster launch ranks -- train ... "
              "--out DIR`",
              launcher.size, launcher.mpi == NULL ? "srun" : "mpirun or srun");
}

void ranks_hush(bool hush)
{
    hushed = hush;
}

int ranks_close(struct cli *cli, int status)
{
    struct ranks *ranks = cli->ranks;

    if (ranks == NULL)
        return status;
    if (!ranks->met)
        (void)!ranks_agree(cli, ERR_OK, NULL);
    /* Another's error would make mpirun end rank 0, which may be writing. */
    if (!ranks_first(cli))
        status = EXIT_DONE;
    mpi_close();
    cli->ranks = NULL;
    return status;
}

const struct collective *ranks_all(const struct cli *cli)
{
    return cli->ranks == NULL ? NULL : &cli->ranks->all;
}

bool ranks_first(const struct cli *cli)
{
    return cli->ranks == NULL || collective_rank(&cli->ranks->all) == 0;
}

uint32_t ranks_here(const struct cli *cli)
{
    return cli->ranks == NULL ? 0 : cli->ranks->here;
}

enum err ranks_agree(const struct cli *cli, enum err err, struct why *why)
{
    struct why none = {0};

    if (cli->ranks == NULL)
        return err;
    CHECK(!cli->ranks->met);
    cli->ranks->met = true;
    return collective_agree(&cli->ranks->all, err, why == NULL ? &none : why);
}

bool ranks_speak(const struct cli *cli, int *status, char *sentence,
                 size_t size)
{
    struct why why = {0}; /* All of it travels. */

    if (cli->ranks == NULL)
        return !hushed;
    if (!cli->ranks->met) {
        (void)snprintf(why.text, sizeof why.text, "%s", sentence);
        if (ranks_agree(cli, *status == EXIT_USAGE ? ERR_SHAPE : ERR_IO,
                        &why) != ERR_SHAPE)
            *status = EXIT_FAILED;
        (void)snprintf(sentence, size, "%s", why.text);
    }
    return ranks_first(cli);
}
