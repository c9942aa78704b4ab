#include "model/make_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

static double normal(struct rng *rng)
{
    return rng_normal_at(rng_next(rng), 0, 0);
}

struct dataset make_data(struct rng *rng, uint32_t rows, uint32_t cols,
                         int spread, bool real)
{
    const uint32_t chunk_rows = 1 + (uint32_t)rng_below(rng, 12);
    struct dataset data = {0};
    const uint64_t columns = rng_next(rng);

    assert_int_equal(dataset_init(&data, rows, cols, chunk_rows), ERR_OK);
    for (uint32_t i = 0; i < rows; i++) {
        float *const row = dataset_row(&data, i);
        const int row_scale = (int)rng_between(rng, -spread, spread);

        for (uint32_t j = 0; j < cols; j++) {
            const int scale =
                row_scale - spread +
                (int)(rng_at(columns, j, 0) % (2 * (uint64_t)spread + 1));

            if (!rng_chance(rng, 0.1))
                row[j] = (float)ldexp(normal(rng), scale);
        }
        data.y[i] = real ? ldexp(normal(rng), row_scale)
                         : (rng_chance(rng, 0.5) ? 1 : -1);
    }
    data.classes = real ? 0 : 2;
    data.label[0] = -1;
    data.label[1] = 1;
    chunkset_fill(&data.present);
    return data;
}
