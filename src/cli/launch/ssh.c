/*
 * ssh.c - the engine `ssh`: a worker on another machine is a child `ssh` here
 * and a few lines of shell there, between whose ends runs a pipe.
 *
 *     launch --pipe--> ssh ==network==> sshd --pipe--> sh -- muster join
 *
 * The command line that the other machine's shell reads is a constant: all that
 * differs (the token, names, paths) goes down the pipe, a line each, and no
 * shell reads it as anything but data.  So nothing has to be quoted, and
 * no secret is ever on a command line.  There the token lies in a file of mode
 * 0600, in a folder of mode 0700 that goes with the worker.  The pipe stays
 * open as long as the worker is wanted; when it ends, for whatever reason, the
 * shell there sends the worker SIGTERM, with which it leaves in good order.
 *
 * BatchMode: ssh asks nothing.  Whatever needs an answer (a password, an
 * unknown host key) fails at once, in ssh's own words.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/version.h"
#include "cli/launch/engine.h"
#include "node/arithmetic.h"

#define MARK          "muster-launch: "
#define MARK_READY    MARK "ready"
#define MARK_OTHER    MARK "other "
#define EXIT_MISSING  64  /* No muster there. */
#define EXIT_OTHER    65  /* One of another version. */
#define EXIT_SSH      255 /* Of ssh itself: no connection, or it was lost. */
#define VERSION_SIZE  128u
#define PATH_SIZE     4096u
#define MESSAGE_SIZE  (3 * PATH_SIZE)
#define SSH_WORDS_MAX 40u

#define READ(variable) "IFS= read -r " variable " <&3 && "

/* Any login shell has to read this as one quoted word: no quote, no backslash,
 * no newline, no exclamation mark in it.
 *
 * The path that muster has here may be one below /tmp, where anybody may put a
 * program there: it is `safe` if nobody but root and the user can.
 *
 * `leave` may come before the worker is there.  A shell that is signalled stops
 * waiting, so it waits again until the worker is gone; and once more for its
 * code, which bash still has, while dash says 127 of one that a signal ended.
 */
/* clang-format off */
static const char script[] =
    "exec /bin/sh -c '"
    "umask 077; exec 3<&0; "
    "safe() { [ -n \"$1\" ] && at=$(readlink -f \"$1\") && me=$(id -u) && "
    "while [ -n \"$at\" ]; do "
    "set -- $(LC_ALL=C ls -ldn -- \"$at\" 2>/dev/null); "
    "[ \"$3\" = 0 ] || [ \"$3\" = \"$me\" ] || return 1; "
    "case $1 in ?????????[tT]*) ;; ????????w*) return 1;; "
    "?????w*) [ \"$4\" = 0 ] || [ \"$4\" = \"$me\" ] || return 1;; esac; "
    "at=${at%/*}; done; }; "
    READ("wanted") READ("program") READ("ours") ": || exit 66; "
    "if [ -n \"$program\" ]; then set -- \"$program\"; "
    "else set -- muster \"$HOME/.local/bin/muster\"; "
    "if safe \"$ours\"; then set -- \"$@\" \"$ours\"; fi; fi; "
    "found=; for one in \"$@\"; do "
    "if [ -z \"$found\" ] && command -v \"$one\" >/dev/null 2>&1; "
    "then found=$one; fi; done; "
    "if [ -z \"$found\" ]; then exit 64; fi; "
    "have=$(\"$found\" version </dev/null 2>&1 3<&-); "
    "if [ \"$have\" = \"$wanted\" ]; then :; "
    "else echo \"" MARK_OTHER "$have\"; exit 65; fi; "
    "echo \"" MARK_READY "\"; "
    READ("token") READ("name") READ("host") READ("port") READ("slots")
    READ("threads") ": || exit 66; "
    "if [ -z \"$host\" ]; then host=${SSH_CONNECTION%% *}; "
    "case $host in *:*) host=\"[$host]\";; esac; fi; "
    "if [ -z \"$threads\" ] && [ \"$slots\" -gt 1 ]; then "
    "threads=$(( $(nproc 2>/dev/null || echo 1) / slots )); "
    "if [ \"$threads\" -lt 1 ]; then threads=1; fi; fi; "
    "set --; if [ -n \"$threads\" ]; then set -- --threads \"$threads\"; fi; "
    "pid=; "
    "dir=$(mktemp -d \"${TMPDIR:-/tmp}/muster-XXXXXXXX\") || exit 66; "
    "tidy() { rm -rf \"$dir\"; }; "
    "leave() { if [ -n \"$pid\" ]; then kill -TERM $pid 2>/dev/null; fi; }; "
    "trap tidy EXIT; trap leave HUP INT TERM; "
    "echo \"$token\" >\"$dir/token\" || exit 66; "
    "\"$found\" join \"$host:$port\" -q --token-file \"$dir/token\" "
    "\"--name=$name\" \"$@\" </dev/null 3<&- & pid=$!; "
    "( while IFS= read -r line; do :; done; leave ) <&3 >/dev/null 2>&1 & "
    "watch=$!; exec 3<&-; "
    "code=0; while :; do wait $pid; code=$?; "
    "kill -0 $pid 2>/dev/null || break; done; "
    "if [ $code -gt 128 ]; then wait $pid; again=$?; "
    "if [ $again -ne 127 ]; then code=$again; fi; fi; "
    "kill $watch 2>/dev/null; exit $code'";
