/*
 * world.h - the state of one simulation; inside src/sim only.
 *
 *   sim.c          start, main loop, end        network.c   packets, links
 *   coordinator.c  its process and disk jobs    worker.c    its processes
 *   relay.c        the relays between them      world.c     time, trace, digest
 *   faults.c       what goes wrong, and when    inject.c    ... and how
 *   compute.c      what they compute
 *
 * A process has lives.  What is under way for an earlier life (a timer, a
 * computation, a disk job) carries its number and comes to nothing.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/time.h"
#include "core/action.h"
#include "core/relay/relay.h"
#include "core/star/coordinator.h"
#include "core/worker/worker.h"
#include "data/rows/dataset.h"
#include "eval/evaluator.h"
#include "sim/checker.h"
#include "sim/disk.h"
#include "sim/heap.h"
#include "sim/oracle.h"
#include "sim/sim.h"
#include "sim/truth.h"
#include "wire/codec.h"

#define NODE_COORDINATOR UINT32_MAX
#define NODE_NOBODY      (UINT32_MAX - 1)
#define NODE_RELAY       (UINT32_C(1) << 30) /* + its index. */
#define CONN_NONE        UINT32_MAX
#define CONN_GHOST       (UINT32_MAX - 1) /* To be found on arrival. */

enum happening_kind {
    HAPPEN_START,     /* A process begins a life. */
    HAPPEN_TIMER,     /* EVENT_TIME may be due. */
    HAPPEN_PACKET,    /* A message arrives at `node` over `conn`. */
    HAPPEN_DIAL,      /* A connection attempt reaches the one above. */
    HAPPEN_LINK_UP,   /* ... and its success the one below. */
    HAPPEN_LINK_DOWN, /* `node` learns that `conn` is gone. */
    HAPPEN_COMPUTED,  /* A worker's piece is done, or called off. */
    HAPPEN_RECALLED,  /* A worker has looked what it can fetch ... */
    HAPPEN_FETCHED,   /* ... and fetched chunk `number`, or not. */
    HAPPEN_PEERED,    /* The same of a chunk from worker `conn`. */
    HAPPEN_SERVING,   /* Peers can reach a worker. */
    HAPPEN_DISK,      /* The first disk job is carried out ... */
    HAPPEN_DISK_DONE, /* ... and the coordinator told. */
    HAPPEN_THAW,      /* `node` may run again. */
    HAPPEN_LEAVE,     /* A worker is asked to leave. */
    HAPPEN_STOP,      /* The coordinator is asked to stop. */
    HAPPEN_FAULT,     /* The next fault of the seed. */
    HAPPEN_SCRIPT,    /* Fault `number` of the script. */
    HAPPEN_CURE,      /* Faults end; everything is mended. */
    HAPPEN_DEADLINE,  /* CHECK-5: there should have been a step by now. */
    HAPPEN_JUDGED,    /* The coordinator has computed a piece itself. */
    HAPPEN_MEASURED,  /* ... or measured held-out rows. */
    HAPPEN_SIZE,      /* It is asked for change `number` of samples' size. */
};

/* Directions of a connection: down and up, where relays are in between. */
enum { TO_WORKER, TO_COORDINATOR };

struct packet {
    struct packet *next; /* In the list of free ones. */
    uint8_t *bytes;
    size_t size, capacity;
    enum msg_kind kind; /* A ring's. */
    bool poisoned;
};

#define MEMORIES_MAX 24u

/* An answer that may be heard again. */
struct memory {
    struct packet *packet;
    uint32_t conn;
    int direction;
};

/* A connection, known to each end only as long as that end holds it open. */
struct conn {
    uint32_t lower;        /* Node that dialled: a worker or a relay. */
    uint32_t upper;        /* The coordinator or a relay ... */
    uint32_t link;         /* ... and the link there. */
    bool open[2];          /* Indexed by the direction whose end it is. */
    time_us last_at[2][2]; /* Latest arrival by direction, bulk: FIFO. */
};

/* Of one that dials. */
struct caller {
    uint32_t conn;
    uint32_t tries;       /* In vain, since it was last let in. */
    time_us cut_until[2]; /* Partitioned, by direction. */
    bool cut_loses;       /* What meets the partition is lost, not late. */
};

