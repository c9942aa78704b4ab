/*
 * supply.c - where chunks come from: a content-addressed depot, shared files by
 * range, peers.  One thread reads, hashes and writes, a chunk at a time, so
 * that the loop never waits for a disk.
 */
#include "node/worker/supply.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/read/shared.h"
#include "node/worker/peer_fetch.h"
#include "os/file/depot.h"
#include "os/log.h"

struct supply {
    struct supply_options options;
    const struct dataset *data;
    supply_fetched fetched;
    void *context;
    bool known; /* supply_learn was called. */
    uint32_t chunks;
    struct digest *digests;
    struct depot *depot;   /* NULL: none. */
    bool full;             /* It takes no more. */
    struct shared *shared; /* NULL: none. */
    struct peer_fetch *peers;
    struct chunkset near;
    struct chunkset wanted; /* In the ring `order` ... */
    uint32_t *order;
    uint32_t at;             /* ... from here on. */
    struct chunkset to_keep; /* Not on disk yet. */

    struct task *task; /* Its thread owns the fields below while busy. */
    bool keeping;      /* Writes; else reads. */
    uint32_t chunk, end;
    uint8_t *buffer;
    size_t capacity;
    const uint8_t *bytes;
    size_t size;
    enum err err;
    struct why why;
};

static bool make_buffer(struct supply *supply, size_t size)
{
    uint8_t *grown;

    if (size <= supply->capacity)
        return true;
    grown = mem_grow(supply->buffer, 0, size, 1, &supply->capacity);
    if (grown == NULL)
        return false;
    supply->buffer = grown;
    return true;
}

/* --- the thread's --------------------------------------------------------- */

static void read_shared(struct supply *supply)
{
    struct digest is;

    supply->err = shared_chunk(supply->shared, supply->chunk, supply->end,
                               &supply->bytes, &supply->size, &supply->why);
    if (supply->err != ERR_OK && supply->why.text[0] == '\0')
        (void)why_set(&supply->why, supply->err, "%s", err_text(supply->err));
    if (supply->err != ERR_OK)
        return;
    is = hash_bytes(supply->bytes, supply->size);
    if (!digest_equal(&is, &supply->digests[supply->chunk]))
        supply->err = why_set(&supply->why, ERR_MISMATCH,
                              "the shared file holds other bytes than the "
                              "coordinator's in chunk %u; prepare it anew",
                              supply->chunk);
}

static void read_depot(struct supply *supply)
{
    const struct digest *digest = &supply->digests[supply->chunk];
    size_t size = supply->capacity;

    supply->err = depot_size(supply->depot, digest, &size);
    if (supply->err == ERR_OK && !make_buffer(supply, size))
        supply->err = ERR_NOMEM;
    if (supply->err == ERR_OK)
        supply->err = depot_get(supply->depot, digest, supply->buffer,
                                supply->capacity, &supply->size);
    supply->bytes = supply->buffer;
}

static void work(void *context)
{
    struct supply *supply = context;

    supply->why.text[0] = '\0';
    if (supply->keeping)
        supply->err = depot_put(supply->depot, &supply->digests[supply->chunk],
                                supply->bytes, supply->size, &supply->why);
    else if (supply->shared != NULL)
        read_shared(supply);
    else
        read_depot(supply);
}

/* --- the loop's ----------------------------------------------------------- */

/* The next chunk of the ring, and how many follow it in a row. */
static void begin_read(struct supply *supply)
{
    const uint32_t count = supply->chunks;
    uint32_t follow = 1;

    supply->keeping = false;
    supply->chunk = supply->order[supply->at];
    while (follow < supply->wanted.members &&
           supply->order[(supply->at + follow) % count] ==
               supply->chunk + follow)
        follow++;
    supply->end = supply->chunk + follow;
    supply->at = (supply->at + 1) % count;
    chunkset_remove(&supply->wanted, supply->chunk);
    task_start(supply->task);
}

/* A full disk is no reason to stop working. */
static void kept(struct supply *supply)
{
    if (supply->err == ERR_OK)
        return;
    log_line("chunks are no longer kept on disk: %s",
             supply->why.text[0] != '\0' ? supply->why.text
                                         : err_text(supply->err));
    supply->full = true;
    chunkset_clear(&supply->to_keep);
}

