/*
 * seeds.c - one message of every kind, and the first page of cached data sets,
 * as this release writes them: what a search for bytes that break their
 * readers begins with.
 *
 *     seeds tests/fuzz/corpus
 *
 * What an older release wrote is refused at its first field and tests nothing,
 * so these are written anew whenever a version changes (tools/fuzz.sh seeds);
 * the tests of the corpora say when.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "data/read/cache.h"
#include "node/ring/papers.h"
#include "wire/bundle.h"
#include "wire/codec.h"
#include "wire/random_msg.h"
#include "wire/sample_msg.h"

#define SEED  8u
#define BYTES 16384u

static const char *folder;

static void keep_in(const char *corpus, const char *name, const uint8_t *bytes,
                    size_t size)
{
    char path[4096];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s/%s", folder, corpus, name);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size ||
        fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void keep(const char *name, const uint8_t *bytes, size_t size)
{
    keep_in("codec", name, bytes, size);
}

/* --- coordinator, worker, relay ------------------------------------------ */

static const char *const names[MSG_LAST + 1] = {
    [MSG_HELLO] = "hello",     [MSG_WELCOME] = "welcome",
    [MSG_REJECT] = "reject",   [MSG_BEAT] = "beat",
    [MSG_ECHO] = "echo",       [MSG_DATA] = "data",
    [MSG_NEED] = "need",       [MSG_ROUND] = "round",
    [MSG_WORK] = "work",       [MSG_DROP] = "drop",
    [MSG_CANCEL] = "cancel",   [MSG_TALLY] = "tally",
    [MSG_ROW] = "row",         [MSG_REFUSE] = "refuse",
    [MSG_LEAVE] = "leave",     [MSG_BYE] = "bye",
    [MSG_ASK] = "ask",         [MSG_STATUS] = "status",
    [MSG_CHUNKS] = "chunks",   [MSG_HAVE] = "have",
    [MSG_FETCH] = "fetch",     [MSG_RELAY] = "relay",
    [MSG_TASK] = "task",       [MSG_ALONE] = "alone",
    [MSG_SUM] = "sum",         [MSG_GONE] = "gone",
    [MSG_PULSE] = "pulse",     [MSG_WATCH] = "watch",
    [MSG_SERVE] = "serve",     [MSG_SERVING] = "serving",
    [MSG_MEET] = "meet",       [MSG_ROSTER] = "roster",
    [MSG_PROPOSE] = "propose", [MSG_REPORT] = "report",
    [MSG_STATE] = "state",     [MSG_SLICE] = "slice",
    [MSG_PARTING] = "parting", [MSG_TERMS] = "terms",
};

/* Small ones: what is long is long of repetition. */
static void shorten(struct msg *msg, struct random_room *room)
{
    for (uint32_t j = 0; j <= RANDOM_SUM_DIMS; j++)
        room->exponent[j] = (int16_t)(20 + j % 3);
    for (uint32_t j = 2; j < RANDOM_DIMS; j++)
        room->sum[j] = (int64_t)j - 9;
    if (msg->kind == MSG_PULSE && msg->pulse.count > 2)
        msg->pulse.count = 2;
}

static void keep_msg(const char *name, const struct msg *msg)
{
    static uint8_t bytes[BYTES];

    if (codec_bound(msg) > sizeof bytes)
        exit(1);
    keep(name, bytes, codec_encode(msg, bytes));
}

static void keep_posted(const char *name, const struct msg *msg)
{
    static uint8_t bytes[BYTES];
    const struct posted where = {.place = 2, .sequence = 5};

    keep(name, bytes, codec_encode_posted(msg, &where, bytes));
}

static void keep_rounds(struct rng *rng, struct random_room *room)
{
    static const char *const kinds[] = {
        "round",        "round_hessvec", "round_hessian",  "round_local",
        "round_scores", "round_back",    "round_diagonal", "round_combine"};
    struct msg msg;

    random_msg(rng, MSG_ROUND, room, &msg);
    shorten(&msg, room);
    msg.leaf = 0;
    msg.round.narrow = false;
    for (int kind = 0; kind <= EVALUATE_LAST; kind++) {
        msg.round.kind = (enum evaluation_kind)kind;
        msg.round.parts = evaluation_is_product(msg.round.kind) ? 3 : 0;
        msg.round.term_count = msg.round.parts > 0 ? 1 : 0;
        msg.round.terms = msg.round.items;
        msg.round.direction =
            msg.round.kind == EVALUATE_HESSVEC ? room->direction : NULL;
        keep_msg(kinds[kind], &msg);
    }
    msg.round.kind = EVALUATE_GRADIENT;
    msg.round.parts = 0;
    msg.round.term_count = 0;
    keep_posted("posted_round", &msg);
    for (uint32_t j = 0; j < RANDOM_DIMS; j++)
        room->weights[j] = 1.0 / (1 + j);
    msg.round.narrow = true;
    keep_msg("round_narrow", &msg);
}

