/*
 * train.c - what must stand before the first fork, and what is left after the
 * last wait.
 */
#include "node/run/train.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "code/rules.h"
#include "core/relay/relay.h"
#include "core/run/store.h"
#include "data/read/cache.h"
#include "data/read/shared.h"
#include "eval/objective.h"
#include "node/arithmetic.h"
#include "node/host/format.h"
#include "node/host/posting.h"
#include "node/host/result_file.h"
#include "node/host/ring_folder.h"
#include "node/host/room.h"
#include "node/host/ways.h"
#include "node/ring/lending.h"
#include "node/run/ring_train.h"
#include "node/run/supervisor.h"
#include "os/file/file.h"
#include "os/file/folder.h"
#include "os/file/memory_file.h"
#include "os/log.h"
#include "os/net/interface.h"
#include "os/net/net.h"
#include "os/net/token.h"
#include "os/net/web.h"
#include "os/random.h"
#include "os/run/limits.h"
#include "os/run/process.h"
#include "os/run/threads.h"

#define BEAT_US          (50 * MS_US)
#define DEAD_US          (2 * SECOND_US)
#define PULSE_US         SECOND_US
#define SUSPECT_US       (300 * MS_US)
#define RESEND_US        SECOND_US
#define GATHER_US        (5 * SECOND_US)
#define GATHER_REMOTE_US (60 * SECOND_US)
#define GATHER_AGAIN_US  SECOND_US
#define GATHER_EACH_US   (20 * MS_US) /* Hundreds take a while to start. */
#define CHECKPOINT_STEPS 10u
#define SERIES_STEPS     500u /* Of one of many trainings less is lost. */
#define CHECKPOINT_US    (2 * SECOND_US)
#define BERTHS_SPARE     16u /* Joiners and late starts. */
#define LINKS_SPARE      16u /* Old sessions not yet gone. */

/* What the chunks of a data set are, for the runs at one door. */
struct keys {
    struct digest data;
    uint32_t chunk_rows;
    bool folded;
    uint32_t count;
    struct digest *digests; /* NULL: of none. */
};

struct train_door {
    struct keys keys;
    const char *out;
    struct token token;
    struct net_listener listener;
    int lock; /* -1 = not held. */
};

struct train {
    const struct train_options *options;
    struct supervisor supervisor;
    struct train_door *door;
    struct net_listener *relay_listeners;
    int *relay_doors;
    struct net_address *ways; /* See crew_relays. */
    uint32_t relay_count;
    struct objective objective;
    struct coordinator_options core;
    const struct digest *chunk_digests; /* NULL: not keyed. */
    char place[PLACE_SIZE];             /* Of shared data; empty: shipped. */
    struct board *board;                /* NULL: bulk goes over sockets. */
    uint32_t sum_dims;                  /* Of the vectors there. */
    bool boardless;                     /* No descriptors are left for one. */
    uint64_t files_before;              /* For limits_files_restore. */
    int spare_fd;                       /* See coordinator_node.h. */
};

/* For train_processes, which the screen calls from inside `watch`. */
static struct crew *running;

const struct train_process *train_processes(uint32_t *count)
{
    *count = 0;
    if (running == NULL)
        return NULL;
    return crew_processes(running, count);
}

double *train_ended_with(const char *out, uint32_t *dims, uint32_t *steps)
{
    struct run_result result = {0};
    char path[FILE_PATH_SIZE];

    ring_folder_journal(out, path);
    if (result_read(path, -1, &result, NULL) != ERR_OK)
        return NULL;
    *dims = result.dims;
    *steps = result.steps;
    if (result.err == ERR_OK)
        return result.weights;
    mem_free(result.weights);
    return NULL;
}

bool train_forget(const char *out)
{
    char path[FILE_PATH_SIZE];
    int lock;

    if (format_holds_run(out))
        return false;
    file_path_in(out, LOCK_FILE, path);
    if (file_lock(path, &lock, NULL) != ERR_OK)
        return false;
    result_remove(out);
    parts_remove(out);
    format_remove(out);
    ways_forget_token(out);
    file_remove(path);
    file_unlock(lock);
    return true;
}

