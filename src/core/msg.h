/*
 * msg.h - everything that coordinator and worker say to each other.
 *
 * Pointers in a message are views: of the sender's buffers in an action, of
 * the receiver's decode buffers in an event.  They are valid only during the
 * call.  Bytes on the wire: wire/codec.h.
 *
 *      worker                              coordinator
 *        | -- HELLO ---------------------------> |   who I am, what I have
 *        | <--------------- WELCOME or REJECT -- |   the job
 *        | -- BEAT (every 50 ms) --------------> |   progress
 *        | <------------------------------ ECHO -|   and whose clock shows what
 *        | -- PULSE (every second) ------------> |   where the time went
 *        | <--- CHUNKS (what they are, where) -- |   bulk, if the job is keyed
 *        | -- HAVE (chunks here, chunks near) -> |
 *        | <------ SERVE (key for its peers) --- |   over TCP, keyed
 *        | -- SERVING (port) ------------------> |
 *        | <---- DATA (chunks), FETCH (which) -- |   bulk
 *        | -- NEED (chunks that did not come) -> |
 *        | <------- ROUND (weights and pieces) --|   bulk
 *        | -- TALLY (a piece), or ROW (coded) -> |   bulk
 *        | <------------ WORK, DROP (pieces) --- |   bulk, after ROUND
 *        | <---------------------------- CANCEL -|   control: overtakes
 *        | -- LEAVE ---------------------------> |
 *        | <------------------------------ BYE --|
 *
 * A relay (core/relay/relay.h) stands between: what it passes on for one of the
 * workers behind it, its leaves, carries that leaf's number in `leaf`.
 *
 *      relay                               coordinator, or another relay
 *        | -- RELAY ---------------------------> |   I bring workers
 *        | <----------------- WELCOME, REJECT -- |
 *        | <--------- ROUND (weights, no piece) -|   bulk, once for all leaves
 *        | <------------- leaf: TASK (pieces) -- |   bulk, each leaf's own
 *        | <--------------------- ALONE (pieces)-|   bulk, do not merge these
 *        | -- SUM (merged, and whose) ---------> |   bulk
 *        | -- WATCH (every 50 ms) -------------> |   all leaves heard, but ...
 *        | <------------------------------ ECHO -|
 *        | <-- leaf: GONE, either way ---------> |   its session is over
 */
#ifndef CORE_MSG_H
#define CORE_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/brief.h"
#include "base/hash.h"
#include "core/key.h"
#include "core/stint.h"
#include "core/vitals.h"
#include "math/evaluation.h"
#include "math/exact/pack.h"
#include "math/exact/tally.h"
#include "optim/optim.h"

#define MSG_VERSION  25u
#define NAME_SIZE    65u /* Worker names: [A-Za-z0-9._-]{1,64}. */
#define REASON_SIZE  256u
#define DIMS_MAX     (UINT32_C(1) << 24)
#define SUM_DIMS_MAX (UINT32_C(1) << 28) /* A Hessian's triangle. */
#define ITEMS_MAX    65536u              /* Pieces in one message. */
#define STATUS_SIZE  65536u              /* Text of a STATUS answer. */
#define PLACE_SIZE   1024u               /* Where shared data is. */
#define ANSWERS_MAX  4096u               /* Answers in one SUM. */
#define SILENT_MAX   512u                /* Leaves in one WATCH. */
#define SHARD_MAX    (UINT64_C(1) << 40)
#define REPEAT_MAX   8u   /* Pieces of a leaf that its relay remembers. */
#define SEGMENTS_MAX 512u /* Pieces that a product is asked for in. */
#define PEER_KEY     32u
#define PEER_HOST    64u /* An address in numbers. */
#define PEER_PLACE   80u /* HOST:PORT of a ring's peer. */
#define TERMS_PLACES 8u
#define PEERS_MAX    64u /* Of a ring: a set of them is a word. */

