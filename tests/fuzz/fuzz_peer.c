/*
 * fuzz_peer.c - two workers with a chunk between them, each with a peer that
 * says anything (src/node/worker/peer_desk.h, src/node/worker/peer_basket.h).
 *
 * The input chooses: chunks come in, bytes are said to the desk, parts are
 * taken from it and carried to the basket, whole, changed or not at all, and
 * bytes are said to the basket.  Oracles: a part is of a chunk that was wanted
 * and is here, and its bytes are that chunk's; no more is asked for than the
 * window; the basket calls a chunk whole only with as many bytes as it said,
 * and its digest is theirs; codec and re-encoding agree.
 */
#include <string.h>

#include "feed.h"
#include "fuzz.h"
#include "node/worker/peer_basket.h"
#include "node/worker/peer_desk.h"

#define CHUNKS     6u
#define PAPERS     100u /* Bytes of them: chunk number CHUNKS. */
#define EVENTS_MAX 300u

struct scene {
    struct feed feed;
    struct dataset data;
    struct peer_desk desk;
    struct peer_basket basket;
    uint8_t papers[PAPERS];
    uint32_t wanted[CHUNKS + 1]; /* So often, and not given yet. */
    uint32_t giving;             /* Chunk + 1 that is half given; 0: none. */
    uint8_t message[PEER_MESSAGE_BYTES];
    size_t size; /* Of the part on its way; 0: none. */
};

static void come_in(struct scene *scene)
{
    chunkset_add(&scene->data.present, feed_below(&scene->feed, CHUNKS));
}

/* What is a message comes back as the same bytes. */
static bool decodes(const uint8_t *bytes, size_t size, struct peer_msg *msg)
{
    static uint8_t again[PEER_MESSAGE_BYTES];

    if (peer_codec_decode(bytes, size, msg) != ERR_OK)
        return false;
    FUZZ_REQUIRE(peer_codec_encode(msg, again) == size);
    FUZZ_REQUIRE(memcmp(again, bytes, size) == 0);
    return true;
}

static void say_to_desk(struct scene *scene, const uint8_t *bytes, size_t size)
{
    struct peer_msg msg;
    enum err err;

    if (!decodes(bytes, size, &msg) || msg.kind != PEER_WANT)
        return;
    err = peer_desk_want(&scene->desk, msg.chunk);
    FUZZ_REQUIRE((msg.chunk <= CHUNKS) == (err != ERR_RANGE));
    if (err == ERR_OK)
        scene->wanted[msg.chunk]++;
    FUZZ_REQUIRE(scene->desk.count <= PEER_WINDOW);
}

static void want(struct scene *scene)
{
    const struct peer_msg msg = {.kind = PEER_WANT,
                                 .chunk = feed_below(&scene->feed, CHUNKS + 2)};
    uint8_t bytes[PEER_SMALL_BYTES];

    say_to_desk(scene, bytes, peer_codec_encode(&msg, bytes));
}

static void check_part(struct scene *scene, const struct peer_msg *part)
{
    static uint8_t chunk[1 << 16];

    const bool papers = part->chunk == CHUNKS;

    FUZZ_REQUIRE(part->chunk <= CHUNKS);
    FUZZ_REQUIRE(papers || chunkset_has(&scene->data.present, part->chunk));
    FUZZ_REQUIRE(scene->wanted[part->chunk] > 0);
    FUZZ_REQUIRE(scene->giving == 0 || scene->giving == part->chunk + 1);
    FUZZ_REQUIRE(
        part->size ==
        (papers ? PAPERS : dataset_chunk_bytes(&scene->data, part->chunk)));
    if (papers)
        memcpy(chunk, scene->papers, PAPERS);
    else
        dataset_chunk_encode(&scene->data, part->chunk, chunk);
    FUZZ_REQUIRE(memcmp(chunk + part->at, part->bytes, part->count) == 0);
    scene->giving = part->chunk + 1;
    if (part->at + part->count == part->size) {
        scene->giving = 0;
        scene->wanted[part->chunk]--;
    }
}

static void take(struct scene *scene)
{
    struct peer_msg part;
    const bool waits = peer_desk_waits(&scene->desk);
    const enum err err = peer_desk_next(&scene->desk, &part);

    FUZZ_REQUIRE(err == ERR_OK || err == ERR_NOTFOUND);
    FUZZ_REQUIRE(!waits || err == ERR_NOTFOUND);
    if (err != ERR_OK)
        return;
    check_part(scene, &part);
    scene->size = peer_codec_encode(&part, scene->message);
}

static void say_to_basket(struct scene *scene, const uint8_t *bytes,
                          size_t size)
{
    const size_t most = dataset_chunk_bytes_max(&scene->data);
    struct peer_msg msg;
    struct digest digest, is;
    bool whole = false;

    if (!decodes(bytes, size, &msg) || msg.kind != PEER_PART)
        return;
    if (peer_basket_put(&scene->basket, &msg, most, &whole, &digest) != ERR_OK)
        return;
    FUZZ_REQUIRE(scene->basket.at <= most);
    FUZZ_REQUIRE(whole != peer_basket_open(&scene->basket));
    if (!whole)
        return;
    fuzz_reached = true;
    FUZZ_REQUIRE(scene->basket.at == msg.size);
    is = hash_bytes(scene->basket.bytes, scene->basket.at);
    FUZZ_REQUIRE(digest_equal(&is, &digest));
}

static void carry(struct scene *scene)
{
    if (scene->size == 0)
        return;
    if (feed_below(&scene->feed, 8) == 7)
        scene->message[feed_u8(&scene->feed) % scene->size] ^= 1;
    say_to_basket(scene, scene->message, scene->size);
}

static void happen(struct scene *scene)
{
    const uint8_t *bytes;
    size_t size;

    switch (feed_below(&scene->feed, 8)) {
    case 0:
        come_in(scene);
        break;
    case 1:
    case 2:
        want(scene);
        break;
    case 3:
        bytes = feed_view(&scene->feed, &size);
        say_to_desk(scene, bytes, size);
        break;
    case 4:
        bytes = feed_view(&scene->feed, &size);
        say_to_basket(scene, bytes, size);
        break;
    case 5:
    case 6:
        take(scene);
        break;
    default:
        carry(scene);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scene scene;

    scene = (struct scene){.feed = {.data = data, .size = size}};
    FUZZ_REQUIRE(dataset_init(&scene.data, 8 * CHUNKS - 3, 5, 8) == ERR_OK);
    for (uint32_t row = 0; row < scene.data.rows; row++)
        scene.data.y[row] = row;
    peer_desk_init(&scene.desk, &scene.data);
    memset(scene.papers, 'p', PAPERS);
    scene.desk.papers = (struct papers_view){scene.papers, PAPERS};
    for (uint32_t i = 0; i < EVENTS_MAX && feed_more(&scene.feed); i++)
        happen(&scene);
    peer_desk_close(&scene.desk);
    peer_basket_close(&scene.basket);
    dataset_close(&scene.data);
    return 0;
}
