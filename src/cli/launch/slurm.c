/*
 * slurm.c - the engine `slurm`: two batch scripts, for the coordinator and for
 * an array of workers, written into the run's folder and submitted.
 *
 * Nothing of ours watches them: Slurm starts, kills, requeues and starts them
 * again, in any order and on any node, and the scripts meet in the run's
 * folder, which all nodes see:
 *
 *     coordinator   NODE:PORT where it listens, or did when it was killed
 *     over          the training has ended for good
 *     run.token     the key
 *
 * The coordinator begins the run, or goes on with it if there is a journal.  A
 * worker joins whoever `coordinator` names, and when that ends looks again,
 * until the run is over or no coordinator is in Slurm's queue any more.  While
 * the coordinator lacks a processor, workers that wait for it give theirs back,
 * the lowest first: else each would wait for the other.
 *
 * A script that is started twice must not end the run of the first: only muster
 * can tell whether the folder is held, and it writes `address` once it holds
 * it, with the script's own mark (node/host/ways.h): another's is not for it,
 * however new.  Until then the script touches nothing that the others look at.
 *
 * Words of the user's stand in a script in single quotes, whatever they are.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/launch/engine.h"
#include "learn/card/json.h"
#include "node/host/ways.h"
#include "os/clock.h"
#include "os/file/file.h"

#define SCRIPT_SIZE (256u << 10)
#define PATH_SIZE   4096u
#define ID_SIZE     64u
#define COORDINATOR "coordinator.sbatch"
#define WORKERS     "workers.sbatch"

/* The scripts, and what they write; their logs are added to, not written over.
 */
static const char *const files[] = {COORDINATOR, WORKERS, "coordinator",
                                    "over"};
const struct names slurm_names = NAMES_OF(files);
#define SUBMIT_US (120 * SECOND_US)

/* A script that is being written; what does not fit is told at the end. */
struct script {
    char *text;
    size_t size;
    bool full;
};

static void put_part(struct script *script, const char *text, size_t size)
{
    if (script->size + size >= SCRIPT_SIZE) {
        script->full = true;
        return;
    }
    memcpy(script->text + script->size, text, size);
    script->size += size;
    script->text[script->size] = '\0';
}

static void put(struct script *script, const char *text)
{
    put_part(script, text, strlen(text));
}

/* As one word of a shell, whatever is in it. */
static void put_quoted(struct script *script, const char *text)
{
    put(script, "'");
    for (; *text != '\0'; text++)
        if (*text == '\'')
            put(script, "'\\''");
        else
            put_part(script, text, 1);
    put(script, "'");
}

static void put_set(struct script *script, const char *name, const char *value)
{
    put(script, name);
    put(script, "=");
    put_quoted(script, value);
    put(script, "\n");
}

__attribute__((format(printf, 2, 3))) static void
put_line(struct script *script, const char *format, ...)
{
    char line[512];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    put(script, line);
    put(script, "\n");
}

/* --- the scripts --------------------------------------------------------- */

/* FNV-1a of where the run is: folders of one name in two places are two jobs,
 * and one must not cancel the other's elements. */
static uint32_t mark_of(const struct launch *launch)
{
    char path[PATH_SIZE];
    uint32_t mark = 2166136261u;

    if (!file_absolute(".", path, sizeof path))
        path[0] = '\0';
    for (const char *at = path; *at != '\0'; at++)
        mark = (mark ^ (unsigned char)*at) * 16777619u;
    for (const char *at = launch->run->out; *at != '\0'; at++)
        mark = (mark ^ (unsigned char)*at) * 16777619u;
    return mark;
}

/* Of a job; letters that its shell and squeue take as they are. */
static void job_name(const struct launch *launch, char name[ID_SIZE])
{
    const char *slash = strrchr(launch->run->out, '/');
    const char *last = slash == NULL ? launch->run->out : slash + 1;

    (void)snprintf(name, ID_SIZE, "muster-%.30s-%08x", last, mark_of(launch));
    for (char *at = name; *at != '\0'; at++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789._-",
                   *at) == NULL)
            *at = '-';
}

