/*
 * ranks.c - the engine `ranks`: srun, mpirun or mpiexec has started this very
 * command many times, and nothing is left to be started.
 *
 *     srun -n 8 muster launch ranks -- train data.svm model.txt --out RUN
 *
 * Which of them one is, it finds in the launcher's environment
 * (node/fixed/launcher.c).  Rank 0 is the coordinator, with a worker of its
 * own; the others join it.  Where it is they find in the run's folder, which
 * all of them see:
 *
 *     rank0      the name of its machine, and of the start of many that it is
 *                one of; locked while it lives, and written and removed by who
 *                holds launch.lock alone (engine.h)
 *     address    where it listens, as its own machine dials it
 *     run.token  the key
 *
 *     rank0.over it has been there: that start
 *
 * An address may be left from a life before, so nobody joins whom it has not
 * asked; and while rank 0 reads its rows, it does not listen yet but lives.
 * No MPI is needed, and whoever dies is stolen from, if the launcher lets the
 * others live, as srun does.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/launch/engine.h"
#include "cli/mpi_ranks.h"
#include "node/fixed/mpi.h"
#include "node/host/format.h"
#include "node/host/ways.h"
#include "node/run/client.h"
#include "os/clock.h"
#include "os/file/file.h"

#define RANK0_FILE "rank0"
#define OVER_FILE  "rank0.over"

static const char *const files[] = {RANK0_FILE, OVER_FILE};
const struct names ranks_names = NAMES_OF(files);
#define WORDS_MAX 1024u
#define OWN_WORDS 16u
#define OWN_SIZE  2048u
/* Ranks are started at about the same time; a shared file system may show what
 * is new a little later. */
#define MEET_S      60
#define LOOK_US     (50 * MS_US)
#define LOOK_US_MAX SECOND_US
/* Whoever looks once in LOOK_US_MAX must have seen a rank 0 that failed, or had
 * nothing left to do. */
#define STAY_US (2 * LOOK_US_MAX)
/* Who comes later finds its trace.  Numbers of jobs may come again (of mpirun
 * in a container, say), with a rank 0 that is not there yet. */
#define LATE_US STAY_US
#define SPARE   64u /* Seats for who joins by itself, as --workers has. */

/* Of a command line. */
struct words {
    char *list[WORDS_MAX];
    int count;
    char text[OWN_SIZE]; /* Those that nobody typed. */
    size_t size;
};

static void add(struct words *words, const char *word)
{
    const size_t size = strlen(word) + 1;

    CHECK(words->size + size <= OWN_SIZE);
    words->list[words->count++] = memcpy(words->text + words->size, word, size);
    words->size += size;
}

/* What was not typed is said for the user. */
static void add_option(struct words *words, const struct options *typed, int id,
                       const char *flag, const char *value)
{
    if (option_given(typed, id))
        return;
    add(words, flag);
    add(words, value);
}

static enum err find_ranks(struct launch *launch, struct why *why)
{
    const struct launcher self = launcher_find();
    const enum err err = launcher_check(&self, why);

    (void)launch;
    if (err != ERR_OK || self.size > 0)
        return err;
    return why_set(why, ERR_SHAPE,
                   "launch ranks is for processes that srun, mpirun or mpiexec "
                   "has started: `srun -n 8 muster launch ranks -- train ... "
                   "--out DIR`");
}

/* That all ranks know without asking; "": none. */
static const char *folder_of(const struct launch *launch)
{
    const struct options *job = &launch->job.options;
    const char *resumed = option_text(job, OPT_RESUME);
    const char *out = option_text(job, OPT_OUT);

    if (resumed != NULL && resumed[0] != '\0')
        return resumed;
    return out == NULL ? "" : out;
}

/* --- a rank that follows ---------------------------------------------------
 */

/* What rank 0 says of itself; false: nobody has. */
static bool read_place(const char *folder, char host[NET_HOST_SIZE],
                       char job[LAUNCH_JOB_SIZE])
{
    char path[FILE_PATH_SIZE];
    uint8_t *text;
    size_t size, name;

    file_path_in(folder, RANK0_FILE, path);
    if (file_read_plain(path, NET_HOST_SIZE + LAUNCH_JOB_SIZE, &text, &size,
                        NULL) != ERR_OK)
        return false;
    name = strcspn((const char *)text, "\n");
    (void)snprintf(host, NET_HOST_SIZE, "%.*s", (int)name, (const char *)text);
    (void)snprintf(job, LAUNCH_JOB_SIZE, "%s",
                   name < size ? (const char *)text + name + 1 : "");
    mem_free(text);
    return true;
}

/* The machine of rank 0; false: it is this one, or nobody has said. */
static bool is_elsewhere(const char *folder, char host[NET_HOST_SIZE])
{
    char own[NET_HOST_SIZE], job[LAUNCH_JOB_SIZE];

    net_own_name(own);
    return read_place(folder, host, job) && strcmp(host, own) != 0;
}

/* Is it known to be of another start?  Then ours is turned away, and it is not
 * ours to follow. */