/* Of one that is dialled. */
struct listener {
    uint32_t *link_conn; /* Link -> connection, or CONN_NONE. */
    uint32_t links;
};

/* What all kinds of process have. */
struct process {
    bool running;
    bool unplugged; /* Its machine is off too: nobody answers for it. */
    uint64_t life;
    bool frozen;
    uint32_t freeze;        /* Number of the last freeze. */
    struct happening *held; /* What came while it was frozen. */
    size_t held_count, held_capacity;
    time_us timer_at;      /* As last asked for. */
    time_us timer_due;     /* Earliest HAPPEN_TIMER in the heap. */
    bool has_life_to_come; /* A HAPPEN_START is in the heap. */
};

/* src/sim/compute.c. */
struct sim_evaluator {
    struct evaluator *made; /* NULL: not yet. */
    struct followed_function function;
    struct user_function user; /* Of a followed scale: what is evaluated. */
};

/* What a worker computes, in virtual time. */
struct sim_computation {
    bool active, cancelled;
    uint32_t number;
    time_us began_at, chunk_us;
    time_us ends_at; /* As far as is known. */
    bool in_place;   /* Reads the vectors where they arrived. */
    struct computation asked;
};

/* Where a worker puts ROUNDs together and reads them (docs/protocol.md,
 * ROOM-1). */
struct inbox {
    double *vectors; /* Weights, then the direction; NULL: none yet. */
    int16_t *exponent;
    time_us full_until; /* Bulk is not read before. */
};

struct sim_worker {
    struct process process;
    struct worker machine;
    bool exists; /* Has been started at least once. */
    bool resident;
    bool poison;
    bool lies;
    bool refuses;       /* Whatever it computes does not fit, it says. */
    uint32_t lie_every; /* One answer in so many; 0 = all. */
    uint32_t lie_piece; /* Only about this one, from 1; 0 = any. */
    uint32_t rejected;  /* How often; it then comes back under a new name. */
    double slow;        /* Compute takes so much longer; 1 = as usual. */
    struct caller caller;
    struct sim_computation computation;
    bool in_place; /* Has an inbox. */
    struct inbox inbox;
    struct dataset data; /* Shipped, if not resident. */
    bool has_data;
    bool keeps;           /* Chunks it was sent stay on its disk ... */
    struct chunkset disk; /* ... over its lives. */
    struct sim_evaluator evaluator; /* Of its own rows or block. */
    uint64_t view_answered;
};

struct sim_relay {
    struct process process;
    struct relay machine;
    struct caller caller;
    struct listener listener;
};

struct disk_job {
    const uint8_t *lent; /* A checkpoint: the machine's bytes, which it leaves
                            as they are until it is told; NULL: ... */
    bool sync;
    uint32_t step;
    uint8_t *bytes; /* ... records of the journal. */
    size_t size, capacity;
};

/* src/sim/tray.c. */
#define SIM_TRAY_MAX 8u

struct sim_tray_item {
    struct msg msg;
    int64_t *sum;
    uint32_t conn; /* As msg_conn and msg_poisoned of the world. */
    bool poisoned;
};

struct sim_tray {
    uint32_t count;
    bool telling; /* What is on it, right now. */
    struct sim_tray_item items[SIM_TRAY_MAX];
    struct arrival arrivals[SIM_TRAY_MAX];
};

/* Proved bounds. */
struct sim_scale {
    struct scale scale;
    const struct oracle *oracle;
};

struct sim_coordinator {
    struct process process;
    struct coordinator machine;
    struct coordinator_options options;
    struct sim_scale scale; /* The machine's, or ... */
    struct follow follow;   /* ... this, where nothing is proved. */
    struct disk_model disk;
    struct disk_job *jobs; /* A ring that grows. */
    uint32_t job_first, job_count, job_capacity;
    bool disk_busy;
    enum err job_err;     /* Of the job carried out, until it is told. */
    struct sim_tray tray; /* It is to be told TALLIES. */
    enum err judge_err;   /* Likewise of the piece it computed. */
    double held_out_loss; /* ... of the rows it measured. */
    bool power;           /* A disk crash is a power cut, not a kill. */
    time_us away_us;      /* ... after which it starts again so much later. */
    struct listener listener;
    uint32_t leaves;  /* Workers it lets in over relays. */
    bool disk_failed; /* In this life, a job did. */
    bool gave_up;     /* The machine ended, but not the job. */
    bool stopping;    /* It was asked to. */
    bool done;
    uint32_t lives;
};