static void keep_messages(void)
{
    static struct random_room room;
    struct rng rng;
    struct msg msg;

    rng_init(&rng, SEED);
    for (int kind = MSG_HELLO; kind <= MSG_LAST; kind++) {
        random_msg(&rng, (enum msg_kind)kind, &room, &msg);
        shorten(&msg, &room);
        msg.leaf = kind == MSG_TASK || kind == MSG_GONE ? 7 : 0;
        keep_msg(names[kind], &msg);
        if (kind == MSG_TALLY)
            keep_posted("posted_tally", &msg);
        if (kind == MSG_HELLO) {
            msg.leaf = 7;
            keep_msg("leaf_hello", &msg);
        }
        if (kind == MSG_FETCH) {
            msg.fetch.peer = 3;
            (void)snprintf(msg.fetch.host, sizeof msg.fetch.host, "10.0.0.9");
            keep_msg("fetch_peer", &msg);
        }
    }
    keep_rounds(&rng, &room);
}

static void keep_bundle(void)
{
    static struct bundle bundle;
    const struct msg msg = {.kind = MSG_LEAVE};
    uint8_t bytes[512];
    const size_t size = codec_encode(&msg, bytes);

    if (!bundle_add(&bundle, bytes, size) || !bundle_add(&bundle, bytes, size))
        exit(1);
    keep("bundle", bundle.bytes, bundle.size);
    keep("bundle_cut", bundle.bytes, bundle.size - 1);
}

/* --- owners of private data ---------------------------------------------- */

static void keep_rolls(void)
{
    static const char *const kinds[] = {
        "roll_offer", "roll_schema", "roll_sizes", "roll_scales",
        "roll_sums",  "roll_no",     "roll_peer",  "roll_parts"};
    uint8_t bytes[2048];

    for (int kind = ROLL_OFFER; kind <= ROLL_PARTS; kind++) {
        const struct roll_msg msg = sample_roll((enum roll_kind)kind);

        keep(kinds[kind - ROLL_OFFER], bytes, roll_codec_encode(&msg, bytes));
    }
}

/* --- groups -------------------------------------------------------------- */

static void keep_group(void)
{
    static const char *const kinds[] = {
        "group_hello",   "group_reject",  "group_beat",    "group_view",
        "group_join",    "group_request", "group_collect", "group_state",
        "group_propose", "group_accept",  "group_slice",   "group_part",
        "group_have"};
    static const double values[2] = {1, -2};
    uint8_t bytes[2048];

    for (int kind = SUM_HELLO; kind <= SUM_HAVE; kind++) {
        const struct sum_msg msg = sample_sum((enum sum_kind)kind, values);

        keep(kinds[kind - SUM_HELLO], bytes, sum_codec_encode(&msg, bytes));
    }
}

/* --- cached data ---------------------------------------------------------- */

/* The page without its digest and the zeros before that. */
static void keep_page(const char *name, const char *file)
{
    static uint8_t page[CACHE_PAGE];
    size_t size = CACHE_PAGE - DIGEST_BYTES;
    FILE *from = fopen(file, "rb");

    if (from == NULL || fread(page, 1, sizeof page, from) != sizeof page)
        exit(1);
    (void)fclose(from);
    while (size > 0 && page[size - 1] == 0)
        size--;
    keep_in("cache", name, page, size);
}

static void keep_cached(const char *name, const struct dataset_shape *shape)
{
    static const struct digest key;
    char path[4096];
    struct dataset data = {0};
    struct why why = {0};

    (void)snprintf(path, sizeof path, "%s/cache/%s", folder, name);
    if (dataset_init_shape(&data, shape) != ERR_OK)
        exit(1);
    chunkset_fill(&data.present); /* All rows are zeros. */
    if (cache_write(path, &key, &data, pool_serial(), &why) != ERR_OK) {
        (void)fprintf(stderr, "%s: %s\n", path, why.text);
        exit(1);
    }
    dataset_close(&data);
    keep_page(name, path);
}

static void keep_pages(void)
{
    const struct dataset_shape dense = {.rows = 5, .cols = 3, .chunk_rows = 2};
    struct dataset_shape bytes = dense;
    struct dataset_shape sparse = dense;

    bytes.storage = STORAGE_I8;
    bytes.weighted = true;
    sparse.storage = STORAGE_CSR;
    sparse.entries = 4;
    keep_cached("page_dense", &dense);
    keep_cached("page_bytes", &bytes);
    keep_cached("page_sparse", &sparse);
}

/* --- papers of a ring ----------------------------------------------------- */

static void keep_papers(const char *name, struct papers *papers)
{
    static const uint8_t digests[3 * DIGEST_BYTES];
    static const uint8_t bytes[2 * sizeof(double)] = {1, 2, 3};
    struct papers_kept kept;

    papers->brief = (struct brief){bytes, 2};
    papers->chunks = 3;
    papers->digests = digests;
    papers->start = bytes;
    papers->kit = (struct papers_view){bytes, sizeof bytes};
    if (papers_keep(papers, &kept) != ERR_OK)
        exit(1);
    keep_in("papers", name, kept.view.bytes, kept.view.size);
    papers_drop(&kept);
}

static void keep_all_papers(void)
{
    struct papers papers = {
        .optim = {.kind = OPTIM_LBFGS, .rate = 1, .rows = 5, .steps = 9}};

    keep_papers("lbfgs", &papers);
    papers.start_count = 2;
    keep_papers("start", &papers);
    papers.optim.kind = OPTIM_ADAM;
    papers.optim.held_out = true;
    papers.optim.sampler = sampler_of(SAMPLER_ROWS, 5, 2, 3, 8);
    keep_papers("batches", &papers);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "seeds CORPORA\n");
        return 2;
    }
    folder = argv[1];
    keep_messages();
    keep_bundle();
    keep_rolls();
    keep_group();
    keep_pages();
    keep_all_papers();
    return 0;
}