/* Both begin like this. */
static void put_head(const struct launch *launch, struct script *script,
                     const char *role)
{
    char name[ID_SIZE];

    job_name(launch, name);
    put(script, "#!/bin/sh\n");
    put_line(script, "# Written by `muster launch slurm`: the %s.", role);
    put_line(script, "#SBATCH --job-name=%s%s", name,
             strcmp(role, "workers") == 0 ? "-workers" : "");
    put(script, "#SBATCH --ntasks=1 --requeue --output=/dev/null\n");
}

/* The user's come behind ours: of two, sbatch heeds the later one. */
static void put_options(const struct launch *launch, struct script *script)
{
    const char *more = option_text(&launch->cli->options, OPT_SBATCH);

    if (more == NULL)
        return;
    put(script, "#SBATCH ");
    put(script, more);
    put(script, "\n");
}

static void put_names(const struct launch *launch, struct script *script)
{
    const char *program = option_text(&launch->cli->options, OPT_REMOTE);
    char name[ID_SIZE], path[PATH_SIZE];
    ssize_t size;

    size = readlink("/proc/self/exe", path, sizeof path - 1);
    path[size < 0 ? 0 : size] = '\0';
    put_set(script, "muster", program != NULL ? program : path);
    if (!file_absolute(".", path, sizeof path))
        script->full = true;
    put(script, "cd ");
    put_quoted(script, path);
    put(script, " || exit 1\n");
    put_set(script, "run", launch->run->out);
    put(script, "token=");
    if (launch->key_typed)
        put_quoted(script, option_text(&launch->job.options, OPT_TOKEN_FILE));
    else
        put(script, "$run/run.token");
    put(script, "\n");
    job_name(launch, name);
    put_set(script, "job", name);
    /* A signal may come before there is anybody to pass it to.  A shell that is
     * signalled stops waiting, with a code above 128: it waits again.  If the
     * child ended meanwhile, bash has its code still; dash says 127 then, of a
     * child that a signal did end. */
    put(script, "umask 077\n"
                "mkdir -p \"$run\" || exit 1\n"
                "pid= told= passed=\n"
                "pass() {\n"
                "    [ -n \"$told\" ] && [ -n \"$pid\" ] && "
                "[ -z \"$passed\" ] || return 0\n"
                "    passed=1\n"
                "    kill -TERM $pid\n"
                "}\n"
                "leave() { told=1; pass; }\n"
                "trap leave TERM INT HUP\n"
                "wait_for_it() {\n"
                "    while :; do\n"
                "        wait $pid; code=$?\n"
                "        kill -0 $pid 2>/dev/null || break\n"
                "    done\n"
                "    if [ $code -gt 128 ]; then\n"
                "        wait $pid; again=$?\n"
                "        [ $again -eq 127 ] || code=$again\n"
                "    fi\n"
                "    pid=\n"
                "}\n");
}

/* Those up to `--`, behind which there are no options, or those from there. */
static void put_words(const struct launch *launch, struct script *script,
                      bool options)
{
    bool are_options = true;

    for (uint32_t i = 0; i < launch->word_count; i++) {
        are_options = are_options && strcmp(launch->words[i], "--") != 0;
        if (are_options != options)
            continue;
        put(script, " ");
        put_quoted(script, launch->words[i]);
    }
}

/* The last run may be another one when the job starts, so the folder that was
 * meant is named, behind whatever was typed. */
static void put_arguments(const struct launch *launch, struct script *script)
{
    const struct options *job = &launch->job.options;

    put(script, "set --");
    if (!option_given(job, OPT_RESUME) && !option_given(job, OPT_OUT))
        put(script, " --out \"$run\"");
    put_words(launch, script, true);
    if (option_given(job, OPT_RESUME))
        put(script, " \"--resume=$run\"");
    put_words(launch, script, false);
    put(script, "\n");
}