/* clang-format on */

/* --- before -------------------------------------------------------------- */

static enum err ssh_parse(struct launch *launch, struct why *why)
{
    const struct options *options = &launch->cli->options;
    const char *file = option_text(options, OPT_HOSTFILE);
    const char *list = option_text(options, OPT_HOSTS);
    const char *program = option_text(options, OPT_REMOTE);
    enum err err = ERR_OK;

    if (file == NULL && list == NULL)
        return why_set(why, ERR_SHAPE,
                       "on which machines? --hosts node1,node2:4 names them, "
                       "or --hostfile FILE, a host on each line");
    if (program != NULL && strchr(program, '\n') != NULL)
        return why_set(why, ERR_RANGE, "--remote: a newline in a path");
    if (file != NULL) {
        err = hosts_read(&launch->hosts, file, why);
        if (err == ERR_NOTFOUND)
            return why_in(why, err, "--hostfile");
    }
    if (err == ERR_OK && list != NULL) {
        err = hosts_parse(&launch->hosts, list, why);
        if (err != ERR_OK)
            return why_in(why, ERR_RANGE, "--hosts");
    }
    return err;
}

/* --- start --------------------------------------------------------------- */

/* As `muster version` prints it there, if it is the same. */
static void wanted_version(char text[VERSION_SIZE])
{
    const struct digest arithmetic = arithmetic_digest();
    char digest[DIGEST_TEXT];

    (void)digest_text(&arithmetic, digest);
    (void)snprintf(text, VERSION_SIZE, "muster %s (arithmetic %.16s)",
                   version_text, digest);
}

static void own_path(char path[PATH_SIZE])
{
    const ssize_t size = readlink("/proc/self/exe", path, PATH_SIZE - 1);

    path[size < 0 ? 0 : size] = '\0';
    if (strchr(path, '\n') != NULL)
        path[0] = '\0';
}

/* First, so that it is known whether there is a muster of ours ... */
static bool ask_version(const struct launch *launch, struct station *station)
{
    const char *program = option_text(&launch->cli->options, OPT_REMOTE);
    char version[VERSION_SIZE], path[PATH_SIZE], message[MESSAGE_SIZE];
    int size;

    wanted_version(version);
    own_path(path);
    size = snprintf(message, sizeof message, "%s\n%s\n%s\n", version,
                    program == NULL ? "" : program, path);
    return size > 0 && (size_t)size < sizeof message &&
           spawn_tell(&station->child, message, (size_t)size);
}

/* ... then its key, which opens no other name, and where to go. */
static void ssh_begin(struct launch *launch, struct station *station)
{
    const char *threads = option_text(&launch->cli->options, OPT_THREADS);
    struct token token = {0};
    char line[TOKEN_LINE_SIZE], message[MESSAGE_SIZE];
    int size;

    (void)snprintf(token.name, sizeof token.name, "%s", station->name);
    CHECK(token_key_of(&launch->token, station->name, token.key));
    size =
        snprintf(message, sizeof message, "%s%s\n%s\n%u\n%u\n%s\n",
                 token_line(&token, line), station->name, launch->dial,
                 (unsigned)launch->port, station_host(launch, station)->slots,
                 threads == NULL ? "" : threads);
    CHECK(size > 0 && (size_t)size < sizeof message);
    /* If ssh is gone, its end says so. */
    (void)spawn_tell(&station->child, message, (size_t)size);
    token_close(&token);
    token_wipe(line, sizeof line);
    token_wipe(message, sizeof message);
}

