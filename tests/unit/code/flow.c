/*
 * flow.c - Dinic's algorithm on source -> members -> pieces -> sink, and a
 * search for the least time at which it is full.  Capacities are integers, 2^20
 * to the piece.
 */
#include "code/flow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define PIECE (INT64_C(1) << 20)

struct edge {
    uint32_t to, back; /* edges[back] is the way back. */
    int64_t left;
    uint32_t next;
};

struct net {
    uint32_t nodes, edges, edges_max;
    struct edge *edge;
    uint32_t *head, *at, *depth, *queue;
};

#define NONE UINT32_MAX

static void join(struct net *net, uint32_t from, uint32_t to, int64_t cap)
{
    assert_true(net->edges + 2 <= net->edges_max);
    net->edge[net->edges] = (struct edge){
        .to = to, .back = net->edges + 1, .left = cap, .next = net->head[from]};
    net->head[from] = net->edges++;
    net->edge[net->edges] = (struct edge){
        .to = from, .back = net->edges - 1, .left = 0, .next = net->head[to]};
    net->head[to] = net->edges++;
}

static bool level(struct net *net, uint32_t source, uint32_t sink)
{
    uint32_t first = 0;
    uint32_t end = 0;

    for (uint32_t i = 0; i < net->nodes; i++)
        net->depth[i] = NONE;
    net->depth[source] = 0;
    net->queue[end++] = source;
    while (first < end) {
        const uint32_t node = net->queue[first++];

        for (uint32_t e = net->head[node]; e != NONE; e = net->edge[e].next) {
            const uint32_t to = net->edge[e].to;

            if (net->edge[e].left == 0 || net->depth[to] != NONE)
                continue;
            net->depth[to] = net->depth[node] + 1;
            net->queue[end++] = to;
        }
    }
    return net->depth[sink] != NONE;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the net has levels. */
static int64_t push(struct net *net, uint32_t node, uint32_t sink, int64_t most)
{
    int64_t sent = 0;

    if (node == sink)
        return most;
    for (; net->at[node] != NONE && sent < most;
         net->at[node] = net->edge[net->at[node]].next) {
        struct edge *edge = &net->edge[net->at[node]];
        const int64_t left = most - sent;
        int64_t went;

        if (edge->left == 0 || net->depth[edge->to] != net->depth[node] + 1)
            continue;
        went = push(net, edge->to, sink, left < edge->left ? left : edge->left);
        edge->left -= went;
        net->edge[edge->back].left += went;
        sent += went;
        if (sent == most)
            break;
    }
    return sent;
}

static int64_t most_flow(struct net *net, uint32_t source, uint32_t sink)
{
    int64_t flow = 0;

    while (level(net, source, sink)) {
        memcpy(net->at, net->head, net->nodes * sizeof *net->at);
        flow += push(net, source, sink, INT64_MAX);
    }
    return flow;
}

static bool holds(const struct residual_task *task, uint32_t piece,
                  uint32_t block)
{
    return blockset_has(&task->done[piece], block) ||
           blockset_has(&task->doing[piece], block);
}

static uint32_t needs(const struct residual_task *task, uint32_t piece)
{
    uint32_t have = 0;

    for (uint32_t block = 0; block < BLOCKS_MAX; block++)
        have += holds(task, piece, block);
    return have < task->cover ? task->cover - have : 0;
}

/* Source 0, members from 1 on, pieces behind them, sink last. */
static bool full(struct net *net, const struct residual_task *task, double tau,
                 bool whole)
{
    const uint32_t sink = task->count + task->pieces + 1;
    int64_t wanted = 0;

    net->nodes = sink + 1;
    net->edges = 0;
    for (uint32_t i = 0; i < net->nodes; i++)
        net->head[i] = NONE;
    for (uint32_t i = 0; i < task->count; i++) {
        const struct arc_member *member = &task->members[i];
        const double does = fmin(member->speed * (tau - member->free_s), 1e6);

        if (does > 0)
            join(net, 0, 1 + i,
                 whole ? (int64_t)(does * (1 + 1e-9)) * PIECE
                       : (int64_t)ceil(does * PIECE));
    }
    for (uint32_t p = 0; p < task->pieces; p++) {
        const uint32_t need = needs(task, p);

        wanted += need * PIECE;
        if (need > 0)
            join(net, 1 + task->count + p, sink, need * PIECE);
        for (uint32_t i = 0; i < task->count && need > 0; i++) {
            if (task->members[i].ready > p &&
                !holds(task, p, task->members[i].block))
                join(net, 1 + i, 1 + task->count + p, PIECE);
        }
    }
    return most_flow(net, 0, sink) == wanted;
}

double flow_finish(const struct residual_task *task, bool whole)
{
    const uint32_t nodes = task->count + task->pieces + 2;
    struct net net = {.edges_max = 2 * (task->count * task->pieces + nodes)};
    double low = 0;
    double high = 1;

    net.edge = mem_new(net.edges_max, sizeof *net.edge);
    net.head = mem_new(nodes, sizeof *net.head);
    net.at = mem_new(nodes, sizeof *net.at);
    net.depth = mem_new(nodes, sizeof *net.depth);
    net.queue = mem_new(nodes, sizeof *net.queue);
    assert_true(net.edge && net.head && net.at && net.depth && net.queue);
    if (full(&net, task, 0, whole))
        high = 0;
    else if (!full(&net, task, 1e9, whole))
        high = HUGE_VAL;
    else {
        while (!full(&net, task, high, whole)) {
            low = high;
            high *= 2;
        }
        while (high - low > 1e-4 * high) {
            const double middle = (low + high) / 2;

            *(full(&net, task, middle, whole) ? &high : &low) = middle;
        }
    }
    mem_free(net.edge);
    mem_free(net.head);
    mem_free(net.at);
    mem_free(net.depth);
    mem_free(net.queue);
    return high == HUGE_VAL ? high : low;
}

double flow_arcs(const struct arc_member *members, const struct arc *arcs,
                 uint32_t count)
{
    double last = 0;

    for (uint32_t i = 0; i < count; i++)
        last = fmax(last, arcs[i].count / members[i].speed);
    return last;
}
