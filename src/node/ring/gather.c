/*
 * gather.c - sources of papers and chunks: asked, read from, given up, asked
 * again.
 *
 * A source is a place where a peer may be.  All are dialled at once, those that
 * others name as well; which of them answers first does not matter.  What a
 * source does not give goes back to what is left, for another or the next try.
 */
#include "node/ring/gather.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "eval/registry.h"
#include "node/arithmetic.h"
#include "node/host/posting.h"
#include "node/worker/peer_fetch.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/net/link.h"
#include "os/random.h"
#include "os/run/loop.h"
#include "wire/codec.h"

#define ANSWER_US (3 * SECOND_US) /* To a HELLO, from the dialling on. */
#define RETRY_US  (250 * MS_US)
#define TICK_US   (50 * MS_US)
#define RUN       PEER_WINDOW /* Chunks asked for together. */

enum source_state {
    SOURCE_IDLE,  /* To be asked, at `at`. */
    SOURCE_ASKED, /* Dialled, until `at`. */
    SOURCE_READY, /* Its TERMS are here. */
    SOURCE_OUT,   /* Has turned us away, or is of another ring. */
};

struct source {
    struct gather *gather;
    enum source_state state;
    struct net_address address;
    time_us at;
    struct link *link; /* ASKED. */
    struct msg_fetch fetch;
    uint32_t wanted; /* Chunks, or the papers, that are to come from it. */
};

struct gather {
    const struct gather_options *options;
    struct gathered *out;
    struct loop *loop;
    struct timer *timer;
    struct alerts *alerts;
    struct link_hub *hub;
    struct codec_room room;
    struct envelope envelope;
    struct source sources[GATHER_PLACES];
    uint32_t count;
    struct msg_terms terms; /* Those that came first; chunks 0: none yet. */
    struct digest *digests; /* Of the chunks, once known, and of the papers. */
    struct peer_fetch *papers;
    struct supply *supply; /* Chunks; NULL: the papers are not here yet. */
    struct chunkset left;  /* Neither here nor on their way. */
    time_us heard_at;
    bool over;
    enum err err;
    struct why *why;
};

static void end(struct gather *gather, enum err err)
{
    if (gather->over)
        return;
    gather->over = true;
    gather->err = err;
    loop_stop(gather->loop);
}

static void fail(struct gather *gather, enum err err, const char *sentence)
{
    if (!gather->over)
        end(gather, why_set(gather->why, err, "%s", sentence));
}

static void heard(struct gather *gather)
{
    gather->heard_at = clock_now_us();
}

/* --- sources -------------------------------------------------------------- */

static void hang_up(struct source *source)
{
    if (source->link == NULL)
        return;
    link_set_user(source->link, NULL);
    link_close(source->link);
    source->link = NULL;
}

/* It may be there again later, with another key. */
static void ask_later(struct source *source)
{
    hang_up(source);
    source->state = SOURCE_IDLE;
    source->at = clock_now_us() + RETRY_US;
}

static void add_source(struct gather *gather, const struct net_address *address)
{
    for (uint32_t i = 0; i < gather->count; i++) {
        const struct net_address *known = &gather->sources[i].address;

        if (known->port == address->port &&
            strcmp(known->host, address->host) == 0)
            return;
    }
    if (gather->count == GATHER_PLACES)
        return;
    gather->sources[gather->count++] =
        (struct source){.gather = gather, .address = *address};
}

/* Only those who were named by the user say what is wrong with us. */
static void turned_away(struct source *source, const char *reason)
{
    struct gather *const gather = source->gather;

    hang_up(source);
    source->state = SOURCE_OUT;
    for (uint32_t i = 0; i < gather->count; i++)
        if (gather->sources[i].state != SOURCE_OUT)
            return;
    fail(gather, ERR_DENIED, reason);
}

static void say_hello(struct source *source)
{
    struct gather *const gather = source->gather;
    struct msg msg = {.kind = MSG_HELLO,
                      .hello = {.version = MSG_VERSION,
                                .incarnation = random_u64(),
                                .arithmetic = arithmetic_digest()}};

    (void)snprintf(msg.hello.name, NAME_SIZE, "%s", gather->options->name);
    if (!envelope_fill(&gather->envelope, &msg))
        fail(gather, ERR_NOMEM, "out of memory");
    else
        envelope_send(&gather->envelope, source->link, PLANE_CONTROL);
}

static void ask(struct source *source)
{
    struct gather *const gather = source->gather;

    source->state = SOURCE_ASKED;
    source->at = clock_now_us() + ANSWER_US;
    if (link_dial(gather->hub, &source->address, &source->link) != ERR_OK)
        ask_later(source);
    else
        link_set_user(source->link, source);
}