/* --interface says where, --listen may still say which port. */
static enum err take_interface(const struct train_options *options,
                               struct net_address *wanted, struct why *why)
{
    struct net_source source;
    enum err err = net_source_find(options->interface, &source, why);

    if (err != ERR_OK)
        return err;
    if (options->listen != NULL && options->listen[0] != ':' &&
        strcmp(wanted->host, net_source_host(&source)) != 0)
        return why_set(why, ERR_RANGE,
                       "--interface %.80s and --listen %.80s name two places; "
                       "write --listen :%u",
                       options->interface, options->listen,
                       (unsigned)wanted->port);
    (void)snprintf(wanted->host, sizeof wanted->host, "%s",
                   net_source_host(&source));
    return ERR_OK;
}

/* Is it the run's own key that --token-file names (`muster launch`)?  Then it
 * stays where status, stop and join find it. */
static bool names_own(const struct train_options *options)
{
    char path[FILE_PATH_SIZE], own[FILE_PATH_SIZE], given[FILE_PATH_SIZE];

    file_path_in(options->out, TOKEN_FILE, path);
    return file_absolute(path, own, sizeof own) &&
           file_absolute(options->token_file, given, sizeof given) &&
           strcmp(own, given) == 0;
}

/* The key of the run's last life goes; of a run that begins it is somebody's.
 */
static enum err forget_token(const struct train_options *options,
                             struct why *why)
{
    char path[FILE_PATH_SIZE];

    file_path_in(options->out, TOKEN_FILE, path);
    if (!options->resume && file_exists(path))
        return why_set(why, ERR_EXISTS,
                       "%.200s: a key is in this folder, %s, and --token-file "
                       "names another one; remove it, or choose another --out",
                       options->out, TOKEN_FILE);
    ways_forget_token(options->out);
    return ERR_OK;
}

/* Any process of this machine can dial the port: without a cluster's key the
 * run has one of its own. */
static enum err open_token(const struct train_options *options,
                           struct train_door *door, struct why *why)
{
    if (options->token_file == NULL && options->scratch) {
        token_draw(&door->token); /* Its children have it in memory. */
        return ERR_OK;
    }
    if (options->token_file == NULL)
        return ways_keep_token(options->out, &door->token, why);
    if (!names_own(options)) {
        const enum err err = forget_token(options, why);

        if (err != ERR_OK)
            return err;
    }
    return token_given(options->token_file, true, &door->token, why);
}

static enum err open_door(const struct train_options *options,
                          struct train_door *door, struct why *why)
{
    struct net_address wanted = {.port = 0};
    enum err err = open_token(options, door, why);
    bool any;

    if (err == ERR_OK)
        err = net_parse(options->listen != NULL ? options->listen : "", &wanted,
                        why);
    if (err == ERR_OK && options->interface != NULL)
        err = take_interface(options, &wanted, why);
    any = wanted.port == 0;
    if (err == ERR_OK && any && options->resume)
        wanted.port = ways_last_port(door->out);
    if (err == ERR_OK)
        err = net_listen(&wanted, options->token_file == NULL, &door->listener,
                         why);
    if (err != ERR_OK)
        return err;
    if (door->listener.moved && !any)
        log_line("port %u is not free; listening on port %u instead",
                 (unsigned)wanted.port, (unsigned)door->listener.bound.port);
    return ways_keep_address(door->out, &door->listener.local, why);
}

enum err train_door_open(const struct train_options *options,
                         struct train_door **door, struct why *why)
{
    struct train_door *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->out = options->out;
    made->listener.fd = -1;
    made->lock = -1;
    err = format_lock(options->out, options->resume, options->lock, &made->lock,
                      why);
    if (err == ERR_OK)
        err = open_door(options, made, why);
    if (err == ERR_OK)
        *door = made;
    else
        train_door_close(made);
    return err;
}

void train_door_close(struct train_door *door)
{
    if (door == NULL)
        return;
    if (door->listener.fd >= 0)
        ways_forget_address(door->out);
    net_close(&door->listener);
    mem_free(door->keys.digests);
    token_close(&door->token);
    if (door->lock >= 0)
        file_unlock(door->lock);
    mem_free(door);
}

int train_door_fd(const struct train_door *door)
{
    return door->listener.fd;
}