static void write_coordinator(const struct launch *launch,
                              struct script *script)
{
    const struct options *job = &launch->job.options;

    put_head(launch, script, "coordinator");
    put(script, "#SBATCH --cpus-per-task=1\n");
    put_options(launch, script);
    put_names(launch, script);
    put(script, "exec >>\"$run/coordinator.log\" 2>&1\n"
                "rm -f \"$run/over\"\n"
                "[ -e \"$token\" ] || \"$muster\" token new "
                "\"$token\" >/dev/null || exit 1\n");
    if (option_given(job, OPT_RESUME)) {
        put_arguments(launch, script);
    } else {
        put(script, "if [ -e \"$run/journal\" ]\n"
                    "then set -- \"--resume=$run\"\n"
                    "else ");
        put_arguments(launch, script);
        put(script, "fi\n");
    }
    /* A job that is requeued has its number again, and a node its pids. */
    put(script, "mark=$SLURM_JOB_ID.$SLURM_RESTART_COUNT.$(hostname).$$."
                "$(date +%s)\n" ADDRESS_MARK
                "=$mark \"$muster\" train --token-file \"$token\" --workers ");
    put(script, option_text(&launch->cli->options, OPT_WORKERS));
    if (!option_given(job, OPT_LISTEN) && !option_given(job, OPT_INTERFACE))
        put(script, " --listen 0.0.0.0:0");
    if (option_given(job, OPT_N)) /* Of the life before, elsewhere. */
        put(script, " -n 0");
    put(script,
        " \"$@\" &\n"
        "pid=$!\n"
        "pass\n"
        "# Where the others of this cluster reach this node, and the port.\n"
        "node=$(scontrol show node \"$SLURMD_NODENAME\" |\n"
        "       sed -n 's/.*NodeAddr=\\([^ ]*\\).*/\\1/p' | head -n 1)\n"
        "# An address without the mark is another's, dead or going on.\n"
        "address=\n"
        "while [ -z \"$address\" ] && kill -0 $pid 2>/dev/null; do\n"
        "    address=$(sed -n \"1h; 2{/^$mark\\$/{g;p;};}\" "
        "\"$run/address\" 2>/dev/null)\n"
        "    [ -n \"$address\" ] || sleep 0.1\n"
        "done\n"
        "case $address in\n"
        "127.*|'[::1]'*) address=${node:-$(hostname)}:${address##*:};;\n"
        "esac\n"
        "for name in ${address:+address coordinator}; do\n"
        "    echo \"$address\" >\"$run/$name.new\"\n"
        "    mv \"$run/$name.new\" \"$run/$name\"\n"
        "done\n"
        "wait_for_it\n"
        "if [ -n \"$address\" ] && "
        "[ \"$(cat \"$run/coordinator\" 2>/dev/null)\" = \"$address\" ]\n"
        "then rm -f \"$run/coordinator\" \"$run/address\"\n"
        "fi\n"
        "# 75: stopped, its state saved; whoever starts it again goes on.\n"
        "# No address: it was not begun, and another may be going on.\n"
        "[ -n \"$address\" ] || [ $code -eq 0 ] || exit $code\n"
        "if [ $code -ne 75 ]; then\n"
        "    : >\"$run/over\"\n"
        "    scancel --quiet --state=PENDING --name=\"$job-workers\" "
        "--user=\"$(id -un)\"\n"
        "fi\n"
        "exit $code\n");
}

