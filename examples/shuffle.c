#define _GNU_SOURCE
/*
 * shuffle.c - coded shuffling (Lee, Lam, Pedarsani, Papailiopoulos,
 * Ramchandran, Speeding up distributed machine learning using codes, 2018,
 * section 5) between processes: a master and n workers.
 *
 * Each pass a worker trains on its share, q / n of the q rows; between passes
 * rows are dealt anew.  A worker's cache has room for c rows: its share and a
 * part p of all others.  What it needs next and does not hold is brought by the
 * master: uncoded, row by row to each worker; or coded.  Then one multicast
 * message serves a whole set Q of workers.  It is the exclusive or of one row
 * for each of them, each row held by all others of Q and by nobody else:
 *
 *     w0 holds a, b, wants c       master to {w0, w1, w2}: a ^ b ^ c
 *     w1 holds b, c, wants a       w1: (a ^ b ^ c) ^ b ^ c = a
 *     w2 holds a, c, wants b
 *
 * With caches and shares drawn at random this takes, on the average,
 *     R = q / (n p)^2 ((1-p)^(n+1) + (n-1) p (1-p) - (1-p)^2)
 * messages of a row each, if q is large; uncoded takes q - c.  --placement
 * random draws so, and a set whose members want different numbers of rows pads.
 * balanced, the default, draws at random among the choices in which every set
 * has its expected numbers, so that R is met exactly: rows of a share that are
 * held by the same workers are dealt evenly, and whoever gives rows away keeps
 * a part p of those that the same others keep.  Either way a cache stays full
 * from what its worker holds already: only rows that are worked on next travel.
 *
 * Rows come from a generator, sorted by label as files often are; a worker
 * compares each row of its new share, bit for bit, with the generated.
 * Multicast is UDP to a group of this host; a message that is not heard is
 * asked for again
 * (--lose tries that; --damage, that a wrong bit is seen).
 *
 *     cc -O2 -o shuffle shuffle.c shuffle_plan.c && ./shuffle -n 4 --keep 1/2
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shuffle_plan.h"

enum {
    COLUMNS_MAX = 1000,
    PASSES_MAX = 10000,
    WINDOW = 32,      /* Datagrams that may be on their way. */
    PATIENCE_MS = 500 /* A datagram that is later is asked for again. */
};
#define GROUP     "239.255.83.72" /* Of this host alone: time to live 0. */
#define NONE_LEFT UINT32_MAX

/* --- rows ----------------------------------------------------------------- */

static uint32_t row_numbers(const struct setting *set)
{
    return set->columns + 1;
}

static uint32_t row_bytes(const struct setting *set)
{
    return row_numbers(set) * (uint32_t)sizeof(double);
}

/* In [-1, 1). */
static double draw_number(uint64_t *state)
{
    return (double)(draw(state) >> 11) / 4503599627370496.0 - 1;
}

/* x in [-1, 1)^columns, y = x1 - x2 + x3 ... + noise behind it. */
static void make_row(const struct setting *set, uint32_t number, double *row)
{
    uint64_t state = (uint64_t)set->seed << 32 | number;
    double y = 0;

    for (uint32_t k = 0; k < set->columns; k++) {
        row[k] = draw_number(&state);
        y += k % 2 == 0 ? row[k] : -row[k];
    }
    row[set->columns] = y + draw_number(&state);
}

struct labelled {
    double label;
    uint32_t row;
};

static int by_label(const void *a, const void *b)
{
    const struct labelled *one = a, *two = b;

    if (one->label < two->label || one->label > two->label)
        return one->label < two->label ? -1 : 1;
    return one->row < two->row ? -1 : 1;
}

/* The file's order: which row of the generator stands where. */
static uint32_t *sorted_rows(const struct setting *set)
{
    struct labelled *all = room(set->rows, sizeof *all);
    uint32_t *file = room(set->rows, sizeof *file);
    double *row = room(row_numbers(set), sizeof *row);

    for (uint32_t i = 0; i < set->rows; i++) {
        make_row(set, i, row);
        all[i] = (struct labelled){.label = row[set->columns], .row = i};
    }
    qsort(all, set->rows, sizeof *all, by_label);
    for (uint32_t i = 0; i < set->rows; i++)
        file[i] = all[i].row;
    free(row);
    free(all);
    return file;
}