struct burst {
    time_us until;
    double lose, twice, late;
    time_us late_us;
};

struct world {
    const struct sim_options *options;
    struct sim_result *result;
    struct heap heap;
    time_us now;
    struct rng network_rng, disk_rng, life_rng, gap_rng;
    struct rng fault_root; /* One stream for each fault: */
    struct rng fault_rng;  /* ... the one at hand. */

    struct sim_coordinator coordinator;
    struct sim_relay *relays;
    uint32_t relay_count;
    struct sim_worker *workers;
    uint32_t worker_count; /* Started so far. */
    uint32_t workers_max;

    struct conn *conns;
    size_t conn_count, conn_capacity;
    struct packet *free_packets;
    bool remembers; /* Some fault may replay: */
    struct memory memories[MEMORIES_MAX];
    uint32_t memory_next;
    struct codec_room room;  /* For those who know the job ... */
    struct codec_room bare;  /* ... and those who do not yet. */
    struct codec_room upper; /* The coordinator's: what `room` has, but sums
                                stay packed. */
    uint8_t *chunk_bytes;
    struct digest *chunk_digests; /* NULL: the job is not keyed. */
    struct actions actions;

    struct oracle oracle;
    struct sim_evaluator evaluator; /* Of those who have all rows. */
    uint8_t brief[BRIEF_MAX];       /* Of the job. */
    struct checker checker;
    struct truth truth;
    struct resized resized;
    struct digest data_digest;
    struct digest arithmetic;

    struct burst burst;
    bool mending;          /* The cure has come: what dies is started again. */
    uint64_t commits_seen; /* When progress was last looked at. */
    uint32_t faults_left;
    bool *scripted;        /* Per script line: it has been scheduled. */
    uint32_t steps_opened; /* Highest step opened + 1. */

    /* The message being handled, for the checker. */
    const struct msg *msg;
    uint32_t msg_conn;
    bool msg_poisoned;
    bool passes_poison; /* A relay is handling it: what it passes on is, too. */

    time_us first_step_at, last_commit_at;
    bool stepped;
    size_t series_capacity;
    uint64_t digest;
    uint32_t same_time; /* Events since time last moved. */
    bool over;
};

/* --- world.c --- */
void world_push(struct world *world, struct happening happening);
void world_mix(struct world *world, uint64_t value);
struct process *world_process(struct world *world, uint32_t node);
bool world_tracing(const struct world *world);
/* One line of the trace: time, who (by node), mark, text. */
__attribute__((format(printf, 4, 5))) void world_note(struct world *world,
                                                      uint32_t node, char mark,
                                                      const char *format, ...);
void world_set_timer(struct world *world, uint32_t node, time_us at);
/* Is EVENT_TIME due at this HAPPEN_TIMER?  Arms the next one if not. */
bool world_timer_due(struct world *world, uint32_t node);
void process_hold(struct process *process, const struct happening *happening);
/* Start, end of a life. */
void process_begin(struct process *process);
void process_end(struct world *world, struct process *process);
/* The process starts (again) after a while, unless it is to already. */
void world_start_later(struct world *world, uint32_t node, time_us after_us);

/* --- network.c --- */
void network_close(struct world *world);
enum spoil { SPOIL_NOT, SPOIL_POISON, SPOIL_LIE };
void network_send(struct world *world, uint32_t conn, int direction,
                  const struct msg *msg, enum spoil spoil);
void network_dial(struct world *world, uint32_t lower, uint32_t upper);
MUST_CHECK enum err network_listener(struct listener *listener, uint32_t links);
void network_on_dial(struct world *world, const struct happening *happening);
/* One end closes; the other is told. */
void network_close_end(struct world *world, uint32_t conn, int direction);
/* One end is gone without a word. */
void network_drop_end(struct world *world, uint32_t conn, int direction);
/* Tell an end that holds it open that the connection broke. */
void network_break(struct world *world, uint32_t conn, int direction);
/* A message of long ago (happening->life is the worker it was from or for)
 * arrives on the connection of today; false if there is none. */