static void write_workers(const struct launch *launch, struct script *script)
{
    const struct setting *workers =
        option_setting(&launch->cli->options, OPT_WORKERS);
    const char *threads = option_text(&launch->cli->options, OPT_THREADS);

    put_head(launch, script, "workers");
    /* --nice: of those that wait, the coordinator goes first. */
    put_line(script, "#SBATCH --nice=100 --array=0-%llu --cpus-per-task=%s",
             (unsigned long long)(workers->high - 1),
             threads == NULL ? "1" : threads);
    put_options(launch, script);
    put_names(launch, script);
    put(script, "exec >>\"$run/worker-$SLURM_ARRAY_TASK_ID.log\" 2>&1\n"
                "short=0 pause=1 left=0 last= waited=0\n"
                "while [ -z \"$told\" ] && [ ! -e \"$run/over\" ]; do\n"
                "    if [ -s \"$run/coordinator\" ]; then\n"
                "        where=$(cat \"$run/coordinator\")\n"
                "        [ \"$where\" = \"$last\" ] || pause=1 left=0\n"
                "        last=$where\n"
                "        \"$muster\" join \"$where\" --token-file \"$token\" "
                "\\\n"
                "            --name \"slurm-$SLURM_ARRAY_TASK_ID\" "
                "--threads \"${SLURM_CPUS_PER_TASK:-1}\" &\n"
                "        pid=$!\n"
                "        pass\n"
                "        # It would knock where nobody is any more.\n"
                "        while kill -0 $pid 2>/dev/null; do\n"
                "            [ \"$(cat \"$run/coordinator\" 2>/dev/null)\" = "
                "\"$where\" ] || kill -TERM $pid\n"
                "            sleep 1 &\n"
                "            wait $!\n"
                "        done\n"
                "        pid=\n"
                "    fi\n"
                "    [ -z \"$told\" ] || break\n"
                "    # Slurm is asked after 1 s, 2 s, 4 s, ... 30 s.\n"
                "    if [ $left -le 0 ]; then\n"
                "        state=$(squeue --noheader --name=\"$job\" "
                "--user=\"$(id -un)\" --format='%t %r') || state=unknown\n"
                "        # Nobody is there to work for, and nobody will come, "
                "unless\n"
                "        # the two were submitted by hand, and this one "
                "first.\n"
                "        if [ -n \"$state\" ]; then waited=0\n"
                "        elif [ -e \"$run/coordinator.log\" ] || "
                "[ $waited -ge 600 ]; then\n"
                "            echo \"muster: there is no coordinator in "
                "Slurm's queue: sbatch $run/coordinator.sbatch\"\n"
                "            break\n"
                "        else\n"
                "            [ $waited -gt 0 ] || echo \"muster: waiting "
                "ten minutes for $run/coordinator.sbatch to be "
                "submitted\"\n"
                "            waited=$((waited + pause))\n"
                "        fi\n"
                "        # It waits for a processor that this element holds "
                "idle.\n"
                "        case $state in\n"
                "        'PD Resources'*|'PD Priority'*) "
                "short=$((short + pause));;\n"
                "        *) short=0;;\n"
                "        esac\n"
                "        if [ $short -gt $((SLURM_ARRAY_TASK_ID + 2)) ]; then\n"
                "            scontrol requeue \"$SLURM_JOB_ID\"\n"
                "            short=0\n"
                "        fi\n"
                "        left=$pause\n"
                "        pause=$((pause * 2))\n"
                "        [ $pause -le 30 ] || pause=30\n"
                "    fi\n"
                "    left=$((left - 1))\n"
                "    sleep 1 &\n"
                "    pid=$!\n"
                "    wait_for_it\n"
                "done\n"
                "exit 0\n");
}

/* --- submitting ---------------------------------------------------------- */

/* Whether the jobs find each other depends on these. */
static enum err check_sbatch(const char *more, struct why *why)
{
    static const char *const ours[] = {"--ar", "-a", "--job", "-J"};
    static const char blanks[] = " \t";

    for (more += strspn(more, blanks); *more != '\0';
         more += strspn(more, blanks)) {
        const size_t size = strcspn(more, blanks);

        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            if (strncmp(more, ours[i], strlen(ours[i])) == 0)
                return why_set(why, ERR_RANGE,
                               "--sbatch: %.*s: the array's size is that of "
                               "--workers, and jobs are named after the run's "
                               "folder",
                               size > 80 ? 80 : (int)size, more);
        more += size;
    }
    return ERR_OK;
}

