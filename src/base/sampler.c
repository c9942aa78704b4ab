/*
 * sampler.c - batches cut out of keyed permutations.
 */
#include "base/sampler.h"

#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/rng.h"

/* --- permutations --------------------------------------------------------- */

#define ROUNDS 8u

/* Of 0 .. count-1, as a Feistel network on the bits of count - 1, two at least;
 * halves may differ by a bit. */
struct permutation {
    uint32_t count;
    uint32_t low_bits;
    uint64_t low_mask, high_mask;
    uint64_t key[ROUNDS];
};

static struct permutation permute(uint64_t seed, uint64_t pass, uint64_t part,
                                  uint32_t count)
{
    const uint64_t own = rng_at(seed, pass, part);
    struct permutation made = {.count = count};
    uint32_t bits = 2;

    while ((uint64_t)1 << bits < count)
        bits++;
    made.low_bits = bits / 2;
    made.low_mask = ((uint64_t)1 << made.low_bits) - 1;
    made.high_mask = ((uint64_t)1 << (bits - made.low_bits)) - 1;
    for (uint32_t i = 0; i < ROUNDS; i++)
        made.key[i] = rng_at(own, i, count);
    return made;
}

/* A word from a half and a round's key: two multiplications mix all bits
 * upwards, and the upper ones are returned. */
static uint64_t mix(uint64_t half, uint64_t key)
{
    uint64_t x = (half + key) * UINT64_C(0xbf58476d1ce4e5b9);

    x = (x ^ x >> 32) * UINT64_C(0x94d049bb133111eb);
    return x >> 32;
}

static uint64_t network(const struct permutation *p, uint64_t at)
{
    uint64_t low = at & p->low_mask;
    uint64_t high = at >> p->low_bits;

    for (uint32_t i = 0; i < ROUNDS; i += 2) {
        low ^= mix(high, p->key[i]) & p->low_mask;
        high ^= mix(low, p->key[i + 1]) & p->high_mask;
    }
    return high << p->low_bits | low;
}

/* The walk ends: the network permutes a finite set, and the way from `at` leads
 * back to `at`, which is below count. */
static uint32_t permuted(const struct permutation *p, uint32_t at)
{
    uint64_t to = at;

    CHECK(at < p->count);
    do {
        to = network(p, to);
    } while (to >= p->count);
    return (uint32_t)to;
}

/* --- counts --------------------------------------------------------------- */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Of the places 0 .. end-1 those that are `first` more than a multiple of
 * `every`. */
static uint32_t places_below(uint32_t end, uint32_t first, uint32_t every)
{
    return end <= first ? 0 : divide_up(end - first, every);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Rows of one chunk, where `rows` are cut by chunk_rows. */
static uint32_t cut(uint32_t rows, uint32_t chunk_rows, uint32_t chunk)
{
    const uint64_t first = (uint64_t)chunk * chunk_rows;

    return first >= rows ? 0 : lesser(rows - (uint32_t)first, chunk_rows);
}

/* The first row of a chunk of the data, and how many it has. */
static uint32_t begin_of(const struct sampler *sampler, uint32_t chunk)
{
    return sampler->cut != NULL ? sampler->cut[chunk - sampler->first]
                                : chunk * sampler->chunk_rows;
}

static uint32_t size_of(const struct sampler *sampler, uint32_t chunk)
{
    return sampler->cut != NULL
               ? begin_of(sampler, chunk + 1) - begin_of(sampler, chunk)
               : cut(sampler->rows, sampler->chunk_rows, chunk);
}

/* --- what each kind draws ------------------------------------------------- */

static void select_whole(const struct sampler *sampler, uint32_t step,
                         uint32_t chunk, uint32_t count, uint32_t *row)
{
    (void)step;
    for (uint32_t i = 0; i < count; i++)
        row[i] = begin_of(sampler, chunk) + i;
}

static void select_rows(const struct sampler *sampler, uint32_t step,
                        uint32_t chunk, uint32_t count, uint32_t *row)
{
    const uint32_t steps = sampler_steps(sampler);
    const uint32_t first =
        step % steps * sampler->batch + chunk * sampler->chunk_rows;
    const struct permutation order =
        permute(sampler->seed, step / steps, 0, sampler->rows);

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t back = BUG(BUG_DRAW_TWICE) && i == 0 && first > 0;

        row[i] = permuted(&order, first + i - back);
    }
}

static void select_local(const struct sampler *sampler, uint32_t step,
                         uint32_t chunk, uint32_t count, uint32_t *row)
{
    const uint32_t steps = sampler_steps(sampler);
    const uint32_t first = begin_of(sampler, chunk);
    const struct permutation order =
        permute(sampler->seed, step / steps, (uint64_t)chunk + 1,
                size_of(sampler, chunk));
    const uint32_t before = places_below(first, step % steps, steps);

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = step % steps + (before + i) * steps;

        row[i] = first + permuted(&order, place - first);
    }
}