const char *train_door_address(const struct train_door *door,
                               char text[NET_TEXT_SIZE])
{
    return net_text(&door->listener.local, text);
}

const struct token *train_door_token(const struct train_door *door)
{
    return &door->token;
}

/* Relays of all levels: nobody has more than `fanout` children. */
static uint32_t count_relays(uint32_t local, uint32_t fanout)
{
    uint32_t level = crew_level(local, fanout), count = level;

    while (fanout > 1 && level > fanout) {
        level = crew_level(level, fanout);
        count += level;
    }
    return count;
}

/* Whoever dials the coordinator itself: the uppermost relays, or local workers
 * without any; and those from elsewhere. */
static uint32_t count_links(const struct train_options *options)
{
    const uint32_t local = options->local_workers, fanout = options->fanout;
    uint32_t links = local;

    if (fanout > 0 && local > fanout) {
        links = crew_level(local, fanout);
        while (fanout > 1 && links > fanout)
            links = crew_level(links, fanout);
        if (links < fanout)
            links = fanout; /* At a relay there are as many. */
    }
    return links + (options->slots > local ? options->slots - local : 0);
}

/* Descriptors for all; the board is what can be done without. */
static enum err make_room(struct train *train, struct why *why)
{
    const struct train_options *options = train->options;
    const uint32_t local = options->local_workers;
    const bool relays = options->fanout > 0 && local > options->fanout;
    char who[32];
    struct room_wish wish = {
        .who = who,
        .links = count_links(options),
        .doors = relays ? count_relays(local, options->fanout) : 0,
        .relays = options->user == NULL && options->fanout == 0 && local > 8,
    };
    enum err err;

    (void)snprintf(who, sizeof who, "%u worker%s", options->slots,
                   options->slots == 1 ? "" : "s");
    if (train_bulk_shares(options->bulk) && local > 0 && !relays)
        wish.berths = local + BERTHS_SPARE + 1;
    err = room_make(&wish, &train->files_before, why);
    if (err == ERR_OK || wish.berths == 0 || options->bulk == TRAIN_BULK_SHM)
        return err;
    wish.berths = 0;
    train->boardless = true;
    return room_make(&wish, &train->files_before, why);
}

/* Sockets for relays, before the forks: whoever dials a relay that has died
 * waits for the next. */
static enum err open_relay_doors(struct train *train, struct why *why)
{
    const struct train_options *options = train->options;
    const uint32_t local = options->local_workers, fanout = options->fanout;
    const uint32_t count = fanout == 0 ? 0 : count_relays(local, fanout);
    struct net_address any;
    enum err err;

    if (fanout == 0 || local <= fanout)
        return ERR_OK;
    err = net_parse("", &any, why);
    train->relay_listeners = mem_new(count, sizeof *train->relay_listeners);
    train->relay_doors = mem_new(count, sizeof *train->relay_doors);
    train->ways = mem_new(2 * (size_t)count, sizeof *train->ways);
    if (train->relay_listeners == NULL || train->relay_doors == NULL ||
        train->ways == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < count && err == ERR_OK; i++) {
        struct net_listener *listener = &train->relay_listeners[i];

        err = net_listen(&any, true, listener, why);
        if (err != ERR_OK)
            break;
        train->relay_count = i + 1;
        train->relay_doors[i] = listener->fd;
        train->ways[2 * (size_t)i] = listener->local;
        train->ways[2 * (size_t)i + 1] = train->door->listener.local;
    }
    return err;
}

static struct problem problem_in(const struct train_options *options)
{
    return problem_of(options->data, options->model, options->isa);
}

struct keying {
    const struct dataset *data;
    struct digest *digests;
};

static void key_chunk(void *context, uint32_t thread, uint32_t chunk)
{
    struct keying *keying = context;
    const size_t size = dataset_chunk_bytes(keying->data, chunk);
    uint8_t *bytes = mem_new(size, 1);

    (void)thread;
    if (bytes == NULL)
        return; /* The digest stays zero. */
    dataset_chunk_encode(keying->data, chunk, bytes);
    keying->digests[chunk] = hash_bytes(bytes, size);
    mem_free(bytes);
}