static enum err slurm_parse(struct launch *launch, struct why *why)
{
    const struct options *options = &launch->cli->options;
    const char *more = option_text(options, OPT_SBATCH);

    if (!option_given(options, OPT_WORKERS))
        return why_set(why, ERR_SHAPE,
                       "how many workers? --workers 4:32 begins with 4 and "
                       "takes up to 32");
    if (more != NULL && strchr(more, '\n') != NULL)
        return why_set(why, ERR_RANGE, "--sbatch: a newline among options");
    return more == NULL ? ERR_OK : check_sbatch(more, why);
}

/* All that has come: what there is no room for is read, too, or the child would
 * wait for ever.  The end of it is kept: a reason stands behind banners. */
static void take(int *fd, char *text, size_t room, size_t *size)
{
    char data[ID_SIZE / 2];
    size_t got;

    while ((got = spawn_read(fd, data, sizeof data)) > 0) {
        const size_t drop = *size + got > room ? *size + got - room : 0;

        memmove(text, text + drop, *size - drop);
        memcpy(text + *size - drop, data, got);
        *size += got - drop;
    }
}

/* One of Slurm's commands to its end, and the last of what it says. */
static enum err call(const char *program, const char *const *words,
                     char answer[ID_SIZE], char said[SAID_SIZE],
                     struct why *why)
{
    const struct spawn spawn = {
        .program = program, .words = words, .piped = true};
    const time_us until = clock_now_us() + SUBMIT_US;
    struct spawned child;
    struct process_end end = {0};
    size_t size = 0, told = 0;
    bool over = false;
    enum err err = spawn_start(&spawn, &child, why);

    if (err != ERR_OK)
        return err;
    spawn_hush(&child);
    while (!over && clock_now_us() < until) {
        const int fds[] = {child.out, child.err};

        spawn_wait(fds, 2, 20 * MS_US);
        over = process_ended(child.pid, &end);
        take(&child.out, answer, ID_SIZE - 1, &size);
        take(&child.err, said, SAID_SIZE - 1, &told);
    }
    answer[size] = said[told] = '\0';
    spawn_close(&child);
    return over && !process_failed(&end) ? ERR_OK : ERR_IO;
}

static const char *last_line(char *text)
{
    size_t size = strlen(text);
    const char *line;

    while (size > 0 && text[size - 1] == '\n')
        text[--size] = '\0';
    line = strrchr(text, '\n');
    return line == NULL ? text : line + 1;
}

/* What sbatch answers, its number alone. */
static enum err submit(const char *path, char id[ID_SIZE], struct why *why)
{
    const char *const words[] = {"--parsable", path, NULL};
    char said[SAID_SIZE] = "";
    enum err err = call("sbatch", words, id, said, why);

    if (err == ERR_NOTFOUND)
        return why_set(why, err,
                       "there is no program sbatch on this machine; run this "
                       "where Slurm's commands are, or write the scripts with "
                       "--print");
    id[strspn(id, "0123456789")] = '\0';
    if (err == ERR_OK && id[0] != '\0')
        return ERR_OK;
    return why_set(why, ERR_IO, "%.200s: %.250s", path,
                   said[0] != '\0' ? last_line(said)
                                   : "sbatch did not take it");
}

/* A coordinator without workers would wait for ever. */
static enum err take_back(const char *id, enum err err, struct why *why)
{
    const char *const words[] = {id, NULL};
    char answer[ID_SIZE], said[SAID_SIZE];
    struct why other = {0}, first = *why;
    const bool done = call("scancel", words, answer, said, &other) == ERR_OK;

    return why_set(
        why, err, "%.400s; the coordinator, job %s, %s", first.text, id,
        done ? "was cancelled" : "could not be cancelled: `scancel` it");
}