enum msg_kind {
    MSG_HELLO = 1,
    MSG_WELCOME,
    MSG_REJECT,
    MSG_BEAT,
    MSG_ECHO,
    MSG_DATA,
    MSG_NEED,
    MSG_ROUND,
    MSG_WORK,
    MSG_DROP,
    MSG_CANCEL,
    MSG_TALLY,
    MSG_ROW,
    MSG_REFUSE,
    MSG_LEAVE,
    MSG_BYE,
    MSG_ASK,    /* A client asks for status, or for something to be done. */
    MSG_STATUS, /* The answer: JSON text. */
    MSG_CHUNKS,
    MSG_HAVE,
    MSG_FETCH,
    MSG_RELAY,
    MSG_TASK, /* A ROUND whose weights the relay has. */
    MSG_ALONE,
    MSG_SUM,
    MSG_GONE,
    MSG_PULSE,
    MSG_WATCH,
    MSG_SERVE,   /* Let your peers fetch chunks from you, with this key. */
    MSG_SERVING, /* The answer: where. */
    MSG_MEET,    /* Peers of a ring (core/ring/peer.h): who I am. */
    MSG_ROSTER,  /* Whom I know, whom I hear, which view I have taken up. */
    MSG_PROPOSE, /* Let these be a view. */
    MSG_REPORT,  /* To its members: where I stand. */
    MSG_STATE,   /* To who is behind: a part of the trainer's state. */
    MSG_SLICE,   /* Some coordinates of a tally, or of the total. */
    MSG_PARTING, /* I have the model, or go. */
    MSG_TERMS,   /* To a HELLO: this is a ring, and here is all that a peer of
                    it needs. */
};

#define MSG_LAST MSG_TERMS

/* One piece of work. */
struct item {
    uint32_t id;
    uint32_t first, end; /* Chunks [first, end). */
    double coefficient;  /* In a coded round: of the piece in the ROW; 0 = it
                            is answered by a TALLY of its own.  Else 1. */
};

struct msg_hello {
    uint32_t version;
    char name[NAME_SIZE];
    uint64_t incarnation;     /* One life of one process: random. */
    uint32_t pid;             /* For the screen's invitation; 0 = unknown. */
    struct digest arithmetic; /* arithmetic_digest of the variant in use. */
    bool resident;            /* Holds all data already ... */
    struct digest data;       /* ... of this digest. */
    uint64_t job;             /* It has data and a place in; 0 = none yet. */
    uint64_t view_seen;       /* Highest view of it ever obeyed; fences us. */
    bool keeps;               /* Will say HAVE: send it no data before. */
    bool alone;         /* Neither fetches from other workers nor serves. */
    bool owns;          /* Has private rows, of a job of this `data`, ... */
    struct digest part; /* ... which are these. */
};

/* All a worker needs to know of the job. */
struct job {
    uint64_t id;
    uint32_t rows, chunk_rows; /* Of all chunks together, and of one. */
    uint32_t dims;             /* Length of the weights. */
    uint32_t sum_dims;  /* Longest tally: more than dims for a Hessian; the
                           coordinator fills it in from its optimiser. */
    uint32_t chunks;    /* Of a step. */
    uint32_t scattered; /* Each of them has rows of all so many chunks of the
                           data; 0: chunk k those of chunk k. */
    uint32_t sampled;   /* Chunk sampled + k is a sample of chunk k; 0: there
                           are none. */
    uint64_t shard_max; /* Bytes of a shard as it travels, at most. */
    struct digest data;
    int64_t beat_us;
    int64_t dead_us;     /* Silence after which the other side is gone. */
    int64_t pulse_us;    /* Between two PULSEs; 0 = none. */
    bool stints;         /* ... with all that was done, for --trace. */
    bool keyed;          /* CHUNKS follows. */
    bool owned;          /* The data are private: nobody is sent any. */
    bool products;       /* The data are coded: rounds are products, and blocks
                            are held, not rows (core/product.h), ... */
    uint32_t coded_cols; /* ... of a matrix of so many columns; else 0. */
    uint32_t copies;     /* Of each block (math/blocks.h); without: 0. */
    struct brief brief;  /* For the evaluator; opaque to core. */
};

