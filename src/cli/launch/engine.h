/*
 * engine.h - ways to have `muster join` run on other machines.
 *
 * An engine either hands all of it to somebody else who keeps it running
 * (`submit`; slurm.c), or finds that somebody has started all processes, this
 * one among them (`follow`; ranks.c), or starts workers one by one (ssh.c).  Of
 * the latter,
 * the coordinator is `muster train`, here; a station is one worker elsewhere,
 * whom the engine starts by a child process of ours, and who is gone when that
 * child is.  supervise.c looks after both.  A new engine is a file with a row
 * of these operations, and a line in the table of launch.c.
 *
 *     WAITS --start--> STARTS --heard--> READY --begin--> WORKS
 *       ^                 |                |                |
 *       |                 +----------------+----------------+
 *       |   --restart                      | ended
 *       +--------------------------------(fate)------> OVER
 *
 * Stations are made ready before there is a coordinator: if no machine will do,
 * nothing is begun.
 */
#ifndef CLI_LAUNCH_ENGINE_H
#define CLI_LAUNCH_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/flag.h"
#include "base/time.h"
#include "cli/launch/hosts.h"
#include "cli/run.h"
#include "core/msg.h"
#include "core/run/names.h"
#include "os/net/token.h"
#include "os/run/process.h"
#include "os/run/spawn.h"

#define SAID_SIZE 2048u /* Of a child's standard error the end is kept. */
#define LINE_SIZE 512u
#define TOLD_SIZE 600u

enum station_state {
    STATION_WAITS, /* For its time to start. */
    STATION_STARTS,
    STATION_READY, /* There is a muster there; it is not told whom to join. */
    STATION_WORKS,
    STATION_OVER, /* It will not be started again. */
};

struct station {
    char name[NAME_SIZE]; /* Under which it joins. */
    uint32_t host;
    enum station_state state;
    struct spawned child;
    time_us start_at;
    time_us since;        /* When it entered STARTS or WORKS. */
    uint32_t failures;    /* In a row, without having worked for a while. */
    bool late;            /* Its child was ended: it did not get ready. */
    bool worked;          /* It was told whom to join, once at least. */
    char line[LINE_SIZE]; /* Of its standard output, not yet whole. */
    size_t line_size;
    char said[SAID_SIZE]; /* The end of its standard error. */
    size_t said_size;
};

/* What the end of a station's child means. */
enum fate {
    FATE_LEFT,  /* It worked, and left in good order. */
    FATE_AGAIN, /* Another start may go better. */
    FATE_NEVER, /* It would not. */
};

struct place {
    uint32_t working;     /* Of its stations, now. */
    bool greeted;         /* All of them worked once, and that was said. */
    char told[TOLD_SIZE]; /* The last trouble that was told; not told twice. */
};

struct engine;

struct launch {
    struct cli *cli;
    const struct engine *engine;
    struct cli job;     /* `muster train`, parsed. */
    struct run *run;    /* Its folder. */
    char *const *words; /* Of the job, as typed, behind its command. */
    uint32_t word_count;
    struct hosts hosts;
    struct place *places; /* One for each host. */
    struct station *stations;
    uint32_t station_count;
    struct token token; /* The cluster's. */
    bool key_typed;     /* Its file is among the words. */
    bool workers_typed; /* --workers is; a run that is resumed has one of the
                           machines of before. */
    char token_file[RUN_PATH_SIZE + 32];
    int lock; /* LAUNCH_FILE's; -1: not held. */
    struct spawned coordinator;
    uint16_t port;            /* Where it listens ... */
    char dial[NET_HOST_SIZE]; /* ... and as whom others know it; "": as the
                                 machine that the connection came from. */
    struct flag stop, hurry;  /* A signal came, and another. */
};

#define ENGINE_OPTIONS 8u

struct engine {
    const char *name;
    /* For sentences: its options before the job and behind it; why -n, workers
     * beside the coordinator, is refused, NULL if it is not. */
    const char *example, *example_job, *no_local;
    /* Those of `muster launch` that mean something to it; 0: none.  What is in
     * another's list alone is refused. */
    int options[ENGINE_OPTIONS];
    /* What its options say: hosts and their slots. */
    enum err (*parse)(struct launch *launch, struct why *why);
    /* Somebody has started many of this command: true of all but the first,
     * with the exit code of a worker, and none of the others is called. */
    bool (*follow)(struct launch *launch, int *code);
    /* All of it is handed to somebody who keeps it running: the exit code, and
     * none of the others is called.  NULL: supervise.c does. */
    int (*submit)(struct launch *launch);
    /* Make station->child.  ERR_*: no station can be started at all. */
    enum err (*start)(struct launch *launch, struct station *station,
                      struct why *why);
    /* A line of its standard output.  True: it is ready. */
    bool (*heard)(struct launch *launch, struct station *station,
                  const char *line);
    /* Of one that is ready: the coordinator listens, join it. */
    void (*begin)(struct launch *launch, struct station *station);
    /* Its child is gone; what is to be said of that is said here, with
     * launch_trouble. */
    enum fate (*ended)(struct launch *launch, struct station *station,
                       const struct process_end *end);
    /* Let it leave; its child ends soon. */
    void (*stop)(struct launch *launch, struct station *station);
};

extern const struct engine engine_ssh;
extern const struct engine engine_slurm;
extern const struct engine engine_ranks;

/* What launches write into the run's folder, besides locks and keys. */
extern const struct names slurm_names;
extern const struct names ranks_names;

static inline const struct host *station_host(const struct launch *launch,
                                              const struct station *station)
{
    return &launch->hosts.list[station->host];
}

/* A sentence of trouble with a station's host, unless it was the last one told
 * of that host: many stations and many tries fail alike. */
__attribute__((format(printf, 3, 4))) void
launch_trouble(struct launch *launch, const struct station *station,
               const char *format, ...);

/*
 * Who may touch a run's folder: two locks, each held for a life and gone with
 * its holder, kill -9 or not, on every machine that sees the folder.
 *
 *     lock         the training has it before it reads its rows (cli/train.c)
 *     launch.lock  a launcher has it before it looks at anything there, while
 *                  it lives: `launch ssh` and rank 0 beyond the training's
 *                  end, `launch slurm` until both jobs are submitted
 *
 * So of two launches one begins, and the other finds either lock held and goes,
 * without having drawn a key, written a script or removed a file.  They are
 * two, since the training is another process, which may begin before its
 * launcher has done with the folder.  What starts a training and holds no lock
 * itself, Slurm's script, knows its own training's address by a mark
 * (node/host/ways.h).
 */
/* Make the folder and hold it against other launchers.  ERR_EXISTS: one is at
 * work there, or a run is going on. */
MUST_CHECK enum err launch_take(struct launch *launch, struct why *why);
/* Of one that is held: is a run going on that began without a launcher? */
MUST_CHECK enum err launch_check_free(const struct launch *launch,
                                      struct why *why);

/* The run has its own key, unless the user brings one, or brought one when it
 * began. */
MUST_CHECK enum err launch_open_key(struct launch *launch, struct why *why);

/* From the start of the coordinator to the end of all; returns the exit
 * code. */
int supervise(struct launch *launch);

#endif /* CLI_LAUNCH_ENGINE_H */