static enum err keep_and_submit(const struct launch *launch, const char *name,
                                const struct script *script, char id[ID_SIZE],
                                struct why *why)
{
    char path[FILE_PATH_SIZE];
    enum err err;

    file_path_in(launch->run->out, name, path);
    err = file_write_atomic(path, script->text, script->size, 0600, why);
    return err == ERR_OK ? submit(path, id, why) : err;
}

static void tell_submitted(const struct launch *launch, const char *coordinator,
                           const char *workers)
{
    const char *out = launch->run->out;

    if (launch->cli->json) {
        say_json(json_pack("{s:o, s:s, s:s}", "run", name_json(out),
                           "coordinator", coordinator, "workers", workers));
        return;
    }
    say_name("run          ", out, "\n");
    (void)printf("coordinator  job %s, log ", coordinator);
    say_name("", out, "/coordinator.log\n");
    (void)printf("workers      job %s, %s of them, logs ", workers,
                 option_text(&launch->cli->options, OPT_WORKERS));
    say_name("", out, "/worker-N.log\n");
    say_name("look         muster status ", out, "; squeue\n");
    say_name("stop         muster stop ", out, " (its state is saved)\n");
}

/* Of a run that is not begun: close_launch removes the folder, if it is empty.
 */
static void remove_scripts(const struct launch *launch)
{
    char path[FILE_PATH_SIZE];

    file_path_in(launch->run->out, COORDINATOR, path);
    file_remove(path);
    file_path_in(launch->run->out, WORKERS, path);
    file_remove(path);
}

static enum err submit_both(struct launch *launch,
                            const struct script *coordinator,
                            const struct script *workers, struct why *why)
{
    char first[ID_SIZE] = "", second[ID_SIZE] = "", path[FILE_PATH_SIZE];
    enum err err;

    /* Elements may start before the coordinator does. */
    file_path_in(launch->run->out, "over", path);
    file_remove(path);
    err = keep_and_submit(launch, COORDINATOR, coordinator, first, why);
    if (err == ERR_OK) {
        err = keep_and_submit(launch, WORKERS, workers, second, why);
        if (err != ERR_OK)
            err = take_back(first, err, why);
    }
    if (err == ERR_OK)
        tell_submitted(launch, first, second);
    else if (launch->run->fresh)
        remove_scripts(launch);
    return err;
}

static int slurm_submit(struct launch *launch)
{
    struct script coordinator = {.text = mem_new(SCRIPT_SIZE, 1)};
    struct script workers = {.text = mem_new(SCRIPT_SIZE, 1)};
    struct why why = {0};
    enum err err = ERR_OK;

    if (coordinator.text == NULL || workers.text == NULL) {
        err = why_set(&why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    } else {
        write_coordinator(launch, &coordinator);
        write_workers(launch, &workers);
        if (coordinator.full || workers.full)
            err = why_set(&why, ERR_TOOBIG, "the job has too many words");
    }
    if (err == ERR_OK && option_flag(&launch->cli->options, OPT_PRINT)) {
        (void)fputs(coordinator.text, stdout);
        (void)fputs(workers.text, stdout);
    } else if (err == ERR_OK) {
        err = submit_both(launch, &coordinator, &workers, &why);
        launch->run->fresh = launch->run->fresh && err != ERR_OK;
    }
    mem_free(coordinator.text);
    mem_free(workers.text);
    return err == ERR_OK ? EXIT_DONE : say_why(launch->cli, err, &why);
}

const struct engine engine_slurm = {
    .name = "slurm",
    .example = " --workers 4:32",
    .example_job = "",
    .no_local = "--workers; leave it out",
    .options = {OPT_SBATCH, OPT_PRINT, OPT_REMOTE, OPT_WORKERS, OPT_THREADS},
    .parse = slurm_parse,
    .submit = slurm_submit,
};