static void xor_row(const struct setting *set, uint64_t *to, const double *row)
{
    for (uint32_t k = 0; k < row_numbers(set); k++) {
        uint64_t bits;

        memcpy(&bits, &row[k], sizeof bits);
        to[k] ^= bits;
    }
}

/* --- between processes ---------------------------------------------------- */

struct datagram {
    uint64_t run; /* Another run's may come to the same port. */
    uint32_t pass, index;
    uint64_t body[COLUMNS_MAX + 1];
};

#define HEAD_BYTES offsetof(struct datagram, body)

/* What a worker has to say of its new share. */
struct verdict {
    uint32_t right, wrong, cached;
};

static void put(int to, const void *bytes, size_t size)
{
    const char *from = bytes;

    while (size > 0) {
        const ssize_t put = send(to, from, size, MSG_NOSIGNAL);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            fail("a process is gone");
        from += put;
        size -= (size_t)put;
    }
}

static void get(int from, void *bytes, size_t size)
{
    char *to = bytes;

    while (size > 0) {
        const ssize_t got = recv(from, to, size, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            fail("a process is gone");
        to += got;
        size -= (size_t)got;
    }
}

/* A socket that hears the group, all on one port of the kernel's choice. */
static int hear_group(struct sockaddr_in *group)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0), yes = 1, size = 1 << 20;
    const struct ip_mreq join = {.imr_multiaddr = group->sin_addr,
                                 .imr_interface.s_addr =
                                     htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof *group;

    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) != 0 ||
        bind(fd, (struct sockaddr *)group, length) != 0 ||
        getsockname(fd, (struct sockaddr *)group, &length) != 0 ||
        setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join) != 0)
        fail("no multicast on this machine's loopback (%s); try --network "
             "unicast",
             strerror(errno));
    return fd;
}

static int speak_to_group(const struct sockaddr_in *group)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    const struct in_addr from = {htonl(INADDR_LOOPBACK)};
    const unsigned char here = 0;

    if (fd < 0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &from, sizeof from) != 0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &here, sizeof here) != 0 ||
        connect(fd, (const struct sockaddr *)group, sizeof *group) != 0)
        fail("no multicast on this machine's loopback (%s); try --network "
             "unicast",
             strerror(errno));
    return fd;
}

/* --- a worker ------------------------------------------------------------- */

struct worker {
    const struct setting *set;
    struct plan plan;
    struct messages messages;
    const uint32_t *file;
    uint32_t me;
    int master, group;
    uint64_t run;
    /* The cache, with room for what arrives before older rows are let go. */
    double *cache;
    uint32_t *slots;  /* Of each row; NO_ROW: not here. */
    uint32_t *vacant; /* Slots. */
    uint32_t vacant_count;
    uint32_t *share; /* Rows that it works on. */
    double *weights;
    uint64_t state;
    bool lost; /* What was to be lost is. */
};

static double *row_at(const struct worker *worker, uint32_t row)
{
    return worker->cache +
           (size_t)worker->slots[row] * row_numbers(worker->set);
}

static double *take_slot(struct worker *worker, uint32_t row)
{
    if (worker->vacant_count == 0)
        fail("w%u: the cache is full", worker->me);
    worker->slots[row] = worker->vacant[--worker->vacant_count];
    return row_at(worker, row);
}

static void worker_open(struct worker *worker)
{
    const struct setting *set = worker->set;
    const uint32_t slots = 2 * share_of(set) + extra_of(set);

    plan_open(&worker->plan, set);
    worker->messages.list = room(set->rows, sizeof *worker->messages.list);
    worker->file = sorted_rows(set);
    worker->cache =
        room((size_t)slots * row_numbers(set), sizeof *worker->cache);
    worker->slots = room(set->rows, sizeof *worker->slots);
    worker->vacant = room(slots, sizeof *worker->vacant);
    worker->share = room(share_of(set), sizeof *worker->share);
    worker->weights = room(set->columns, sizeof *worker->weights);
    worker->state = (uint64_t)set->seed << 8 | worker->me;
    while (worker->vacant_count < slots) {
        worker->vacant[worker->vacant_count] = worker->vacant_count;
        worker->vacant_count++;
    }
    for (uint32_t row = 0; row < set->rows; row++) {
        worker->slots[row] = NO_ROW;
        if ((worker->plan.held[row] & bit(worker->me)) != 0)
            make_row(set, worker->file[row], take_slot(worker, row));
    }
}