/* Why workers must come with the data; NULL: they are sent it. */
static const char *own_data(const struct train_options *options)
{
    if (options->user != NULL)
        return "this run trains a program's own function; join it with that "
               "program (muster_join)";
    return NULL;
}

/* Rows of a fold that is left out are shipped like the others, so that a data
 * set has the same chunks in all folds. */
static bool are_keys_of(const struct keys *keys, const struct dataset *data)
{
    const struct digest digest = dataset_digest(data);

    return keys->digests != NULL && digest_equal(&keys->data, &digest) &&
           keys->chunk_rows == data->chunk_rows &&
           keys->folded == (data->fold != NULL) &&
           keys->count == dataset_chunks(data);
}

static enum err make_keys(const struct dataset *data, struct pool *pool,
                          struct keys *keys)
{
    const uint32_t chunks = dataset_chunks(data);
    struct keying keying = {.data = data};

    mem_free(keys->digests);
    *keys = (struct keys){.data = dataset_digest(data),
                          .chunk_rows = data->chunk_rows,
                          .folded = data->fold != NULL,
                          .count = chunks};
    keying.digests = mem_new(chunks, sizeof *keying.digests);
    keys->digests = keying.digests;
    if (keying.digests == NULL)
        return ERR_NOMEM;
    pool->run(pool, key_chunk, &keying, chunks);
    for (uint32_t i = 0; i < chunks; i++) {
        if (digest_zero(&keying.digests[i]))
            return ERR_NOMEM;
    }
    return ERR_OK;
}

/* What the chunks are, for workers that may have them already. */
static enum err key_chunks(struct train *train, struct pool *pool)
{
    const struct train_options *const options = train->options;
    struct keys *const keys = &train->door->keys;
    enum err err = ERR_OK;

    if ((options->listen == NULL && options->shared == NULL &&
         options->peers == NULL) ||
        code_spec_products(&options->code) || own_data(options) != NULL)
        return ERR_OK;
    if (!are_keys_of(keys, options->data))
        err = make_keys(options->data, pool, keys);
    if (err == ERR_OK)
        train->chunk_digests = keys->digests;
    return err;
}

/* The file must be this data set; a path where there is none is written. */
static enum err open_shared(struct train *train, struct pool *pool,
                            struct why *why)
{
    const struct train_options *options = train->options;
    const struct dataset_shape shape = dataset_shape(options->data);
    const struct digest digest = dataset_digest(options->data);
    struct shared *shared = NULL;
    enum err err = ERR_OK;

    if (options->shared == NULL)
        return ERR_OK;
    if (!web_is_address(options->shared) && !file_exists(options->shared))
        err = cache_write(options->shared, &digest, options->data, pool, why);
    if (err == ERR_OK)
        err = shared_open(options->shared, options->ca, &shared, why);
    if (err == ERR_OK)
        err = shared_check(shared, &shape, &digest, why);
    shared_close(shared);
    if (err == ERR_OK && !web_is_address(options->shared) &&
        !file_absolute(options->shared, train->place, PLACE_SIZE))
        err = why_set(why, ERR_RANGE, "the path is too long");
    else if (err == ERR_OK && web_is_address(options->shared))
        (void)snprintf(train->place, PLACE_SIZE, "%s", options->shared);
    return err == ERR_OK ? err : why_in(why, err, "--data-shared");
}

static double slopes(void *context, uint32_t soft, double *scores)
{
    const struct train *train = context;
    const struct problem problem = problem_in(train->options);

    return problem_slopes(&problem, soft, scores);
}

static void bends(void *context, uint32_t soft, double *scores)
{
    const struct train *train = context;
    const struct problem problem = problem_in(train->options);

    problem_bends(&problem, soft, scores);
}

/* What rows say is asked once, before the forks; every life shares it.  Of a
 * user's function there are none, of private data it is known. */
static enum err measure(struct train *train, struct why *why)
{
    const struct train_options *options = train->options;
    const bool elsewhere = options->user != NULL || options->parts != NULL;
    const bool sampled = code_spec_sampled(&options->code);
    struct shadowing shadows = {.draw = options->code.draw,
                                .seed = options->code.seed};
    const struct objective_options what = {
        .data = options->data,
        .model = options->model,
        .net = options->net,
        .user = options->user,
        .isa = options->isa,
        .optim = &options->optim,
        .bounds =
            options->parts != NULL ? &options->parts->bounds : options->bounds,
        .products = code_spec_products(&options->code),
        .narrow = options->code.narrow,
        .shadows = sampled ? &shadows : NULL,
    };
    struct pool *pool = pool_serial();
    enum err err = elsewhere ? ERR_OK : threads_new(threads_available(), &pool);