bool network_find_ghost(struct world *world, struct happening *happening);
/* The last answers come again, over the connections of the next moments. */
void network_replay(struct world *world);
/* It arrives then, as it is. */
void network_put_off(struct world *world, const struct happening *happening,
                     time_us at);
/* May the packet be handled?  False: it was lost, put off or answered with a
 * reset; the caller forgets it. */
bool network_arrives(struct world *world, const struct happening *happening);
/* In the room of the node; NULL if the bytes are no message for it. */
const struct msg *network_decode(struct codec_room *room,
                                 const struct packet *packet, struct msg *msg);
void network_free_packet(struct world *world, struct packet *packet);

/* --- coordinator.c --- */
MUST_CHECK enum err sim_coordinator_init(struct world *world, struct why *why);
void sim_coordinator_close(struct world *world);
MUST_CHECK enum err sim_tray_init(struct world *world);
void sim_tray_close(struct world *world);
/* The message being handled waits on the tray; false: it is none that does. */
bool sim_tray_put(struct world *world, uint32_t link);
bool sim_tray_due(const struct world *world);
/* The checker is to look at the one of that link. */
void sim_tray_show(struct world *world, uint32_t link);
void sim_coordinator_start(struct world *world);
void sim_coordinator_crash(struct world *world, bool power, time_us away_us);
void sim_coordinator_on(struct world *world, const struct happening *happening);

/* --- worker.c --- */
void sim_worker_start(struct world *world, uint32_t index);
void sim_worker_crash(struct world *world, uint32_t index, bool unplugged);
void sim_worker_on(struct world *world, const struct happening *happening);
void sim_workers_close(struct world *world);
/* The next worker that was never started; NODE_NOBODY if all were. */
uint32_t sim_worker_spare(const struct world *world);

/* --- compute.c --- */
/* What evaluators are told of the job. */
struct brief sim_compute_brief(const struct world *world,
                               uint8_t room[BRIEF_MAX]);
/* What the worker is about to compute; that, when its time has come; and after
 * it, or instead, the end. */
void sim_compute_begin(struct world *world, struct sim_worker *worker,
                       const struct computation *asked);
MUST_CHECK enum err sim_compute(struct world *world, struct sim_worker *worker,
                                const struct computation *asked);
void sim_compute_end(struct world *world, struct sim_worker *worker);
/* The coordinator's own. */
/* How samples are drawn. */
struct shadowing sim_compute_shadowing(const struct world *world);
MUST_CHECK enum err sim_compute_judge(struct world *world,
                                      const struct computation *asked);
/* A strip of coded data arrives. */
void sim_compute_store(struct world *world, struct sim_worker *worker,
                       const struct block_share *share,
                       const struct msg_data *data);
void sim_evaluator_close(struct sim_evaluator *evaluator);
/* Strips [first, end) of the block of `link`. */
void sim_block_ship(struct world *world, uint32_t conn, uint32_t link,
                    uint32_t first, uint32_t end);

/* --- relay.c --- */
bool is_relay(uint32_t node);
MUST_CHECK enum err sim_relays_init(struct world *world);
void sim_relays_close(struct world *world);
void sim_relay_start(struct world *world, uint32_t index);
void sim_relay_crash(struct world *world, uint32_t index, bool unplugged);
void sim_relay_on(struct world *world, const struct happening *happening);
/* Whom a worker dials: its relay, then another, then the coordinator. */
uint32_t sim_relay_for(const struct world *world, uint32_t worker);

/* --- inject.c --- */
#define SLOWEST 20 /* Of a slow worker: times as long as usual. */
void freeze(struct world *world, uint32_t node, time_us for_us);
void thaw(struct world *world, uint32_t node);
/* False: there is nobody to hit. */
bool fault_inject(struct world *world, const struct sim_fault *fault);

/* --- faults.c --- */
void faults_begin(struct world *world);
/* A step opened for the first time: the script may want something. */
void faults_step_opened(struct world *world, uint32_t step);
void faults_on(struct world *world, const struct happening *happening);

#endif /* SIM_WORLD_H */