static void make_words(const struct launch *launch,
                       const struct station *station,
                       const char *words[SSH_WORDS_MAX])
{
    static const char *const fixed[] = {
        "-T",
        "-x",
        "-a",
        "-o",
        "BatchMode=yes",
        "-o",
        "LogLevel=ERROR",
        "-o",
        "ConnectTimeout=10",
        "-o",
        "ServerAliveInterval=15",
        "-o",
        "ServerAliveCountMax=3",
        "-o",
        "ClearAllForwardings=yes",
        "-o",
        "ControlMaster=no",
    };
    const char *config = option_text(&launch->cli->options, OPT_SSH_CONFIG);
    size_t count = 0;

    for (; count < sizeof fixed / sizeof *fixed; count++)
        words[count] = fixed[count];
    if (config != NULL) {
        words[count++] = "-F";
        words[count++] = config;
    }
    words[count++] = "--";
    words[count++] = station_host(launch, station)->target;
    words[count++] = script;
    words[count] = NULL;
}

static enum err ssh_start(struct launch *launch, struct station *station,
                          struct why *why)
{
    const char *words[SSH_WORDS_MAX];
    const struct spawn spawn = {
        .program = "ssh", .words = words, .piped = true};
    enum err err;

    make_words(launch, station, words);
    err = spawn_start(&spawn, &station->child, why);
    if (err == ERR_NOTFOUND)
        (void)why_set(why, err,
                      "there is no program ssh on this machine; install it "
                      "(Debian: apt-get install openssh-client)");
    if (err == ERR_OK)
        (void)ask_version(launch, station); /* If not, its end says so. */
    return err;
}

/* --- meanwhile, and the end ---------------------------------------------- */

static bool ssh_heard(struct launch *launch, struct station *station,
                      const char *line)
{
    const size_t size = strlen(MARK_OTHER);
    char wanted[VERSION_SIZE];

    if (strncmp(line, MARK_OTHER, size) == 0) {
        wanted_version(wanted);
        launch_trouble(launch, station,
                       "there is another version: %.100s; here it is %s; "
                       "install the same on both, or name one with --remote",
                       line + size, wanted);
    }
    return strcmp(line, MARK_READY) == 0;
}

/* The end of its standard error as one line, in `text`. */
static const char *last_words(const struct station *station,
                              char text[TOLD_SIZE])
{
    const size_t most = TOLD_SIZE / 2;
    char all[2 * SAID_SIZE] = ""; /* A newline becomes two letters. */
    const char *from = station->said, *part = all;
    size_t used = 0;

    while (*from == '\n' || *from == '\r')
        from++;
    for (; *from != '\0'; from++) {
        const bool end = *from == '\n';

        if (*from == '\r' || (end && (from[1] == '\0' || from[1] == '\n')))
            continue;
        if (end && used > 0 && all[used - 1] != ';')
            all[used++] = ';';
        all[used++] = end || (unsigned char)*from < ' ' ? ' ' : *from;
    }
    while (used > 0 && strchr(" .;", all[used - 1]) != NULL)
        used--;
    all[used] = '\0';
    if (used > most) {
        part += used - most;
        from = strstr(part, "; "); /* Half a line is none. */
        if (from != NULL)
            part = from + 2;
    }
    used = strlen(part);
    CHECK(used <= most);
    memcpy(text, part, used + 1);
    return text;
}

/* What to do about what ssh says; the host's name goes between the two, in a
 * command behind the configuration by which it is known. */
struct advice {
    const char *words, *before, *behind;
    bool command;
};