struct msg_reject {
    char reason[REASON_SIZE];
};

struct msg_beat {
    uint64_t sequence;
    int64_t sent_us; /* The worker's clock; echoed. */
    uint64_t view;   /* Of the round it works on. */
    uint32_t step, attempt;
    uint64_t assignment;  /* Last assignment taken in. */
    uint32_t queued;      /* Pieces accepted and not yet delivered. */
    uint64_t chunks_done; /* Since birth: the progress counter. */
};

/* A ring's peer says in `assignment` how many messages it has sent by this
 * link's bulk connection, and in `queued` of these: */
#define BEAT_BUSY  1u /* It works, or waits for what it knows is on its way. */
#define BEAT_STOPS 2u /* Somebody wants all to stop. */

struct msg_echo {
    uint64_t sequence;
    int64_t sent_us;
    int64_t heard_us; /* The coordinator's clock when the beat came, ... */
    int64_t error_us; /* ... as far as a relay knows it; else 0. */
};

/* A leaf that its relay does not hear. */
struct silent {
    uint32_t leaf;
    int64_t silence_us;
};

/* A relay's own beat, for all its leaves. */
struct msg_watch {
    uint64_t sequence;
    int64_t sent_us; /* The relay's clock; echoed. */
    bool whole;      /* All others are heard; else there was no room. */
    uint32_t count;
    const struct silent *silent;
};

/* Where the worker's time went. */
struct msg_pulse {
    int64_t ahead_us; /* The coordinator's clock minus the worker's, ... */
    int64_t error_us; /* ... at most so much off; OFFSET_UNKNOWN. */
    int64_t trip_us;  /* Of the last echo. */
    bool full;        /* The vitals are of now; else only the stints matter. */
    struct vitals vitals;
    uint32_t count;
    const struct stint *stints; /* On the worker's clock. */
};

/* The same, with its brief in `room`. */
static inline struct job job_kept(const struct job *job,
                                  uint8_t room[BRIEF_MAX])
{
    struct job kept = *job;

    if (job->brief.size > 0)
        memcpy(room, job->brief.bytes, job->brief.size);
    kept.brief.bytes = room;
    return kept;
}

/* Shards are what there is to hold and to send: chunks of the data, or strips
 * of a block. */
static inline uint32_t job_shards(const struct job *job)
{
    if (job->products)
        return job->copies * job->chunks;
    if (job->sampled > 0)
        return job->sampled;
    return job->scattered > 0 ? job->scattered : job->chunks;
}

/* Chunks of a step that are data. */
static inline uint32_t job_data_chunks(const struct job *job)
{
    return job->sampled > 0 ? job->sampled : job->chunks;
}

/* The most pieces of a round, or terms of a block, ... */
static inline uint32_t job_items_max(const struct job *job)
{
    return job->products && job->chunks < SEGMENTS_MAX ? SEGMENTS_MAX
                                                       : job->chunks;
}

/* ... and the longest list of them, or of shards, that a message of it has. */
static inline uint32_t job_list_max(const struct job *job)
{
    const uint32_t items = job_items_max(job);

    return job->scattered > items ? job->scattered : items;
}

static inline bool job_is_sample(const struct job *job, uint32_t chunk)
{
    return job->sampled > 0 && chunk >= job->sampled;
}

struct shards {
    uint32_t first, end;
};

/* Those that somebody must hold to compute these chunks of a step. */
static inline struct shards job_needs(const struct job *job, uint32_t first,
                                      uint32_t end)
{
    if (job_is_sample(job, first))
        return (struct shards){first - job->sampled, end - job->sampled};
    return job->scattered > 0 ? (struct shards){0, job->scattered}
                              : (struct shards){first, end};
}

static inline bool job_suffices(const struct job *job,
                                const struct chunkset *held, uint32_t first,
                                uint32_t end)
{
    const struct shards needs = job_needs(job, first, end);

    return chunkset_has_range(held, needs.first, needs.end);
}

struct msg_data {
    uint32_t chunk; /* Or strip, ... */
    uint64_t block; /* ... of this block; 0 = of the data. */
    const uint8_t *bytes;
    size_t size;
};