/* --- terms ---------------------------------------------------------------- */

static bool is_same_ring(const struct msg_terms *a, const struct msg_terms *b)
{
    return digest_equal(&a->config, &b->config) &&
           digest_equal(&a->papers, &b->papers) &&
           a->papers_size == b->papers_size && a->chunks == b->chunks;
}

/* The ring is what whoever answered first says it is. */
static void begin(struct gather *gather, const struct msg_terms *terms)
{
    gather->digests =
        mem_new((size_t)terms->chunks + 1, sizeof *gather->digests);
    if (gather->digests == NULL || terms->papers_size > DATA_BYTES_MAX) {
        fail(gather, ERR_NOMEM, "not enough memory for what the ring sends");
        return;
    }
    heard(gather); /* The same said again brings nobody further. */
    gather->terms = *terms;
    gather->digests[terms->chunks] = terms->papers;
    gather->out->config = terms->config;
    log_note("a ring is there; fetching its rows, %u chunks", terms->chunks);
    peer_fetch_learn(gather->papers, gather->digests,
                     (size_t)terms->papers_size);
}

static void learn_places(struct gather *gather, const struct msg_terms *terms)
{
    for (uint32_t i = 0; i < terms->count; i++) {
        struct net_address address;

        if (net_parse(terms->place[i], &address, NULL) == ERR_OK &&
            net_is_number(address.host) && address.port != 0)
            add_source(gather, &address);
    }
}

static void take_terms(struct source *source, const struct msg_terms *terms)
{
    struct gather *const gather = source->gather;
    struct msg_fetch *const fetch = &source->fetch;
    char host[NET_HOST_SIZE];

    if (gather->terms.chunks == 0)
        begin(gather, terms);
    if (gather->over)
        return;
    if (!is_same_ring(&gather->terms, terms)) {
        turned_away(source, "the addresses are of different rings");
        return;
    }
    learn_places(gather, terms);
    if (terms->port == 0 || !link_host(source->link, host) ||
        strlen(host) >= sizeof fetch->host) {
        ask_later(source);
        return;
    }
    *fetch = (struct msg_fetch){
        .peer = (uint32_t)(source - gather->sources) + 1, .port = terms->port};
    memcpy(fetch->host, host, strlen(host) + 1);
    memcpy(fetch->key, terms->key, PEER_KEY);
    (void)link_own_host(source->link, gather->out->own_host);
    hang_up(source);
    source->state = SOURCE_READY;
}

/* --- what the links report ------------------------------------------------ */

static void tend(struct gather *gather);

static void on_up(void *context, struct link *link)
{
    struct source *source = link_user(link);

    (void)context;
    if (source != NULL)
        say_hello(source);
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct gather *gather = context;
    struct source *source = link_user(link);
    struct msg msg;

    if (source == NULL || gather->over)
        return;
    if (plane != PLANE_CONTROL ||
        codec_decode(data, size, &gather->room, &msg) != ERR_OK) {
        ask_later(source);
        return;
    }
    if (msg.kind == MSG_TERMS)
        take_terms(source, &msg.terms);
    else
        turned_away(source, msg.kind == MSG_REJECT
                                ? msg.reject.reason
                                : "no peer of a ring is there");
    tend(gather);
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct source *source = link_user(link);

    (void)context;
    if (source == NULL)
        return;
    source->link = NULL;
    if (how == LINK_REFUSED)
        turned_away(source, why);
    else
        ask_later(source);
}

static const struct link_events link_events = {
    .up = on_up, .message = on_message, .down = on_down};

/* --- papers --------------------------------------------------------------- */

static void on_fetched(void *context, const struct fetched *fetched);

static enum err make_rows(struct gather *gather)
{
    const struct papers *papers = &gather->out->papers;
    const struct evaluator_ops *const ops = evaluator_named(&papers->brief);
    struct dataset *data = &gather->out->data;
    struct dataset_shape shape;
    enum err err = ERR_FORMAT;

    if (papers->chunks == gather->terms.chunks && ops != NULL &&
        ops->shape != NULL)
        err = ops->shape(&papers->brief, &shape);
    if (err == ERR_OK)
        err = dataset_init_shape(data, &shape);
    if (err == ERR_OK && dataset_chunks(data) != papers->chunks)
        err = ERR_FORMAT;
    return err;
}

/* From here on chunks may come: those that this disk has from it. */
static enum err open_supply(struct gather *gather)
{
    const struct gather_options *options = gather->options;
    const struct papers *papers = &gather->out->papers;
    const struct msg_chunks chunks = {
        .count = papers->chunks, .digests = papers->digests, .place = ""};
    const struct job job = {.chunks = papers->chunks};
    enum err err = chunkset_init(&gather->left, papers->chunks);