    if (err == ERR_OK && sampled)
        err = shadowing_choose(&shadows, options->code.size, options->data,
                               &options->optim.sampler,
                               options->slots > options->code.shadows
                                   ? options->slots - options->code.shadows
                                   : 1,
                               options->code.filters, why);
    if (err == ERR_OK)
        err = objective_open(&train->objective, &what, pool, why);
    if (err == ERR_NOMEM)
        (void)why_set(why, err,
                      "not enough memory or threads to look at the data "
                      "(ulimit -v, ulimit -u)");
    if (err == ERR_OK && !elsewhere)
        err = key_chunks(train, pool);
    if (err == ERR_OK && !elsewhere)
        err = open_shared(train, pool, why);
    if (pool != pool_serial())
        threads_free(pool);
    return err;
}

/* Rows count as chunks: all that is known of them is how many there are. */
static struct job describe_user_job(struct train *train,
                                    const struct digest *data)
{
    const struct train_options *options = train->options;
    const struct user_function *user = options->user;

    return (struct job){
        .id = options->job != 0 ? options->job : random_u64(),
        .rows = user->chunks,
        .chunk_rows = 1,
        .dims = train->objective.dims,
        .chunks = user->chunks,
        .brief = train->objective.brief,
        .data = *data,
        .beat_us = BEAT_US,
        .pulse_us = PULSE_US,
        .dead_us = DEAD_US,
    };
}

static struct job describe_job(struct train *train)
{
    const struct train_options *options = train->options;
    const struct dataset *data = options->data;

    return (struct job){
        .id = options->job != 0 ? options->job : random_u64(),
        .rows = data->rows,
        .chunk_rows = data->chunk_rows,
        .dims = train->objective.dims,
        .chunks = train->objective.chunks,
        .scattered =
            sampler_reach(&options->optim.sampler, dataset_chunks(data)),
        .sampled =
            code_spec_sampled(&options->code) ? train->objective.chunks / 2 : 0,
        .shard_max = dataset_chunk_bytes_max(data),
        .data = dataset_digest(data),
        .beat_us = BEAT_US,
        .dead_us = DEAD_US,
        .pulse_us = PULSE_US,
        .stints = options->stints,
        .coded_cols = code_spec_products(&options->code) ? data->cols : 0,
        .brief = train->objective.brief,
    };
}

static uint32_t links_max(const struct train_options *options)
{
    uint64_t links = options->workers_max;

    if (links < options->slots)
        links = options->slots;
    if (links < options->local_workers)
        links = options->local_workers;
    links = 2 * links + LINKS_SPARE;
    return links > COORDINATOR_LINKS_MAX ? COORDINATOR_LINKS_MAX
                                         : (uint32_t)links;
}

/* Who would join a user's job shows that it computes the same; forked workers
 * are copies of this very process. */
static enum err identify(struct train *train, struct digest *data)
{
    if (train->options->user == NULL)
        return ERR_OK;
    return user_digest(train->options->user, train->options->listen != NULL,
                       data);
}

time_us train_patience(uint32_t slots, uint32_t local)
{
    return local < slots ? GATHER_REMOTE_US
                         : GATHER_US + slots * GATHER_EACH_US;
}

