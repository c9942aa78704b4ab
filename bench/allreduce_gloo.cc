/*
 * allreduce_gloo.cc - the all-reduce of allreduce.c by gloo itself, where there
 * is no torch: the call that torch's "gloo" makes, over plain TCP on loopback.
 * It is in the language of its library and no part of the build:
 *
 *     g++ -O2 -std=c++17 -I GLOO bench/allreduce_gloo.cc libgloo.a -lpthread
 *     a.out PROCESSES TURNS TYPE BYTES...
 *
 * What it prints is what allreduce.c says.
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "gloo/allreduce.h"
#include "gloo/barrier.h"
#include "gloo/math.h"
#include "gloo/rendezvous/context.h"
#include "gloo/rendezvous/file_store.h"
#include "gloo/transport/tcp/device.h"

static int rank, world;

static double now_us(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

template <typename T>
static void sum(std::shared_ptr<gloo::Context> context, T *values, size_t count)
{
    gloo::AllreduceOptions options(context);

    options.setOutput(values, count);
    options.setReduceFunction(
        static_cast<void (*)(void *, const void *, const void *, size_t)>(
            &gloo::sum<T>));
    gloo::allreduce(options);
}

template <typename T>
static void measure(std::shared_ptr<gloo::Context> context, size_t bytes,
                    int turns)
{
    std::vector<T> values(bytes / sizeof(T));
    std::vector<double> took;
    double figures[2] = {0};

    if (bytes > 1 << 22)
        turns = turns > 9 ? turns / 3 : 3;
    for (int i = -2; i < turns; i++) {
        double began, used;
        gloo::BarrierOptions meet(context);

        for (size_t k = 0; k < values.size(); k++)
            values[k] = (T)(k % 1000 + (size_t)rank);
        gloo::barrier(meet);
        began = now_us(CLOCK_MONOTONIC);
        used = now_us(CLOCK_PROCESS_CPUTIME_ID);
        sum(context, values.data(), values.size());
        if (i < 0)
            continue;
        took.push_back(now_us(CLOCK_MONOTONIC) - began);
        figures[1] += now_us(CLOCK_PROCESS_CPUTIME_ID) - used;
    }
    std::sort(took.begin(), took.end());
    figures[0] = took[took.size() / 2];
    sum(context, figures, 2);
    if (rank == 0)
        printf("%zu %.2f %.2f\n", bytes, figures[0] / world,
               figures[1] / turns);
    (void)fflush(stdout);
}

int main(int count, char **arguments)
{
    char folder[] = "/tmp/allreduce_gloo.XXXXXX";
    gloo::transport::tcp::attr attr;

    if (count < 5 || mkdtemp(folder) == NULL)
        return 2;
    world = atoi(arguments[1]);
    while (rank + 1 < world && fork() == 0)
        rank++;
    attr.iface = "lo";
    {
        auto store = std::make_shared<gloo::rendezvous::FileStore>(folder);
        auto context =
            std::make_shared<gloo::rendezvous::Context>(rank, world);
        auto device = gloo::transport::tcp::CreateDevice(attr);

        context->connectFullMesh(store, device);
        for (int i = 4; i < count; i++) {
            const size_t bytes = strtoull(arguments[i], NULL, 10);

            if (strcmp(arguments[3], "i64") == 0)
                measure<int64_t>(context, bytes, atoi(arguments[2]));
            else if (strcmp(arguments[3], "f32") == 0)
                measure<float>(context, bytes, atoi(arguments[2]));
            else
                measure<double>(context, bytes, atoi(arguments[2]));
        }
    }
    while (wait(NULL) > 0)
        ;
    if (rank == 0)
        (void)!system(("rm -rf " + std::string(folder)).c_str());
    return 0;
}