    if (err == ERR_OK)
        err = supply_new(gather->loop, &options->supply, &gather->out->data,
                         options->name, options->source, on_fetched, gather,
                         &gather->supply);
    if (err == ERR_OK)
        err = supply_learn(gather->supply, &job, &chunks, gather->why);
    for (uint32_t i = 0; err == ERR_OK && i < papers->chunks; i++) {
        if (chunkset_has(supply_near(gather->supply), i))
            supply_want(gather->supply, i, i + 1);
        else
            chunkset_add(&gather->left, i);
    }
    return err;
}

static void take_papers(struct gather *gather, const uint8_t *bytes,
                        size_t size)
{
    struct gathered *out = gather->out;
    enum err err = ERR_NOMEM;

    out->bytes = mem_new(size, 1);
    if (out->bytes != NULL) {
        memcpy(out->bytes, bytes, size);
        err = papers_read(out->bytes, size, &out->papers);
    }
    if (err == ERR_OK)
        err = make_rows(gather);
    if (err == ERR_OK)
        err = open_supply(gather);
    if (err == ERR_FORMAT)
        fail(gather, err, "the ring describes a training that cannot be");
    else if (err != ERR_OK && gather->why->text[0] != '\0')
        end(gather, err);
    else if (err != ERR_OK)
        fail(gather, err, "not enough memory for the rows of this ring");
}

static void on_papers(void *context, uint32_t peer, uint32_t first,
                      uint32_t last, const uint8_t *bytes, size_t size,
                      enum err err)
{
    struct gather *gather = context;
    struct source *source = &gather->sources[peer - 1];

    (void)first;
    (void)last;
    source->wanted = 0;
    if (gather->over)
        return;
    if (err != ERR_OK) {
        ask_later(source);
    } else if (gather->supply == NULL) {
        heard(gather);
        take_papers(gather, bytes, size);
    }
    tend(gather);
}

static bool papers_coming(const struct gather *gather)
{
    for (uint32_t i = 0; i < gather->count; i++)
        if (gather->sources[i].wanted > 0)
            return true;
    return false;
}

static void want_papers(struct gather *gather)
{
    const uint32_t item = gather->terms.chunks;

    for (uint32_t i = 0; i < gather->count && !papers_coming(gather); i++) {
        struct source *source = &gather->sources[i];

        if (source->state != SOURCE_READY)
            continue;
        source->wanted = 1;
        if (peer_fetch_want(gather->papers, &source->fetch, item, item + 1) !=
            ERR_OK)
            fail(gather, ERR_NOMEM, "out of memory");
    }
}

/* --- chunks --------------------------------------------------------------- */

/* The next chunks in a row that are left; 0: none are. */
static uint32_t next_run(const struct gather *gather, uint32_t *first)
{
    uint32_t count = 0;

    if (gather->left.members == 0)
        return 0;
    *first = chunkset_next(&gather->left, 0);
    while (count < RUN && *first + count < gather->left.count &&
           chunkset_has(&gather->left, *first + count))
        count++;
    return count;
}

static void want_chunks(struct gather *gather)
{
    for (uint32_t i = 0; i < gather->count; i++) {
        struct source *source = &gather->sources[i];
        uint32_t first = 0, count;

        if (source->state != SOURCE_READY || source->wanted >= RUN / 2)
            continue;
        count = next_run(gather, &first);
        if (count == 0)
            return;
        for (uint32_t j = 0; j < count; j++)
            chunkset_remove(&gather->left, first + j);
        source->wanted += count;
        if (supply_want_peer(gather->supply, &source->fetch, first,
                             first + count) != ERR_OK)
            fail(gather, ERR_NOMEM, "out of memory");
    }
}

static void store(struct gather *gather, const struct fetched *fetched)
{
    struct dataset *data = &gather->out->data;

    if (chunkset_has(&data->present, fetched->first))
        return;
    if (dataset_chunk_decode(data, fetched->first, fetched->bytes,
                             fetched->size) != ERR_OK)
        fail(gather, ERR_FORMAT, "a chunk of data is broken");
    else if (fetched->peer != 0)
        supply_keep(gather->supply, fetched->first);
}

static void on_fetched(void *context, const struct fetched *fetched)
{
    struct gather *gather = context;
    struct source *source = NULL;

    CHECK(gather != NULL);
    if (fetched->peer != 0)
        source = &gather->sources[fetched->peer - 1];
    if (source != NULL)
        source->wanted -= fetched->end - fetched->first;
    if (gather->over)
        return;
    if (fetched->why != NULL) {
        fail(gather, fetched->err, fetched->why);
    } else if (fetched->err == ERR_OK) {
        heard(gather);
        store(gather, fetched);
    } else {
        chunkset_add_range(&gather->left, fetched->first, fetched->end);
        if (source != NULL)
            ask_later(source);
    }
    tend(gather);
}