/* One pass of SGD for least squares over its share. */
static void worker_train(struct worker *worker, uint32_t pass)
{
    const struct setting *set = worker->set;
    const double rate = 1.0 / set->columns / (1 + pass);
    uint64_t first = worker->state; /* Dealt once: it never moves on. */
    uint64_t *state = set->dealing == DEAL_EACH ? &worker->state : &first;
    uint32_t count = 0;

    get(worker->master, worker->weights, set->columns * sizeof(double));
    for (uint32_t row = 0; row < set->rows; row++)
        if (worker->plan.home[row] == worker->me)
            worker->share[count++] = row;
    for (uint32_t i = 0; i < count; i++) {
        /* An order drawn as it goes: a new one in each pass if rows are dealt
         * in each, the first again if they are dealt once, so that the two
         * differ from the second pass on; the file's if they never are. */
        const uint32_t at = set->dealing == DEAL_NEVER
                                ? i
                                : i + (uint32_t)(draw(state) % (count - i));
        const double *x = row_at(worker, worker->share[at]);
        double residual = x[set->columns];

        worker->share[at] = worker->share[i];
        for (uint32_t k = 0; k < set->columns; k++)
            residual -= worker->weights[k] * x[k];
        for (uint32_t k = 0; k < set->columns; k++)
            worker->weights[k] += rate * residual * x[k];
    }
    put(worker->master, worker->weights, set->columns * sizeof(double));
}

static bool is_mine(const struct worker *worker, uint32_t index)
{
    return worker->messages.list[index].rows[worker->me] != NO_ROW;
}

/* Out of a message comes our row, when those that the others want are out. */
static void decode(struct worker *worker, uint32_t index, const uint64_t *body)
{
    const struct message *message = &worker->messages.list[index];
    const uint32_t bytes = row_bytes(worker->set);
    uint64_t row[COLUMNS_MAX + 1];

    if (worker->slots[message->rows[worker->me]] != NO_ROW)
        return; /* It came twice. */
    memcpy(row, body, bytes);
    for (uint32_t i = 0; i < worker->set->n; i++)
        if (i != worker->me && message->rows[i] != NO_ROW)
            xor_row(worker->set, row, row_at(worker, message->rows[i]));
    memcpy(take_slot(worker, message->rows[worker->me]), row, bytes);
}

/* The first of ours in [from, to) that has not come; or NONE_LEFT. */
static uint32_t first_missing(const struct worker *worker, uint32_t from,
                              uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (is_mine(worker, i) &&
            worker->slots[worker->messages.list[i].rows[worker->me]] == NO_ROW)
            return i;
    return NONE_LEFT;
}