static bool is_anothers(const char *folder, const struct launcher *self)
{
    char host[NET_HOST_SIZE], job[LAUNCH_JOB_SIZE];

    return self->job[0] != '\0' && read_place(folder, host, job) &&
           job[0] != '\0' && strcmp(job, self->job) != 0;
}

/* Rank 0 listens on all addresses of its machine, and tells the one by which it
 * reaches itself. */
static bool find_first(const struct launch *launch, const char *folder,
                       char where[NET_TEXT_SIZE])
{
    char host[NET_HOST_SIZE];
    struct net_address *address;
    struct ways ways;

    if (ways_open(folder, launch->token_file, true, &ways, NULL) != ERR_OK)
        return false;
    address = &ways.addresses[0];
    if ((strncmp(address->host, "127.", 4) == 0 ||
         strcmp(address->host, "::1") == 0) &&
        is_elsewhere(folder, host))
        (void)snprintf(address->host, sizeof address->host, "%s", host);
    (void)net_text(address, where);
    ways_close(&ways);
    return true;
}

static bool answers(const struct launch *launch, const char *where)
{
    const struct msg_ask question = {.what = ASK_STATUS};
    char *answer;

    if (client_ask(where, launch->token_file, &question, &answer, NULL) !=
        ERR_OK)
        return false;
    mem_free(answer);
    return true;
}

/* Has a rank 0 of this very start been there, and gone? */
static bool is_over(const char *folder, const struct launcher *self)
{
    char path[FILE_PATH_SIZE];
    uint8_t *text;
    size_t size;
    bool same;

    file_path_in(folder, OVER_FILE, path);
    if (self->job[0] == '\0' ||
        file_read_plain(path, LAUNCH_JOB_SIZE, &text, &size, NULL) != ERR_OK)
        return false;
    same = size == strlen(self->job) && memcmp(text, self->job, size) == 0;
    mem_free(text);
    return same;
}

/* Until rank 0 answers.  ERR_CLOSED: it came and is gone, or found a run in the
 * folder that it was not told to resume.  ERR_TIMEOUT: it was never seen.
 * ERR_DENIED: the folder is one that rank 0 refuses. */
static enum err await_first(const struct launch *launch, const char *folder,
                            const struct launcher *self,
                            char where[NET_TEXT_SIZE], struct why *why)
{
    const time_us began = clock_now_us();
    time_us pause = LOOK_US;
    char path[FILE_PATH_SIZE];
    const bool resumes = option_given(&launch->job.options, OPT_RESUME);
    bool seen = false, begun, over, lives, others;
    time_us waited;

    file_path_in(folder, RANK0_FILE, path);
    for (;;) {
        waited = clock_now_us() - began;
        begun = !resumes && format_holds_run(folder); /* First: see lead. */
        over = waited >= LATE_US && is_over(folder, self);
        if (file_exists(folder) && file_check_folder(folder, why) != ERR_OK)
            return ERR_DENIED;
        lives = file_locked(path);
        others = lives && is_anothers(folder, self);
        lives = lives && !others;
        if (lives && find_first(launch, folder, where) &&
            answers(launch, where))
            return ERR_OK;
        if ((seen || begun || over) && !lives)
            return ERR_CLOSED;
        if (!seen && !lives && waited > MEET_S * SECOND_US)
            return why_set(why, ERR_TIMEOUT,
                           others ? "rank %u: the rank 0 in %.200s is that of "
                                    "another start, after %d s still; choose "
                                    "another --out"
                                  : "rank %u: there is no rank 0 in %.200s "
                                    "after %d s; it is a folder that all ranks "
                                    "must see",
                           self->rank, folder, MEET_S);
        seen = seen || lives;
        spawn_wait(NULL, 0, pause);
        pause = pause < LOOK_US_MAX / 2 ? 2 * pause : LOOK_US_MAX;
    }
}

static int join_first(const struct launch *launch, const char *folder,
                      const char *where)
{
    const char *threads = option_text(&launch->job.options, OPT_THREADS);
    struct cli join = {.command = command_find("join"), .led_to = folder};
    struct words words = {.count = 0};
    int code;

    if (threads == NULL)
        threads = option_text(&launch->cli->options, OPT_THREADS);
    add(&words, where);
    add(&words, "-q");
    add(&words, "--token-file");
    add(&words, launch->token_file);
    if (threads != NULL) {
        add(&words, "--threads");
        add(&words, threads);
    }
    code = command_run(&join, words.count, words.list);
    options_close(&join.options);
    return code;
}