/* --- what is due ---------------------------------------------------------- */

static bool is_done(const struct gather *gather)
{
    return gather->supply != NULL &&
           chunkset_full(&gather->out->data.present) &&
           supply_unkept(gather->supply) == 0;
}

static void tend_source(struct source *source, time_us now)
{
    if (source->state == SOURCE_IDLE && now >= source->at)
        ask(source);
    else if (source->state == SOURCE_ASKED && now >= source->at)
        ask_later(source);
}

static void tend(struct gather *gather)
{
    const time_us now = clock_now_us();

    if (gather->over)
        return;
    for (uint32_t i = 0; i < gather->count; i++)
        tend_source(&gather->sources[i], now);
    if (gather->supply != NULL)
        want_chunks(gather);
    else if (gather->terms.chunks > 0)
        want_papers(gather);
    if (is_done(gather)) {
        log_note("%u rows are here; joining the ring", gather->out->data.rows);
        end(gather, ERR_OK);
    } else if (now - gather->heard_at >= gather->options->give_up_us) {
        fail(gather, ERR_TIMEOUT,
             gather->terms.chunks == 0
                 ? "nobody answers"
                 : "no rows come: the peers that had them are gone, or the "
                   "ports cannot be reached from which they send rows");
    }
}

static void on_time(void *context)
{
    struct gather *gather = context;

    tend(gather);
    timer_at(gather->timer, clock_now_us() + TICK_US);
}

static void on_alert(void *context)
{
    end(context, ERR_CANCELLED);
}

/* --- life ----------------------------------------------------------------- */

static enum err open_all(struct gather *gather)
{
    const struct gather_options *options = gather->options;
    struct link_options links = {.token = options->token,
                                 .source = options->source,
                                 .events = &link_events,
                                 .context = gather};
    struct peer_fetch_options papers = {.name = options->name,
                                        .source = options->source,
                                        .fetched = on_papers,
                                        .context = gather};
    enum err err = loop_new(&gather->loop);

    links.loop = papers.loop = gather->loop;
    if (err == ERR_OK)
        err = codec_room_init(&gather->room, 1, 1, 0);
    if (err == ERR_OK)
        err = timer_new(gather->loop, on_time, gather, &gather->timer);
    if (err == ERR_OK)
        err = alerts_new(gather->loop, true, on_alert, gather, &gather->alerts);
    if (err == ERR_OK)
        err = link_hub_new(&links, &gather->hub);
    if (err == ERR_OK)
        err = peer_fetch_new(&papers, &gather->papers);
    return err == ERR_OK
               ? err
               : why_set(gather->why, err, "not enough memory to join a ring");
}

static void close_all(struct gather *gather)
{
    supply_free(gather->supply);
    peer_fetch_free(gather->papers);
    link_hub_free(gather->hub);
    alerts_free(gather->alerts);
    timer_free(gather->timer);
    loop_free(gather->loop);
    codec_room_close(&gather->room);
    envelope_close(&gather->envelope);
    chunkset_close(&gather->left);
    mem_free(gather->digests);
}

/* Those that gave something last first: they are there. */
static void tell_places(const struct gather *gather, struct gathered *out)
{
    for (uint32_t ready = 2; ready-- > 0;) {
        for (uint32_t i = 0; i < gather->count; i++) {
            const struct source *source = &gather->sources[i];

            if (source->state != SOURCE_OUT &&
                (source->state == SOURCE_READY) == (ready == 1))
                out->places[out->place_count++] = source->address;
        }
    }
}

enum err gather_run(const struct gather_options *options,
                    struct gathered *gathered, struct why *why)
{
    struct gather gather = {.options = options, .out = gathered, .why = why};
    enum err err;

    CHECK(options->address_count <= GATHER_PLACES);
    *gathered = (struct gathered){0};
    for (uint32_t i = 0; i < options->address_count; i++)
        add_source(&gather, &options->addresses[i]);
    err = open_all(&gather);
    if (err == ERR_OK) {
        heard(&gather);
        timer_at(gather.timer, clock_now_us());
        loop_run(gather.loop);
        err = gather.err;
    }
    tell_places(&gather, gathered);
    close_all(&gather);
    if (err != ERR_OK)
        gathered_close(gathered);
    return err;
}

void gathered_close(struct gathered *gathered)
{
    dataset_close(&gathered->data);
    mem_free(gathered->bytes);
    *gathered = (struct gathered){0};
}