static const struct {
    const char *name, *batches;
    bool scattered;
    void (*select)(const struct sampler *sampler, uint32_t step, uint32_t chunk,
                   uint32_t count, uint32_t *row);
} table[] = {{"whole", "", false, select_whole},
#define SAMPLER_ROW(NAME, name, scattered, batches, text)                      \
    {#name, batches, scattered, select_##name},
             SAMPLER_LIST(SAMPLER_ROW)
#undef SAMPLER_ROW
};

/* --- what a sampler is ---------------------------------------------------- */

const struct sampler sampler_whole;

const char *sampler_name(enum sampler_kind kind)
{
    CHECK((unsigned)kind < SAMPLERS);
    return table[kind].name;
}

const char *sampler_batches(enum sampler_kind kind)
{
    CHECK((unsigned)kind < SAMPLERS);
    return table[kind].batches;
}

bool sampler_scatters(enum sampler_kind kind)
{
    CHECK((unsigned)kind < SAMPLERS);
    return table[kind].scattered;
}

bool sampler_parse(const char *name, enum sampler_kind *kind)
{
    for (unsigned i = 0; i < SAMPLERS; i++) {
        if (strcmp(name, table[i].name) == 0) {
            *kind = (enum sampler_kind)i;
            return true;
        }
    }
    return false;
}

struct sampler sampler_of(enum sampler_kind kind, uint32_t rows,
                          uint32_t chunk_rows, uint32_t batch, uint64_t seed)
{
    struct sampler made = {.rows = rows, .chunk_rows = chunk_rows};

    if (kind == SAMPLER_WHOLE || batch >= rows)
        return made;
    made.kind = kind;
    made.batch = batch;
    made.seed = seed;
    return made;
}

bool sampler_fits(const struct sampler *sampler)
{
    if ((unsigned)sampler->kind >= SAMPLERS || sampler->rows == 0 ||
        sampler->chunk_rows == 0)
        return false;
    return sampler->kind == SAMPLER_WHOLE
               ? sampler->batch == 0
               : sampler->batch > 0 && sampler->batch < sampler->rows;
}

uint32_t sampler_reach(const struct sampler *sampler, uint32_t chunks)
{
    return sampler_scatters(sampler->kind) ? chunks : 0;
}

/* SAMPLER_WHOLE counts as batches that are not scattered do, in a pass of one
 * step. */

uint32_t sampler_chunks(const struct sampler *sampler)
{
    if (sampler_scatters(sampler->kind))
        return divide_up(sampler->batch, sampler->chunk_rows);
    return sampler->cut != NULL ? sampler->chunks
                                : divide_up(sampler->rows, sampler->chunk_rows);
}

uint32_t sampler_steps(const struct sampler *sampler)
{
    return sampler->kind == SAMPLER_WHOLE
               ? 1
               : divide_up(sampler->rows, sampler->batch);
}

uint32_t sampler_full_steps(const struct sampler *sampler)
{
    return sampler_scatters(sampler->kind) ? sampler->rows / sampler->batch
                                           : sampler_steps(sampler);
}

double sampler_full_rows(const struct sampler *sampler)
{
    return sampler_scatters(sampler->kind)
               ? sampler->batch
               : (double)sampler->rows / sampler_steps(sampler);
}

uint32_t sampler_rows(const struct sampler *sampler, uint32_t step)
{
    const uint32_t steps = sampler_steps(sampler);
    const uint32_t at = step % steps;

    return sampler_scatters(sampler->kind)
               ? lesser(sampler->rows - at * sampler->batch, sampler->batch)
               : places_below(sampler->rows, at, steps);
}

uint32_t sampler_chunk_rows(const struct sampler *sampler, uint32_t step,
                            uint32_t chunk)
{
    const uint32_t steps = sampler_steps(sampler);
    uint32_t first;

    CHECK(chunk < sampler_chunks(sampler));
    if (sampler_scatters(sampler->kind))
        return cut(sampler_rows(sampler, step), sampler->chunk_rows, chunk);
    first = begin_of(sampler, chunk);
    return places_below(first + size_of(sampler, chunk), step % steps, steps) -
           places_below(first, step % steps, steps);
}

uint32_t sampler_chunk_most(const struct sampler *sampler)
{
    const uint32_t most = lesser(sampler->chunk_rows, sampler->rows);

    return sampler_scatters(sampler->kind)
               ? lesser(most, sampler->batch)
               : divide_up(most, sampler_steps(sampler));
}

uint32_t sampler_select(const struct sampler *sampler, uint32_t step,
                        uint32_t chunk, uint32_t *row)
{
    const uint32_t count = sampler_chunk_rows(sampler, step, chunk);

    if (count > 0)
        table[sampler->kind].select(sampler, step, chunk, count, row);
    return count;
}