/* What every chunk is: the digest of its DATA bytes. */
struct msg_chunks {
    const char *place;      /* Where all may read them; not NUL-terminated. */
    size_t place_size;      /* 0: they are shipped. */
    uint32_t count;         /* Of the job. */
    const uint8_t *digests; /* count * DIGEST_BYTES. */
};

/* Sets of chunks, as bits: chunk c is bit c % 8 of byte c / 8. */
struct msg_have {
    uint32_t count;      /* Chunks of the job. */
    const uint8_t *held; /* In memory. */
    const uint8_t *near; /* The worker reads these itself when told to FETCH. */
};

struct msg_fetch {
    uint32_t first, end;
    uint32_t peer; /* Whom to get them from; 0: they are near. */
    /* Of a peer.  The coordinator's driver fills in host and key; it knows the
     * peer by the link `source`, which is not sent. */
    char host[PEER_HOST];
    uint16_t port;
    uint8_t key[PEER_KEY]; /* For this worker, by its name. */
    uint32_t source;
};

struct msg_need {
    uint32_t first, end; /* Chunks the worker lacks. */
    uint32_t peer;       /* This one was to give them, but did not; or 0. */
    bool wrong;          /* ... it gave other bytes. */
};

struct msg_serve {
    uint8_t key[PEER_KEY]; /* The driver draws it. */
};

struct msg_serving {
    uint16_t port; /* 0: nobody can reach it, but it can fetch. */
    bool local;    /* From the coordinator's driver: it came over loopback. */
};

struct msg_round {
    struct round_key key;
    uint64_t assignment;  /* Grows with the ROUNDs and WORKs sent. */
    bool coded;           /* Answer with one ROW, but for items of 0. */
    double delay_s;       /* Injected: once, before the first send. */
    double delay_factor;  /* Injected: times the compute time. */
    double delay_share_s; /* Injected: of all work of the step. */
    uint32_t count;
    const struct item *items;
    bool repeat;  /* To a relay: each leaf has the pieces it had before in
                     this view, as `assignment`; no TASKs follow. */
    bool patient; /* ... no answer is of use without the others. */
    bool single;  /* ... each answer goes up by itself. */
    enum evaluation_kind kind;
    uint32_t soft;       /* struct evaluation. */
    double size;         /* Samples have this share of the rows that they are
                            of; 0: the job has none. */
    uint32_t parts;      /* Of coded data; 0 unless it is a product, ... */
    uint32_t term_count; /* ... whose block is the sum of these, each times
                            its coefficient; `items` then are ranges of
                            what the product gives (computation.h). */
    const struct item *terms;
    uint32_t dims; /* Of weights and direction. */
    bool narrow;   /* Who computes rounds the weights to floats first, so they
                      travel as floats.  Of vectors, they alone. */
    const double *weights;
    /* At the coordinator: its first `mirrored` weights are there already, where
     * its driver wanted them; NULL: they are not. */
    const double *mirror;
    uint32_t mirrored;
    const double *direction; /* HESSVEC only, else NULL. */
    const int16_t *exponent; /* evaluation_dims(kind, dims) of them. */
    /* At a worker, from its driver: not 0 if weights and direction stay where
     * they are as long as the round is open.  The number comes back with
     * COMPUTE; what was computed from them when they had gone is ERR_STALE. */
    uint64_t kept;
    bool kept_scale; /* So do the exponents, and none of it goes while anyone
                        computes: EVENT_COMING is asked first. */
};

struct msg_work { /* Also DROP and ALONE. */
    struct round_key key;
    uint64_t assignment;
    uint32_t count;
    const struct item *items;
};

/* All rounds up to and including this one are over. */
struct msg_cancel {
    struct round_key key;
};

struct msg_tally {
    struct round_key key;
    uint32_t piece;
    uint32_t first, end;
    int64_t compute_us;
    double variance; /* Of a sample's sum; else 0. */
    uint32_t dims;
    const int64_t *sum;   /* NULL: they are packed still, ... */
    struct packed packed; /* ... and nobody has looked at them yet. */
    tally_loss loss;
};