static bool follow(struct launch *launch, int *code)
{
    const struct launcher self = launcher_find();
    const bool resumes = option_given(&launch->job.options, OPT_RESUME);
    const char *folder, *key;
    char where[NET_TEXT_SIZE];
    struct why why = {0};
    enum err err;

    if (self.rank == 0)
        return false;
    *code = EXIT_USAGE; /* Rank 0 says why. */
    /* The run may have been begun with a key of the user's. */
    if (resumes && run_choose_folder(launch->run, NULL) != ERR_OK)
        return true;
    folder = folder_of(launch);
    key = option_text(&launch->job.options, OPT_TOKEN_FILE);
    if (folder[0] == '\0')
        return true;
    (void)snprintf(launch->token_file, sizeof launch->token_file, "%.500s%s",
                   key == NULL ? folder : key,
                   key == NULL ? "/" TOKEN_FILE : "");
    ranks_hush(false);
    err = await_first(launch, folder, &self, where, &why);
    if (err == ERR_OK)
        *code = join_first(launch, folder, where);
    else if (err == ERR_CLOSED)
        *code = EXIT_DONE; /* Rank 0 has said how it ended. */
    else
        *code = say_why(launch->cli, err, &why);
    return true;
}

/* --- rank 0 ---------------------------------------------------------------
 */

/* Its machine is named before it is locked: whoever reads it finds it whole. */
static enum err keep_place(const char *path, int *lock, struct why *why)
{
    const struct launcher self = launcher_find();
    char host[NET_HOST_SIZE], text[NET_HOST_SIZE + LAUNCH_JOB_SIZE];
    enum err err;

    net_own_name(host);
    (void)snprintf(text, sizeof text, "%s\n%s", host, self.job);
    err = file_write_atomic(path, text, strlen(text), 0600, why);
    return err == ERR_OK ? file_lock(path, lock, why) : err;
}

/* `muster train` with a worker here and seats for the others. */
static int coordinate(struct launch *launch)
{
    const struct launcher self = launcher_find();
    const struct options *job = &launch->job.options;
    const char *threads = option_text(&launch->cli->options, OPT_THREADS);
    const char *workers = option_text(&launch->cli->options, OPT_WORKERS);
    struct cli train = {.command = launch->job.command, .led = true};
    struct words words = {.count = 0};
    char seats[32], share[16];
    int code;

    (void)snprintf(seats, sizeof seats, "%u:%u", self.size,
                   self.size + SPARE < RECIPE_WORKERS_MAX ? self.size + SPARE
                                                          : RECIPE_WORKERS_MAX);
    (void)snprintf(share, sizeof share, "%u", launcher_threads(&self));
    add_option(&words, job, OPT_N, "-n", "1");
    if (!launch->workers_typed) {
        add(&words, "--workers");
        add(&words, workers != NULL ? workers : seats);
    }
    add_option(&words, job, OPT_THREADS, "--threads",
               threads != NULL ? threads : share);
    if (launch->cli->json)
        add_option(&words, job, OPT_FORMAT, "--format", "json");
    if (launch->cli->quiet)
        add(&words, "-q");
    add_option(&words, job, OPT_TOKEN_FILE, "--token-file", launch->token_file);
    if (!option_given(job, OPT_INTERFACE))
        add_option(&words, job, OPT_LISTEN, "--listen",
                   self.here == self.size ? "127.0.0.1:0" : "0.0.0.0:0");
    for (uint32_t i = 0; i < launch->word_count; i++)
        words.list[words.count++] = launch->words[i];
    code = command_run(&train, words.count, words.list);
    options_close(&train.options);
    return code;
}

/* Not worth failing for: who comes late waits longer. */
static void leave_trace(const char *path)
{
    const struct launcher self = launcher_find();

    if (self.job[0] != '\0')
        (void)!file_write_atomic(path, self.job, strlen(self.job), 0600, NULL);
}

/* The run begins while the place is held. */
static int lead(struct launch *launch)
{
    char path[FILE_PATH_SIZE], over[FILE_PATH_SIZE];
    struct why why = {0};
    time_us until;
    int lock, code;
    enum err err = ERR_OK;

    if (folder_of(launch)[0] == '\0')
        err = why_set(&why, ERR_SHAPE,
                      "in which folder do the ranks meet? add --out DIR, or "
                      "--resume=DIR, on a file system that all of them see");
    else if (launch->word_count > WORDS_MAX - OWN_WORDS)
        err = why_set(&why, ERR_RANGE, "more than %u words after --",
                      WORDS_MAX - OWN_WORDS);
    if (err == ERR_OK)
        err = launch_open_key(launch, &why);
    file_path_in(launch->run->out, RANK0_FILE, path);
    file_path_in(launch->run->out, OVER_FILE, over);
    if (err == ERR_OK)
        err = keep_place(path, &lock, &why);
    if (err != ERR_OK)
        return say_why(launch->cli, err, &why);
    file_remove(over);
    until = clock_now_us() + STAY_US;
    code = coordinate(launch);
    while (
        (code != EXIT_DONE || option_given(&launch->job.options, OPT_RESUME)) &&
        clock_now_us() < until)
        spawn_wait(NULL, 0, until - clock_now_us());
    leave_trace(over);
    file_remove(path);
    file_unlock(lock);
    return code;
}

const struct engine engine_ranks = {
    .name = "ranks",
    .example = "",
    .example_job = " --out DIR",
    .options = {OPT_WORKERS, OPT_THREADS},
    .parse = find_ranks,
    .follow = follow,
    .submit = lead,
};