static void describe_core(struct train *train, const struct digest *data)
{
    const struct train_options *options = train->options;
    const bool user = options->user != NULL;

    train->core = (struct coordinator_options){
        .job = user ? describe_user_job(train, data) : describe_job(train),
        .vectors = train->objective.vectors,
        .length = train->objective.length,
        .narrow = train->objective.narrow,
        .config = options->config,
        .arithmetic = arithmetic_digest(),
        .code = options->code,
        .adapt = options->adapt,
        .worst = options->worst,
        .series = options->more || options->gathered,
        .more = options->more,
        .passing = options->passing,
        .slots = options->slots,
        .links_max = links_max(options),
        .leaves_max = links_max(options),
        .workers_max = options->workers_max,
        .optim = options->optim,
        .scale = train->objective.scale,
        .largest = train->objective.largest,
        .residual_max = options->residual_max,
        .slopes = slopes,
        .bends = bends,
        .slopes_context = train,
        .own_data = own_data(options),
        .delay = options->delay,
        .suspect_us = SUSPECT_US,
        .resend_us = RESEND_US,
        .gather_us = options->gathered ? GATHER_AGAIN_US
                                       : train_patience(options->slots,
                                                        options->local_workers),
        .ledger.checkpoint_steps = options->more || options->gathered
                                       ? SERIES_STEPS
                                       : CHECKPOINT_STEPS,
        .ledger.checkpoint_us = CHECKPOINT_US,
        .ledger.sync = options->sync,
        .chunk_digests = train->chunk_digests,
        .place = train->place[0] != '\0' ? train->place : NULL,
        .peers = !options->ship_alone,
        .verify = options->verify,
        .audit = options->audit,
        /* Not --seed, which workers may know. */
        .audit_seed = random_u64(),
    };
    train->core.job.keyed = train->chunk_digests != NULL;
    if (options->parts == NULL)
        return;
    train->core.job.owned = true;
    train->core.homes = options->parts->homes;
    train->core.home_count = options->parts->count;
    train->core.owner_us = options->owner_us;
}

/* What is only known here: whether there will be relays. */
static enum err check_rules(const struct train *train, struct why *why)
{
    const struct train_options *options = train->options;
    struct choices choices = {.fields = options->user != NULL};

    choices_code(&choices, &options->code);
    choices_optim(&choices, optim_name(options->optim.kind));
    if (options->user != NULL)
        choices_add(&choices, TRAIT(FUNCTION), NULL);
    if (options->shared != NULL)
        choices_add(&choices, TRAIT(SHARED), NULL);
    if (train->relay_count > 0)
        choices_add(&choices, TRAIT(RELAYS), NULL);
    if (options->bulk == TRAIN_BULK_SHM)
        choices_add(&choices, TRAIT(SHM), NULL);
    if (options->bulk == TRAIN_BULK_PLAIN)
        choices_add(&choices, TRAIT(STAR) | TRAIT(UNSEALED), NULL);
    return rules_check(&choices, why);
}

/* Of what a peer of a ring makes of the model for others. */
static size_t step_bytes(const struct optim_options *options, uint32_t dims)
{
    const uint32_t vectors = optim_part_vectors(options);

    return vectors > 0 ? share_bytes(optim_dims(options, dims), vectors) : 0;
}

/* Memory for weights and tallies, or a ring's vectors, before the forks that
 * share it. */
static enum err open_board(struct train *train, uint32_t dims, bool ring,
                           struct why *why)
{
    const struct train_options *options = train->options;
    const uint32_t count = options->local_workers;
    struct board_shape shape;
    struct optim optim;
    uint32_t sum_dims;
    enum err err;

    if (!train_bulk_shares(options->bulk) || count == 0 ||
        train->relay_count > 0 || train->boardless)
        return ERR_OK;
    err =
        optim_init(&optim, &options->optim, optim_dims(&options->optim, dims));
    if (err != ERR_OK)
        return err;
    sum_dims = optim_sum_dims(&optim);
    train->sum_dims = sum_dims;
    optim_close(&optim);
    shape = posting_shape(count + BERTHS_SPARE, dims, sum_dims);
    shape.workers = count;
    err = ring ? lending_new(count + BERTHS_SPARE, count, sum_dims,
                             step_bytes(&options->optim, dims), &train->board)
               : board_new(&shape, &train->board);
    if (err == ERR_OK || options->bulk == TRAIN_BULK_AUTO)
        return ERR_OK;
    return why_set(why, err,
                   "there is no room for shared memory; leave out --bulk shm");
}

/* Its own workers, and those of one that is gone; behind one of an upper level
 * may be all. */