static void begin_keep(struct supply *supply)
{
    supply->keeping = true;
    supply->chunk = chunkset_next(&supply->to_keep, 0);
    chunkset_remove(&supply->to_keep, supply->chunk);
    supply->size = dataset_chunk_bytes(supply->data, supply->chunk);
    if (!make_buffer(supply, supply->size)) {
        supply->err = ERR_NOMEM;
        supply->why.text[0] = '\0';
        kept(supply);
        return;
    }
    dataset_chunk_encode(supply->data, supply->chunk, supply->buffer);
    supply->bytes = supply->buffer;
    task_start(supply->task);
}

static void go_on(struct supply *supply)
{
    if (!supply->known || task_busy(supply->task))
        return;
    if (supply->wanted.members > 0)
        begin_read(supply);
    else if (supply->to_keep.members > 0)
        begin_keep(supply);
}

static void done(void *context)
{
    struct supply *supply = context;
    const struct fetched what = {
        .first = supply->chunk,
        .end = supply->chunk + 1,
        .bytes = supply->bytes,
        .size = supply->size,
        .err = supply->err,
        .why = supply->err != ERR_OK && supply->why.text[0] != '\0'
                   ? supply->why.text
                   : NULL,
    };

    if (supply->keeping)
        kept(supply);
    else
        supply->fetched(supply->context, &what);
    go_on(supply);
}

static void from_peer(void *context, uint32_t peer, uint32_t first,
                      uint32_t end, const uint8_t *bytes, size_t size,
                      enum err err)
{
    struct supply *supply = context;
    const struct fetched what = {.first = first,
                                 .end = end,
                                 .peer = peer,
                                 .bytes = bytes,
                                 .size = size,
                                 .err = err};

    supply->fetched(supply->context, &what);
}

static void open_depot(struct supply *supply)
{
    struct why why = {0};

    if (supply->options.depot == NULL)
        return;
    if (depot_open(supply->options.depot, supply->options.depot_bytes,
                   &supply->depot, &why) != ERR_OK)
        log_line("chunks are not kept on disk: %s", why.text);
}

enum err supply_new(struct loop *loop, const struct supply_options *options,
                    const struct dataset *data, const char *name,
                    const struct net_source *source, supply_fetched fetched,
                    void *context, struct supply **supply)
{
    struct supply *made = mem_new(1, sizeof *made);
    const struct peer_fetch_options peers = {.loop = loop,
                                             .name = name,
                                             .source = source,
                                             .alone = options->alone,
                                             .fetched = from_peer,
                                             .context = made};
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->options = *options;
    made->data = data;
    made->fetched = fetched;
    made->context = context;
    err = task_new(loop, work, done, made, &made->task);
    if (err == ERR_OK)
        err = peer_fetch_new(&peers, &made->peers);
    if (err != ERR_OK) {
        task_free(made->task);
        mem_free(made);
        return err;
    }
    open_depot(made);
    *supply = made;
    return ERR_OK;
}

void supply_free(struct supply *supply)
{
    if (supply == NULL)
        return;
    task_free(supply->task);
    peer_fetch_free(supply->peers);
    depot_close(supply->depot);
    shared_close(supply->shared);
    chunkset_close(&supply->near);
    chunkset_close(&supply->wanted);
    chunkset_close(&supply->to_keep);
    mem_free(supply->order);
    mem_free(supply->digests);
    mem_free(supply->buffer);
    mem_free(supply);
}