/* As the network might; once, and only if asked to. */
static bool is_lost(struct worker *worker, uint32_t index)
{
    const bool lost = !worker->lost && worker->set->lose == index + 1;

    worker->lost = worker->lost || lost;
    return lost;
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Takes the datagram that waits; false: it is none of those that are missing
 * here.  Anybody on this host may speak to the group. */
static bool hear_one(struct worker *worker, uint32_t pass)
{
    struct datagram got;

    if (recv(worker->group, &got, sizeof got, MSG_DONTWAIT) !=
            (ssize_t)(HEAD_BYTES + row_bytes(worker->set)) ||
        got.run != worker->run || got.pass != pass ||
        got.index >= worker->messages.count || !is_mine(worker, got.index) ||
        is_lost(worker, got.index))
        return false;
    decode(worker, got.index, got.body);
    return true;
}

static void hear_window(struct worker *worker, uint32_t pass, uint32_t from,
                        uint32_t to)
{
    struct pollfd heard = {.fd = worker->group, .events = POLLIN};
    int64_t until = now_ms() + PATIENCE_MS;
    uint32_t missing;

    while ((missing = first_missing(worker, from, to)) != NONE_LEFT) {
        const int64_t left = until - now_ms();

        if (left <= 0)
            put(worker->master, &missing, sizeof missing);
        else if (poll(&heard, 1, (int)left) <= 0 || !hear_one(worker, pass))
            continue;
        until = now_ms() + PATIENCE_MS;
    }
    put(worker->master, &missing, sizeof missing);
}

static void worker_receive(struct worker *worker, uint32_t pass)
{
    const uint32_t count = worker->messages.count;
    uint64_t body[COLUMNS_MAX + 1];

    if (!worker->set->unicast) {
        for (uint32_t from = 0; from < count; from += WINDOW)
            hear_window(worker, pass, from,
                        from + WINDOW < count ? from + WINDOW : count);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (is_mine(worker, i)) {
            get(worker->master, body, row_bytes(worker->set));
            decode(worker, i, body);
        }
}

/* Let go what is not kept; compare what is worked on next. */
static void worker_turn(struct worker *worker)
{
    const struct setting *set = worker->set;
    struct verdict verdict = {0};
    double *wanted = room(row_numbers(set), sizeof *wanted);

    plan_turn(&worker->plan);
    for (uint32_t row = 0; row < set->rows; row++) {
        const bool kept = (worker->plan.held[row] & bit(worker->me)) != 0;

        if (!kept && worker->slots[row] != NO_ROW) {
            worker->vacant[worker->vacant_count++] = worker->slots[row];
            worker->slots[row] = NO_ROW;
        }
        verdict.cached += worker->slots[row] != NO_ROW;
        if (worker->plan.home[row] != worker->me)
            continue;
        make_row(set, worker->file[row], wanted);
        if (worker->slots[row] != NO_ROW &&
            memcmp(row_at(worker, row), wanted, row_bytes(set)) == 0)
            verdict.right++;
        else
            verdict.wrong++;
    }
    free(wanted);
    put(worker->master, &verdict, sizeof verdict);
}

static _Noreturn void worker_run(struct worker *worker)
{
    const struct setting *set = worker->set;

    worker_open(worker);
    for (uint32_t pass = 0; pass < set->passes; pass++) {
        worker_train(worker, pass);
        if (set->dealing != DEAL_EACH || pass + 1 == set->passes)
            continue;
        plan_deal(&worker->plan);
        plan_messages(&worker->plan, &worker->messages);
        worker_receive(worker, pass);
        worker_turn(worker);
    }
    exit(0);
}

/* --- the master ----------------------------------------------------------- */

struct totals {
    uint64_t wanted, messages; /* Rows; messages of a row each. */
    uint64_t sent, resent;     /* Bytes, without heads. */
    uint64_t right, wrong;
    uint32_t deals, cached_most;
};

struct master {
    const struct setting *set;
    struct plan plan;
    struct messages messages;
    double *rows;
    int workers[WORKERS_MAX], group;
    uint64_t run;
    double *weights, *answer, *losses;
    struct totals totals;
};

static void master_open(struct master *master)
{
    const struct setting *set = master->set;
    uint32_t *file = sorted_rows(set);

    plan_open(&master->plan, set);
    master->messages.list = room(set->rows, sizeof *master->messages.list);
    master->rows =
        room((size_t)set->rows * row_numbers(set), sizeof *master->rows);
    for (uint32_t row = 0; row < set->rows; row++)
        make_row(set, file[row], master->rows + (size_t)row * row_numbers(set));
    master->weights = room(set->columns, sizeof *master->weights);
    master->answer = room(set->columns, sizeof *master->answer);
    master->losses = room(set->passes, sizeof *master->losses);
    free(file);
}

/* Mean squared error over all rows. */
static double master_loss(const struct master *master)
{
    const struct setting *set = master->set;
    double sum = 0;

    for (uint32_t row = 0; row < set->rows; row++) {
        const double *x = master->rows + (size_t)row * row_numbers(set);
        double residual = x[set->columns];

        for (uint32_t k = 0; k < set->columns; k++)
            residual -= master->weights[k] * x[k];
        sum += residual * residual;
    }
    return sum / set->rows;
}

/* One row of the normal equations less those that are reduced already. */
static void reduce(double *equations, uint32_t wide, uint32_t at)
{
    double *own = equations + (size_t)at * wide;

    for (uint32_t i = 0; i < at; i++) {
        const double *other = equations + (size_t)i * wide;
        const double factor = other[at] / other[i];

        for (uint32_t k = i; k < wide; k++)
            own[k] -= factor * other[k];
    }
}

/* The least squares that there are: y'y is the corner of the normal equations'
 * matrix, which elimination leaves with what no weights explain. */
static double least_loss(const struct master *master)
{
    const uint32_t wide = row_numbers(master->set);
    double *equations = room((size_t)wide * wide, sizeof *equations);
    double least;

    for (uint32_t row = 0; row < master->set->rows; row++) {
        const double *x = master->rows + (size_t)row * wide;

        for (uint32_t i = 0; i < wide; i++)
            for (uint32_t k = 0; k < wide; k++)
                equations[(size_t)i * wide + k] += x[i] * x[k];
    }
    for (uint32_t i = 1; i < wide; i++)
        reduce(equations, wide, i);
    least = equations[(size_t)wide * wide - 1] / master->set->rows;
    free(equations);
    return least;
}

/* Everybody trains from the same weights; then these are averaged. */
static void master_train(struct master *master, uint32_t pass)
{
    const struct setting *set = master->set;
    const size_t size = set->columns * sizeof(double);

    for (uint32_t i = 0; i < set->n; i++)
        put(master->workers[i], master->weights, size);
    memset(master->weights, 0, size);
    for (uint32_t i = 0; i < set->n; i++) {
        get(master->workers[i], master->answer, size);
        for (uint32_t k = 0; k < set->columns; k++)
            master->weights[k] += master->answer[k] / set->n;
    }
    master->losses[pass] = master_loss(master);
}

static void make_body(const struct master *master, uint32_t index,
                      uint64_t *body)
{
    const struct setting *set = master->set;

    memset(body, 0, row_bytes(set));
    for (uint32_t i = 0; i < set->n; i++) {
        const uint32_t row = master->messages.list[index].rows[i];

        if (row != NO_ROW)
            xor_row(set, body, master->rows + (size_t)row * row_numbers(set));
    }
    if (set->damage == index + 1 && master->totals.deals == 0)
        body[0] ^= 1;
}

static uint32_t speak(const struct master *master, uint32_t pass,
                      uint32_t index)
{
    const uint32_t bytes = row_bytes(master->set);
    struct datagram message = {
        .run = master->run, .pass = pass, .index = index};

    make_body(master, index, message.body);
    if (send(master->group, &message, HEAD_BYTES + bytes, 0) !=
        (ssize_t)(HEAD_BYTES + bytes))
        fail("multicast: %s", strerror(errno));
    return bytes;
}

/* A window of messages, each sent once, and then once more whatever a worker
 * has not got. */
static void speak_window(struct master *master, uint32_t pass, uint32_t from,
                         uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        master->totals.sent += speak(master, pass, i);
    for (uint32_t i = 0; i < master->set->n; i++)
        for (uint32_t missing = 0; missing != NONE_LEFT;) {
            get(master->workers[i], &missing, sizeof missing);
            if (missing < to)
                master->totals.resent += speak(master, pass, missing);
        }
}

/* Without multicast a message is sent to each that wants something of it. */
static void send_each(struct master *master)
{
    const uint32_t bytes = row_bytes(master->set);
    uint64_t body[COLUMNS_MAX + 1];

    for (uint32_t index = 0; index < master->messages.count; index++) {
        make_body(master, index, body);
        for (uint32_t i = 0; i < master->set->n; i++)
            if (master->messages.list[index].rows[i] != NO_ROW) {
                put(master->workers[i], body, bytes);
                master->totals.sent += bytes;
            }
    }
}

static void master_deliver(struct master *master, uint32_t pass)
{
    const struct setting *set = master->set;
    const uint32_t count = master->messages.count;
    struct totals *totals = &master->totals;

    if (set->unicast)
        send_each(master);
    for (uint32_t from = 0; !set->unicast && from < count; from += WINDOW)
        speak_window(master, pass, from,
                     from + WINDOW < count ? from + WINDOW : count);
    totals->messages += count;
    totals->wanted += master->messages.wanted;
    totals->deals++;
    for (uint32_t i = 0; i < set->n; i++) {
        struct verdict verdict;

        get(master->workers[i], &verdict, sizeof verdict);
        totals->right += verdict.right;
        totals->wrong += verdict.wrong;
        if (verdict.cached > totals->cached_most)
            totals->cached_most = verdict.cached;
    }
}

static void master_run(struct master *master)
{
    const struct setting *set = master->set;

    master_open(master);
    for (uint32_t pass = 0; pass < set->passes; pass++) {
        master_train(master, pass);
        if (set->dealing != DEAL_EACH || pass + 1 == set->passes)
            continue;
        plan_deal(&master->plan);
        plan_messages(&master->plan, &master->messages);
        master_deliver(master, pass);
        plan_turn(&master->plan);
    }
}

static void master_close(struct master *master)
{
    plan_close(&master->plan);
    free(master->messages.list);
    free(master->rows);
    free(master->weights);
    free(master->answer);
    free(master->losses);
}

/* --- what it came to ------------------------------------------------------ */

static void show_json(const struct master *master)
{
    const struct setting *set = master->set;
    const struct totals *totals = &master->totals;
    const uint32_t cache = share_of(set) + extra_of(set);

    (void)printf(
        "{\"workers\": %u, \"rows\": %u, \"row_bytes\": %u, \"cache_rows\": "
        "%u, \"cached_most\": %u, \"deals\": %u, \"wanted_rows\": %llu, "
        "\"messages\": %llu, \"sent_bytes\": %llu, \"head_bytes\": %llu, "
        "\"resent_bytes\": %llu, \"uncoded_bytes\": %llu, "
        "\"formula_bytes\": %.17g, \"formula_uncoded_bytes\": %llu, "
        "\"right_rows\": %llu, \"wrong_rows\": %llu, \"losses\": [",
        set->n, set->rows, row_bytes(set), cache, totals->cached_most,
        totals->deals, (unsigned long long)totals->wanted,
        (unsigned long long)totals->messages, (unsigned long long)totals->sent,
        (unsigned long long)(set->unicast ? 0 : totals->messages * HEAD_BYTES),
        (unsigned long long)totals->resent,
        (unsigned long long)totals->wanted * row_bytes(set),
        formula(set) * totals->deals * row_bytes(set),
        (unsigned long long)(set->rows - cache) * totals->deals *
            row_bytes(set),
        (unsigned long long)totals->right, (unsigned long long)totals->wrong);
    for (uint32_t i = 0; i < set->passes; i++)
        (void)printf("%s%.17g", i == 0 ? "" : ", ", master->losses[i]);
    (void)printf("], \"least_loss\": %.17g}\n", least_loss(master));
}

static void show(const struct master *master)
{
    const struct setting *set = master->set;
    const struct totals *totals = &master->totals;

    (void)printf("%u workers, %u rows of %u bytes, %u cached by each\n", set->n,
                 set->rows, row_bytes(set), share_of(set) + extra_of(set));
    if (totals->deals > 0) {
        (void)printf("sent     %llu bytes in %u deals\n",
                     (unsigned long long)totals->sent, totals->deals);
        (void)printf(
            "formula  %.0f bytes coded, %llu uncoded\n",
            formula(set) * totals->deals * row_bytes(set),
            (unsigned long long)(set->rows - share_of(set) - extra_of(set)) *
                totals->deals * row_bytes(set));
        (void)printf("rows     %llu right, %llu wrong\n",
                     (unsigned long long)totals->right,
                     (unsigned long long)totals->wrong);
    }
    (void)printf("loss     %.6f after 1 pass, %.6f after %u; the least is "
                 "%.6f\n",
                 master->losses[0], master->losses[set->passes - 1],
                 set->passes, least_loss(master));
}

/* --- the program ---------------------------------------------------------- */

static const char *const dealings[] = {"each", "once", "never", NULL};

static const char usage[] =
    "usage: shuffle [-n WORKERS] [--rows Q] [--columns D] [--passes T]\n"
    "    [--keep A/B] [--shuffle each|once|never] [--placement "
    "balanced|random]\n"
    "    [--code xor|none] [--network multicast|unicast] [--seed S]\n"
    "    [--damage MESSAGE] [--lose MESSAGE] [--format text|json]\n";

static uint32_t whole(const char *option, const char *text, uint32_t least,
                      uint32_t most)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || value < least ||
        value > most)
        fail("%s %s: expected a whole number from %u to %u", option, text,
             least, most);
    return (uint32_t)value;
}