static uint32_t relay_leaves_max(const struct train *train)
{
    const uint64_t local = train->options->local_workers;
    const uint64_t fanout = train->options->fanout;
    const bool deep =
        fanout > 0 &&
        train->relay_count > crew_level((uint32_t)local, (uint32_t)fanout);
    const uint64_t leaves = (deep ? 2 * local : 4 * fanout) + LINKS_SPARE;

    return leaves > RELAY_LEAVES_MAX ? RELAY_LEAVES_MAX : (uint32_t)leaves;
}

static void describe_processes(struct train *train)
{
    const struct train_options *options = train->options;
    const struct token *token = train_door_token(train->door);

    train->supervisor.options = options;
    train->supervisor.lock_fd = train->door->lock;
    train->supervisor.coordinator = (struct coordinator_node_options){
        .core = train->core,
        .data = options->parts == NULL ? options->data : NULL,
        .parts = options->parts,
        .isa = options->isa,
        .folder = options->out,
        .scratch = options->scratch,
        .token = token,
        .board = train->board,
        .chaos = options->chaos.count > 0 ? &options->chaos : NULL,
        .listen_fd = train->door->listener.fd,
        .spare_fd = train->spare_fd,
        .held_out = options->held_out,
    };
    train->supervisor.worker = (struct worker_node_options){
        .addresses = &train->door->listener.local,
        .address_count = 1,
        .token = token,
        .isa = options->isa,
        .threads = options->threads > 0 ? options->threads : 1,
        .resident = options->data,
        .user = options->user,
        .data = train->core.job.data,
        .board = train->board,
        .give_up_us = TIME_NEVER, /* As long as the supervisor lives. */
        .chaos = &options->chaos,
    };
    train->supervisor.relay = (struct relay_node_options){
        .addresses = &train->door->listener.local,
        .address_count = 1,
        .token = token,
        .leaves_max = relay_leaves_max(train),
        .give_up_us = TIME_NEVER,
    };
    train->supervisor.relays = (struct crew_relays){
        .count = train->relay_count,
        .lowest = options->fanout == 0
                      ? 0
                      : crew_level(options->local_workers, options->fanout),
        .fanout = options->fanout,
        .doors = train->relay_doors,
        .ways = train->ways,
    };
}

/* Without a last word of the coordinator: what the disk holds. */
static enum err report_from_disk(struct train *train,
                                 struct train_result *result, struct why *why)
{
    uint32_t count;
    const double *model;
    struct coordinator core;
    struct recovery recovery = {0};
    struct folder folder;
    enum err err = folder_open(&folder, train->options->out, why);

    if (err == ERR_OK)
        err = store_recover(&folder.disk, &recovery, why);
    folder_close(&folder);
    if (err == ERR_OK)
        err = coordinator_init(&core, &train->core, &recovery, why);
    recovery_close(&recovery);
    if (err != ERR_OK)
        return err;
    model = trainer_model(&core.trainer, &count);
    result->weights = mem_new(count, sizeof *result->weights);
    if (result->weights != NULL)
        memcpy(result->weights, model, count * sizeof *result->weights);
    result->dims = count;
    result->steps = core.trainer.optim.step;
    result->saved = core.trainer.optim.step;
    result->outcome = trainer_outcome(&core.trainer);
    result->evaluations = core.trainer.optim.evaluations;
    coordinator_close(&core);
    return result->weights != NULL ? ERR_OK : ERR_NOMEM;
}

static enum err report(struct train *train, struct train_result *result,
                       struct why *why)
{
    struct run_result last = {0};
    const char *folder = train->options->out;
    enum err err = result_read(folder, train->spare_fd, &last, NULL);
    const bool spoke = err == ERR_OK;

    if (spoke && last.err != ERR_OK && last.err != ERR_CANCELLED) {
        mem_free(last.weights);
        return why_set(why, last.err, "%s", last.reason);
    }
    if (spoke) {
        result->finished = last.err == ERR_OK;
        result->steps = last.steps;
        result->saved = last.saved;
        result->outcome = last.outcome;
        result->evaluations = last.evaluations;
        result->weights = last.weights;
        result->dims = last.dims;
        err = ERR_OK;
    } else {
        err = report_from_disk(train, result, why);
    }
    if (err != ERR_OK)
        return err;
    account_report(&train->supervisor.account, folder,
                   spoke ? &last.stats : NULL, result);
    result->hash = objective_hash(&train->objective, result->weights);
    result->signal = result->finished ? 0 : train->supervisor.signal;
    result->timed_out = !result->finished && train->supervisor.timed_out;
    result->port = train->door->listener.bound.port;
    result->shared = train->board != NULL;
    return ERR_OK;
}