/* One answer in a SUM. */
struct answer {
    uint32_t leaf; /* Whose. */
    uint32_t piece;
    uint32_t first, end;
    int64_t compute_us;
    bool counted; /* Is in the sum; else the piece was answered before. */
};

struct msg_sum {
    struct round_key key;
    uint32_t count;
    const struct answer *answers;
    uint32_t dims;
    const int64_t *sum;
    tally_loss loss;
};

/* All coded pieces of its slot; or pieces of a product, one behind the other,
 * and of COMBINE their sum. */
struct msg_row {
    struct round_key key;
    uint32_t count; /* Of a product: SEGMENTS_MAX at most; else 0. */
    const uint32_t *pieces;
    int64_t compute_us; /* Of all of them. */
    uint32_t dims;
    const double *row; /* dims of them, then the coded loss. */
};

/* A chunk of the piece does not fit its scale, or is not finite. */
struct msg_refuse {
    struct round_key key;
    uint32_t piece;
};

struct msg_bye {
    bool finished; /* The job is done; false: this worker is let go. */
    bool more;     /* Another job follows here: dial again, as one who has just
                      come. */
    char reason[REASON_SIZE];
};

struct msg_relay {
    uint32_t version;
    char name[NAME_SIZE];
};

enum ask_what { ASK_STATUS = 1, ASK_STOP = 2, ASK_WHY = 3, ASK_SIZE = 4 };

struct msg_ask {
    uint32_t version;
    enum ask_what what;
    double size; /* SIZE: samples are to have this share of the rows; else 0. */
};

struct msg_status {
    const char *text; /* Not NUL-terminated. */
    size_t size;
};

/* --- a ring of peers ------------------------------------------------------ */

/* Where one that joins without data finds the rest (node/ring/papers.h). */
struct msg_terms {
    struct digest config;  /* As in MEET. */
    struct digest papers;  /* Item `chunks` of who serves chunks, ... */
    uint64_t papers_size;  /* ... of so many bytes. */
    uint32_t chunks;       /* Of the data. */
    uint16_t port;         /* Where this peer serves them, 0: not now; ... */
    uint8_t key[PEER_KEY]; /* ... to who said that HELLO. */
    uint32_t count;
    char place[TERMS_PLACES][PEER_PLACE]; /* Of peers that are there. */
};

struct msg_meet {
    uint32_t version;
    char name[NAME_SIZE];
    uint64_t incarnation;
    struct digest config, given, arithmetic; /* core/ring/peer.h. */
    char place[PEER_PLACE];                  /* Where it can be dialled. */
    uint32_t first, end;                     /* Chunks that it can compute. */
};

/* What a view is called: the higher number wins, then the higher name. */
struct ring_name {
    uint64_t number; /* 0: none. */
    char proposer[NAME_SIZE];
    uint64_t incarnation; /* Of the proposer. */
};

/* One whom the sender knows. */
struct ring_known {
    char name[NAME_SIZE];
    char place[PEER_PLACE]; /* "": it does not know; PROPOSE: always. */
    bool heard;             /* There is a link between the two. */
    bool member;            /* ... of the view it has taken up. */
};

struct msg_roster {
    struct ring_name view;
    bool broken; /* ... is over for the sender: another one is needed. */
    struct ring_name refused; /* Proposed to it last, and not taken up. */
    uint32_t count;
    const struct ring_known *known;
};

struct msg_propose {
    uint64_t number, incarnation; /* The sender is the proposer, ... */
    uint64_t position; /* ... who stands here: take it up there, if you can. */
    uint32_t count;
    const struct ring_known *members; /* Names only, in order. */
};

/* Where a peer stands.  Equal positions have equal states, or somebody is
 * wrong. */
struct ring_stand {
    uint64_t position; /* peer_position. */
    uint32_t step;
    bool started;                     /* It has been in a view before. */
    uint64_t state;                   /* Quick name of all of it, ... */
    uint64_t weights;                 /* ... and of the weights after `step`. */
    uint64_t anchor_position, anchor; /* Of the last view's beginning. */
};