static uint32_t one_of(const char *option, const char *text,
                       const char *const *names)
{
    for (uint32_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    fail("%s %s: there is no such choice\n%s", option, text, usage);
}

static void read_keep(struct setting *set, const char *text)
{
    const char *slash = strchr(text, '/');
    char keep[16] = "";

    if (slash == NULL || slash - text >= (ptrdiff_t)sizeof keep)
        fail("--keep %s: expected a fraction such as 1/2", text);
    memcpy(keep, text, (size_t)(slash - text));
    set->of = whole("--keep", slash + 1, 1, 100);
    set->keep = whole("--keep", keep, 0, set->of - 1);
}

static void read_option(struct setting *set, const char *option,
                        const char *value)
{
    static const char *const placements[] = {"balanced", "random", NULL};
    static const char *const codes[] = {"xor", "none", NULL};
    static const char *const networks[] = {"multicast", "unicast", NULL};
    static const char *const formats[] = {"text", "json", NULL};

    if (strcmp(option, "-n") == 0)
        set->n = whole(option, value, 2, WORKERS_MAX);
    else if (strcmp(option, "--rows") == 0)
        set->rows = whole(option, value, 1, ROWS_MAX);
    else if (strcmp(option, "--columns") == 0)
        set->columns = whole(option, value, 1, COLUMNS_MAX);
    else if (strcmp(option, "--passes") == 0)
        set->passes = whole(option, value, 1, PASSES_MAX);
    else if (strcmp(option, "--seed") == 0)
        set->seed = whole(option, value, 0, UINT32_MAX);
    else if (strcmp(option, "--damage") == 0)
        set->damage = whole(option, value, 1, ROWS_MAX);
    else if (strcmp(option, "--lose") == 0)
        set->lose = whole(option, value, 1, ROWS_MAX);
    else if (strcmp(option, "--keep") == 0)
        read_keep(set, value);
    else if (strcmp(option, "--shuffle") == 0)
        set->dealing = one_of(option, value, dealings);
    else if (strcmp(option, "--placement") == 0)
        set->random = one_of(option, value, placements);
    else if (strcmp(option, "--code") == 0)
        set->uncoded = one_of(option, value, codes);
    else if (strcmp(option, "--network") == 0)
        set->unicast = one_of(option, value, networks);
    else if (strcmp(option, "--format") == 0)
        set->json = one_of(option, value, formats);
    else
        fail("there is no option %s\n%s", option, usage);
}

static void check_rows(struct setting *set)
{
    const uint64_t step = rows_step(set);

    if (step > ROWS_MAX)
        fail("%u workers that keep %u/%u of the others' rows need a multiple "
             "of %llu rows to be balanced; try --placement random",
             set->n, set->keep, set->of, (unsigned long long)step);
    if (set->rows == 0)
        set->rows = (uint32_t)((4095 / step + 1) * step);
    if (set->rows % step != 0)
        fail("--rows %u: expected a multiple of %llu with %u workers that keep "
             "%u/%u of the others' rows",
             set->rows, (unsigned long long)step, set->n, set->keep, set->of);
}

/* Fork the workers; what they do ends in worker_run. */
static void start_workers(struct master *master)
{
    const struct setting *set = master->set;
    struct sockaddr_in group = {.sin_family = AF_INET};
    int heard[WORKERS_MAX], pair[2];

    (void)inet_pton(AF_INET, GROUP, &group.sin_addr);
    for (uint32_t i = 0; i < set->n; i++)
        heard[i] = set->unicast ? -1 : hear_group(&group);
    master->run = (uint64_t)getpid() << 32 | group.sin_port;
    for (uint32_t i = 0; i < set->n; i++) {
        struct worker worker = {
            .set = set, .me = i, .group = heard[i], .run = master->run};
        const pid_t parent = getpid();
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
            (pid = fork()) < 0)
            fail("cannot start a worker: %s", strerror(errno));
        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                exit(1);
            for (uint32_t k = 0; k < i; k++)
                (void)close(master->workers[k]);
            (void)close(pair[0]);
            worker.master = pair[1];
            worker_run(&worker);
        }
        (void)close(pair[1]);
        master->workers[i] = pair[0];
    }
    for (uint32_t i = 0; i < set->n && !set->unicast; i++)
        (void)close(heard[i]);
    master->group = set->unicast ? -1 : speak_to_group(&group);
}

int main(int count, char **words)
{
    struct setting set = {
        .n = 4, .columns = 31, .passes = 10, .keep = 1, .of = 2, .seed = 1};
    struct master master = {.set = &set};
    bool well;

    for (int i = 1; i < count; i += 2) {
        if (i + 1 == count)
            fail("%s: a value is missing\n%s", words[i], usage);
        read_option(&set, words[i], words[i + 1]);
    }
    check_rows(&set);
    (void)fflush(stdout);
    start_workers(&master);
    master_run(&master);
    if (set.json)
        show_json(&master);
    else
        show(&master);
    well = master.totals.wrong == 0;
    for (uint32_t i = 0; i < set.n; i++) {
        int status;

        (void)wait(&status);
        well = well && status == 0;
    }
    master_close(&master);
    return well ? 0 : 1;
}