static const struct advice *find_advice(const char *said)
{
    static const struct advice list[] = {
        {"Permission denied",
         "no key of yours is let in, and ssh asks for no password here: "
         "`ssh-copy-id ",
         "` once, or add a key to ssh-agent", true},
        {"Host key verification failed",
         "its host key is not known here: `ssh ",
         "` once by hand, and compare what it shows", true},
        {"Could not resolve", "is ", " the right name?", false},
        {"Connection refused", "does sshd run on ", ", at that port?", false},
        {"timed out", "is ", " up, and does a firewall let you in?", false},
        {"No route to host", "is ", " up?", false},
    };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strstr(said, list[i].words) != NULL)
            return &list[i];
    return NULL;
}

static void tell_lost(struct launch *launch, const struct station *station)
{
    char said[TOLD_SIZE];
    const struct advice *advice = find_advice(last_words(station, said));
    const char *config = option_text(&launch->cli->options, OPT_SSH_CONFIG);
    const bool by = advice != NULL && advice->command && config != NULL;

    launch_trouble(
        launch, station, "%s%s%s%s%s%s%s%s%s%s",
        station->worked ? "the connection is lost" : "ssh does not get through",
        said[0] == '\0' ? "" : ": ", said, advice == NULL ? "" : "; ",
        advice == NULL ? "" : advice->before, by ? "-F " : "", by ? config : "",
        by ? " " : "",
        advice == NULL ? "" : station_host(launch, station)->target,
        advice == NULL ? "" : advice->behind);
}

/* Whoever answered there is no shell that did what it was told. */
static void tell_early(struct launch *launch, const struct station *station)
{
    char said[TOLD_SIZE];

    launch_trouble(launch, station,
                   "it ended before it was ready%s%s; does a file that its "
                   "shell reads, or sshd's ForceCommand, end it?",
                   station->said_size == 0 ? "" : ": ",
                   last_words(station, said));
}

/* A worker that had begun. */
static void tell_ended(struct launch *launch, const struct station *station,
                       int code)
{
    const bool again = option_flag(&launch->cli->options, OPT_RESTART);
    const char *more = again ? "" : "; --restart would start it again";
    char said[TOLD_SIZE];

    if (code > EXIT_SIGNAL)
        launch_trouble(launch, station, "%s was ended there by signal %d%s",
                       station->name, code - EXIT_SIGNAL, more);
    else
        launch_trouble(launch, station, "%s ended with status %d%s%s%s",
                       station->name, code,
                       station->said[0] == '\0' ? "" : ": ",
                       last_words(station, said), more);
}

static enum fate ssh_ended(struct launch *launch, struct station *station,
                           const struct process_end *end)
{
    /* Of those who are to leave, nothing is said. */
    if (station->child.in < 0)
        return FATE_LEFT;
    if (end->signal == 0 && end->code == 0 && station->state != STATION_WORKS) {
        tell_early(launch, station);
        return FATE_AGAIN;
    }
    if (end->signal == 0 && end->code == 0)
        return FATE_LEFT;
    if (end->signal == 0 && end->code == EXIT_OTHER)
        return FATE_NEVER;
    if (end->signal == 0 && end->code == EXIT_MISSING) {
        const char *program = option_text(&launch->cli->options, OPT_REMOTE);

        launch_trouble(launch, station,
                       "there is no %.200s there; install muster (make "
                       "install), or say where it is with --remote PATH",
                       program == NULL ? "muster in PATH, none in ~/.local/bin "
                                         "and none where it is here that "
                                         "nobody else could change"
                                       : program);
        return FATE_NEVER;
    }
    if (end->signal != 0 || end->code == EXIT_SSH) {
        tell_lost(launch, station);
        return FATE_AGAIN;
    }
    tell_ended(launch, station, end->code);
    return FATE_AGAIN;
}

static void ssh_stop(struct launch *launch, struct station *station)
{
    (void)launch;
    spawn_hush(&station->child);
}

const struct engine engine_ssh = {
    .name = "ssh",
    .example = " --hosts node1,node2",
    .example_job = "",
    .no_local = "--hosts; leave it out, or add localhost to the hosts",
    .options = {OPT_HOSTFILE, OPT_HOSTS, OPT_RESTART, OPT_SSH_CONFIG,
                OPT_REMOTE, OPT_WORKERS, OPT_THREADS},
    .parse = ssh_parse,
    .start = ssh_start,
    .heard = ssh_heard,
    .begin = ssh_begin,
    .ended = ssh_ended,
    .stop = ssh_stop,
};