static void train_close(struct train *train)
{
    memory_file_free(train->spare_fd);
    board_free(train->board);
    for (uint32_t i = 0; i < train->relay_count; i++)
        net_close(&train->relay_listeners[i]);
    mem_free(train->relay_listeners);
    mem_free(train->relay_doors);
    mem_free(train->ways);
    objective_close(&train->objective);
    account_close(&train->supervisor.account);
    if (train->options->door == NULL)
        train_door_close(train->door);
    limits_files_restore(train->files_before);
}

void train_result_close(struct train_result *result)
{
    mem_free(result->weights);
    mem_free(result->workers);
    result->weights = NULL;
    result->workers = NULL;
}

static enum err run_star(struct train *train, struct train_result *result,
                         struct why *why)
{
    struct digest data = {{0}};
    enum err err = open_relay_doors(train, why);

    if (err == ERR_OK)
        err = measure(train, why);
    if (err == ERR_OK)
        err = identify(train, &data);
    if (err == ERR_OK) {
        describe_core(train, &data);
        err = check_rules(train, why);
        if (err == ERR_OK)
            err = open_board(train, train->core.job.dims, false, why);
    }
    if (err == ERR_OK) {
        describe_processes(train);
        running = &train->supervisor.crew;
        err = supervisor_run(&train->supervisor, why);
        running = NULL;
    }
    if (err == ERR_OK)
        err = report(train, result, why);
    if (err != ERR_OK || result->finished)
        result->late = train->supervisor.came;
    return err;
}

static enum err run_ring(struct train *train, struct train_result *result,
                         struct why *why)
{
    const struct train_options *options = train->options;
    struct ring_train ring = {
        .options = options,
        .objective = &train->objective,
        .token = train_door_token(train->door),
        .door = &train->door->listener,
        .lock_fd = train->door->lock,
        .ledger = {.checkpoint_steps = CHECKPOINT_STEPS,
                   .checkpoint_us = CHECKPOINT_US,
                   .sync = options->sync},
        .beat_us = BEAT_US,
        .pulse_us = PULSE_US,
        .dead_us = DEAD_US,
        .gather_us = train_patience(options->slots, options->local_workers),
        .running = &running,
    };
    enum err err = measure(train, why);

    ring.chunk_digests = train->chunk_digests;
    if (err == ERR_OK)
        err = open_board(train, train->objective.dims, true, why);
    ring.board = train->board;
    ring.sum_dims = train->sum_dims;
    if (err == ERR_OK)
        err = ring_train_run(&ring, result, why);
    result->shared = train->board != NULL;
    return err;
}

static enum err run_claimed(const struct train_options *options,
                            struct train_result *result, struct why *why)
{
    struct train *train = mem_new(1, sizeof *train);
    struct train_result made = {0};
    enum err err = train != NULL ? ERR_OK : ERR_NOMEM;

    if (err != ERR_OK)
        return err;
    train->options = options;
    train->spare_fd = -1;
    train->files_before = UINT64_MAX;
    train->door = options->door;
    err = make_room(train, why);
    if (err == ERR_OK)
        err = notice_check(&options->notice, why);
    train->spare_fd = memory_file_new();
    if (err == ERR_OK && train->door == NULL)
        err = train_door_open(options, &train->door, why);
    if (err == ERR_OK)
        err = options->ring ? run_ring(train, &made, why)
                            : run_star(train, &made, why);
    if (err == ERR_OK)
        *result = made;
    else
        train_result_close(&made);
    result->late = made.late;
    train_close(train);
    mem_free(train);
    return err;
}

enum err train_run(const struct train_options *options,
                   struct train_result *result, struct why *why)
{
    enum err err;

    if (!process_claim())
        return why_set(why, ERR_EXISTS,
                       "another training with workers is going on in this "
                       "process; wait for its end, or train without workers");
    err = run_claimed(options, result, why);
    process_disclaim();
    return err;
}