struct msg_report {
    uint64_t view; /* ring_view_key. */
    bool doubt;    /* Somebody is wrong: all go back. */
    struct ring_stand stand;
};

struct msg_state {
    uint64_t view;
    uint64_t size, at; /* Of the whole, and where these bytes belong. */
    const uint8_t *bytes;
    size_t count;
};

enum {
    SLICE_TOOBIG = 1, /* A chunk does not fit this scale, ... */
    SLICE_RANGE = 2,  /* ... or fits none. */
    SLICE_STOP = 4,   /* Somebody wants to end. */
    SLICE_FLAGS = 7
};

struct seal; /* core/ring/seal.h */

struct msg_slice {
    struct round_key key; /* `view`: ring_view_key. */
    bool total;           /* Of all chunks; else of the sender's. */
    uint8_t flags;        /* SLICE_..., of those whose chunks are in. */
    uint32_t first, end;  /* Chunks. */
    uint32_t dims;        /* Of the tally, ... */
    uint32_t at, count;   /* ... of which these.  0: all of them are 0, or some
                             chunk does not fit. */
    tally_loss loss;
    const int64_t *sum; /* NULL: packed still, as of a TALLY. */
    struct packed packed;
    /* `sum` stays where it is as long as this number holds; NULL: it is good
     * for this event, or action, only. */
    const struct seal *seal;
    uint64_t number;
    /* Of a total: what its sender has made of its slice of the model, instead
     * of sums (core/ring/share.h); only under a seal, else NULL. */
    const void *stepped;
};

struct msg_parting {
    bool model;  /* It has the model. */
    bool leaves; /* Nothing more comes from it ... */
    bool stops;  /* ... and all of its side are asked to stop. */
};

struct msg {
    enum msg_kind kind;
    uint32_t leaf; /* Over a relay: of or for this one; 0 = none. */
    union {
        struct msg_hello hello;
        struct job welcome;
        struct msg_reject reject;
        struct msg_beat beat;
        struct msg_echo echo;
        struct msg_data data;
        struct msg_need need;
        struct msg_chunks chunks;
        struct msg_have have;
        struct msg_fetch fetch;
        struct msg_serve serve;
        struct msg_serving serving;
        struct msg_round round; /* Also TASK, where it has no vectors. */
        struct msg_work work;
        struct msg_work drop;
        struct msg_work alone;
        struct msg_cancel cancel;
        struct msg_tally tally;
        struct msg_row row;
        struct msg_sum sum;
        struct msg_relay relay;
        struct msg_refuse refuse;
        struct msg_bye bye;
        struct msg_ask ask;
        struct msg_status status;
        struct msg_pulse pulse;
        struct msg_watch watch;
        struct msg_meet meet;
        struct msg_roster roster;
        struct msg_propose propose;
        struct msg_report report;
        struct msg_state state;
        struct msg_slice slice;
        struct msg_parting parting;
        struct msg_terms terms;
    };
};

static inline size_t msg_have_bytes(uint32_t count)
{
    return ((size_t)count + 7) / 8;
}

/* Does this message travel on the bulk connection?  All that peers of a ring
 * say does, but BEAT and REJECT: it must keep its order. */
static inline bool msg_is_bulk(enum msg_kind kind)
{
    return kind == MSG_DATA || kind == MSG_ROUND || kind == MSG_WORK ||
           kind == MSG_DROP || kind == MSG_TALLY || kind == MSG_ROW ||
           kind == MSG_CHUNKS || kind == MSG_FETCH || kind == MSG_TASK ||
           kind == MSG_ALONE || kind == MSG_SUM ||
           (kind >= MSG_MEET && kind <= MSG_PARTING);
}

/* Is it about a round that its reader has been told of, and short? */
static inline bool msg_is_order(enum msg_kind kind)
{
    return kind == MSG_WORK || kind == MSG_DROP || kind == MSG_CANCEL;
}

#endif /* CORE_MSG_H */