static enum err make_sets(struct supply *supply,
                          const struct msg_chunks *chunks)
{
    const uint32_t count = chunks->count;
    enum err err = chunkset_init(&supply->near, count);

    if (err == ERR_OK)
        err = chunkset_init(&supply->wanted, count);
    if (err == ERR_OK)
        err = chunkset_init(&supply->to_keep, count);
    supply->order = mem_new(count, sizeof *supply->order);
    supply->digests = mem_new(count, sizeof *supply->digests);
    if (supply->order == NULL || supply->digests == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        memcpy(supply->digests[i].bytes, chunks->digests + i * DIGEST_BYTES,
               DIGEST_BYTES);
    supply->chunks = count;
    return err;
}

/* A coordinator on another machine may be anybody's who holds the key: it must
 * not make this one read a file, or ask a server, of its choice. */
static enum err refuse_place(const struct msg_chunks *chunks, struct why *why)
{
    const int size = chunks->place_size < 150 ? (int)chunks->place_size : 150;

    return why_set(why, ERR_DENIED,
                   "the coordinator says that the data is at %.*s; a worker "
                   "reads no file and asks no server on another machine's "
                   "word: if it may, start it with --data-shared %.*s",
                   size, chunks->place, size, chunks->place);
}

static enum err open_shared(struct supply *supply, const struct job *job,
                            const struct msg_chunks *chunks, struct why *why)
{
    const struct dataset_shape shape = dataset_shape(supply->data);
    char place[PLACE_SIZE];
    enum err err;

    if (supply->options.shared == NULL && chunks->place_size == 0)
        return ERR_OK;
    if (supply->options.shared == NULL && supply->options.strict)
        return refuse_place(chunks, why);
    if (supply->options.shared != NULL)
        (void)snprintf(place, sizeof place, "%s", supply->options.shared);
    else
        (void)snprintf(place, sizeof place, "%.*s", (int)chunks->place_size,
                       chunks->place);
    err = shared_open(place, supply->options.ca, &supply->shared, why);
    if (err == ERR_OK)
        err = shared_check(supply->shared, &shape, &job->data, why);
    return err == ERR_OK ? err : why_in(why, err, "--data-shared");
}

enum err supply_learn(struct supply *supply, const struct job *job,
                      const struct msg_chunks *chunks, struct why *why)
{
    enum err err;

    CHECK(!supply->known);
    err = make_sets(supply, chunks);
    if (err == ERR_OK)
        err = open_shared(supply, job, chunks, why);
    if (err != ERR_OK)
        return err;
    if (supply->shared != NULL)
        chunkset_fill(&supply->near);
    for (uint32_t i = 0;
         supply->depot != NULL && supply->shared == NULL && i < supply->chunks;
         i++) {
        if (depot_has(supply->depot, &supply->digests[i]))
            chunkset_add(&supply->near, i);
    }
    peer_fetch_learn(supply->peers, supply->digests,
                     dataset_chunk_bytes_max(supply->data));
    supply->known = true;
    return ERR_OK;
}

const struct chunkset *supply_near(const struct supply *supply)
{
    CHECK(supply->known);
    return &supply->near;
}

void leftover_close(struct leftover *leftover)
{
    dataset_close(&leftover->data);
    mem_free(leftover->digests);
    *leftover = (struct leftover){0};
}

/* Those that no disk has yet are kept there, as if they had just come. */
void supply_keeps(struct supply *supply, const struct leftover *leftover,
                  struct chunkset *present)
{
    CHECK(supply->known && present->count == supply->chunks);
    for (uint32_t i = 0; i < supply->chunks; i++) {
        if (!chunkset_has(present, i))
            continue;
        if (i >= leftover->chunks ||
            !digest_equal(&leftover->digests[i], &supply->digests[i]))
            chunkset_remove(present, i);
        else if (!chunkset_has(&supply->near, i))
            supply_keep(supply, i);
    }
}

void supply_leave(struct supply *supply, struct leftover *leftover)
{
    if (!supply->known)
        return;
    leftover->chunks = supply->chunks;
    leftover->digests = supply->digests;
    supply->digests = NULL;
}

void supply_want(struct supply *supply, uint32_t first, uint32_t end)
{
    struct chunkset *wanted = &supply->wanted;

    CHECK(supply->known);
    for (uint32_t chunk = first; chunk < end; chunk++) {
        if (chunkset_has(wanted, chunk))
            continue;
        supply->order[(supply->at + wanted->members) % supply->chunks] = chunk;
        chunkset_add(wanted, chunk);
    }
    go_on(supply);
}

enum err supply_want_peer(struct supply *supply, const struct msg_fetch *msg,
                          uint32_t first, uint32_t end)
{
    CHECK(supply->known);
    return peer_fetch_want(supply->peers, msg, first, end);
}

void supply_keep(struct supply *supply, uint32_t chunk)
{
    if (!supply->known || supply->depot == NULL || supply->full ||
        supply->shared != NULL)
        return;
    chunkset_add(&supply->to_keep, chunk);
    go_on(supply);
}

void supply_end(struct supply *supply)
{
    if (supply->known)
        chunkset_clear(&supply->wanted);
}

uint32_t supply_unkept(const struct supply *supply)
{
    const bool writing = supply->keeping && task_busy(supply->task);

    return supply->known ? supply->to_keep.members + writing : 0;
}
