/*
 * Chunks must tile the rows for every shape tried, and a data set shipped
 * chunk by chunk, in any order, must have the digest of the original.
 * Malformed chunks are refused and leave the receiver as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "data/rows/dataset.h"

static struct dataset random_data(uint32_t rows, uint32_t cols,
                                  uint32_t chunk_rows, uint64_t seed)
{
    struct dataset data = {0};

    assert_int_equal(dataset_init(&data, rows, cols, chunk_rows), ERR_OK);
    for (uint32_t i = 0; i < rows; i++) {
        data.y[i] = rng_normal_at(seed, i, cols);
        for (uint32_t j = 0; j < cols; j++)
            ((float *)data.x)[(size_t)i * data.stride + j] =
                (float)rng_normal_at(seed, i, j);
    }
    chunkset_fill(&data.present);
    return data;
}

static void test_default_chunk_rows(void **state)
{
    static const uint32_t rows[] = {1,       255,     256,     1000000,
                                    1048576, 1048577, 9999999, DATA_ROWS_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t chunk_rows = dataset_default_chunk_rows(rows[i]);

        assert_true(chunk_rows >= 256 && chunk_rows % 8 == 0);
        assert_true(((uint64_t)rows[i] + chunk_rows - 1) / chunk_rows <= 4096);
    }
    assert_int_equal(dataset_default_chunk_rows(1048576), 256);
    assert_int_equal(dataset_default_chunk_rows(1048577), 264);
}

static void test_chunks_tile_rows(void **state)
{
    (void)state;
    for (uint32_t rows = 1; rows < 40; rows++) {
        for (uint32_t chunk_rows = 1; chunk_rows < 45; chunk_rows += 3) {
            struct dataset data = random_data(rows, 9, chunk_rows, rows);
            uint32_t seen = 0;

            assert_int_equal(data.stride, 16);
            for (uint32_t k = 0; k < dataset_chunks(&data); k++) {
                const struct dense_rows chunk = dataset_chunk(&data, k);

                assert_ptr_equal(chunk.x, (float *)data.x + seen * data.stride);
                assert_ptr_equal(chunk.y, data.y + seen);
                assert_int_equal(chunk.rows, dataset_chunk_size(&data, k));
                assert_true(chunk.rows > 0);
                seen += chunk.rows;
            }
            assert_int_equal(seen, rows);
            dataset_close(&data);
        }
    }
}

static void ship(const struct dataset *from, struct dataset *to, uint32_t chunk)
{
    const size_t size = dataset_chunk_bytes(from, chunk);
    uint8_t *bytes = mem_new(size, 1);

    assert_non_null(bytes);
    dataset_chunk_encode(from, chunk, bytes);
    assert_int_equal(dataset_chunk_decode(to, chunk, bytes, size), ERR_OK);
    mem_free(bytes);
}

static void test_shipping_keeps_digest(void **state)
{
    struct dataset from = random_data(100, 13, 24, 1);
    struct dataset to = {0};
    struct digest sent, received;

    (void)state;
    assert_int_equal(dataset_init(&to, 100, 13, 24), ERR_OK);
    for (uint32_t k = dataset_chunks(&from); k-- > 0;) {
        assert_false(chunkset_has(&to.present, k));
        ship(&from, &to, k);
        assert_true(chunkset_has(&to.present, k));
    }
    sent = dataset_digest(&from);
    received = dataset_digest(&to);
    assert_true(digest_equal(&sent, &received));
    assert_memory_equal(from.x, to.x, 100 * from.stride * sizeof(float));
    dataset_close(&from);
    dataset_close(&to);
}

static void test_digest_sees_everything(void **state)
{
    static const double labels[] = {1, 3};
    struct dataset data = random_data(20, 5, 8, 2);
    const struct digest before = dataset_digest(&data);
    float *const last = (float *)data.x + 19 * 8 + 4;
    struct digest after;

    (void)state;
    data.y[19] += 1;
    after = dataset_digest(&data);
    assert_false(digest_equal(&before, &after));
    data.y[19] -= 1;
    *last = -*last;
    after = dataset_digest(&data);
    assert_false(digest_equal(&before, &after));
    *last = -*last;
    assert_int_equal(dataset_set_labels(&data, labels, 2), ERR_OK);
    after = dataset_digest(&data);
    assert_false(digest_equal(&before, &after));
    assert_int_equal(dataset_set_labels(&data, labels, 0), ERR_OK);
    assert_int_equal(dataset_add_weights(&data), ERR_OK);
    after = dataset_digest(&data);
    assert_false(digest_equal(&before, &after));
    mem_free(data.weight);
    data.weight = NULL;
    /* The cut is no part of the data. */
    data.chunk_rows = 20;
    after = dataset_digest(&data);
    assert_true(digest_equal(&before, &after));
    dataset_close(&data);
}

static void test_bad_chunks(void **state)
{
    struct dataset from = random_data(20, 5, 8, 3);
    struct dataset to = {0};
    uint8_t bytes[8 * (8 + 5 * 4)];
    const double infinite = HUGE_VAL;
    const float not_a_number = nanf("");

    (void)state;
    assert_int_equal(dataset_init(&to, 20, 5, 8), ERR_OK);
    assert_int_equal(dataset_chunk_bytes(&from, 0), sizeof bytes);
    assert_int_equal(dataset_chunk_bytes(&from, 2), sizeof bytes / 2);
    dataset_chunk_encode(&from, 0, bytes);
    for (size_t size = 0; size < sizeof bytes; size += 9)
        assert_int_equal(dataset_chunk_decode(&to, 0, bytes, size), ERR_FORMAT);
    assert_int_equal(dataset_chunk_decode(&to, 3, bytes, sizeof bytes),
                     ERR_FORMAT);
    assert_int_equal(dataset_chunk_decode(&to, UINT32_MAX, bytes, sizeof bytes),
                     ERR_FORMAT);
    memcpy(bytes + 56, &infinite, sizeof infinite);
    assert_int_equal(dataset_chunk_decode(&to, 0, bytes, sizeof bytes),
                     ERR_FORMAT);
    dataset_chunk_encode(&from, 0, bytes);
    memcpy(bytes + sizeof bytes - 4, &not_a_number, sizeof not_a_number);
    assert_int_equal(dataset_chunk_decode(&to, 0, bytes, sizeof bytes),
                     ERR_FORMAT);
    assert_int_equal(to.present.members, 0);
    assert_true(to.y[0] == 0);
    dataset_close(&from);
    dataset_close(&to);
}

/* Values that every form holds: zeros and ones. */
static struct dataset sample(enum storage storage, bool weighted)
{
    const uint32_t rows = 50;
    const uint32_t cols = 21;
    struct dataset_shape shape = {.storage = storage,
                                  .rows = rows,
                                  .cols = cols,
                                  .chunk_rows = 8,
                                  .weighted = weighted};
    struct dataset data = {0};
    uint64_t entries = 0;

    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < cols; j++)
            entries += rng_at(9, i, j) % 5 == 0;
    shape.entries = entries;
    assert_int_equal(dataset_init_shape(&data, &shape), ERR_OK);
    entries = 0;
    for (uint32_t i = 0; i < rows; i++) {
        data.y[i] = i;
        if (weighted)
            data.weight[i] = 0.5 * i;
        for (uint32_t j = 0; j < cols; j++) {
            if (rng_at(9, i, j) % 5 != 0)
                continue;
            if (dataset_is_sparse(&data)) {
                data.column[entries] = j;
                if (data.value != NULL)
                    data.value[entries] = 1;
                entries++;
            } else {
                storage_put(storage, dataset_row(&data, i), j, 1);
            }
        }
        if (dataset_is_sparse(&data))
            data.begin[i + 1] = entries;
    }
    chunkset_fill(&data.present);
    return data;
}

static void assert_sample(const struct dataset *data)
{
    double row[21];

    for (uint32_t i = 0; i < data->rows; i++) {
        assert_true(data->y[i] == i);
        dataset_row_values(data, i, row);
        for (uint32_t j = 0; j < data->cols; j++)
            assert_true(row[j] == (rng_at(9, i, j) % 5 == 0 ? 1 : 0));
    }
}

/* Every form, shipped chunk by chunk in two orders, arrives as it was. */
static void test_every_storage_ships(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 2 * STORAGES; k++) {
        struct dataset from = sample((enum storage)(k / 2), k % 2 != 0);
        const struct dataset_shape shape = dataset_shape(&from);
        const uint32_t chunks = dataset_chunks(&from);
        const struct digest sent = dataset_digest(&from);
        struct dataset to = {0};
        struct digest received;

        assert_sample(&from);
        assert_int_equal(dataset_init_shape(&to, &shape), ERR_OK);
        for (uint32_t i = 0; i < chunks; i++) {
            const uint32_t chunk = (i * 3 + k) % chunks;

            assert_true(dataset_chunk_bytes(&from, chunk) <=
                        dataset_chunk_bytes_max(&to));
            ship(&from, &to, chunk);
        }
        assert_true(chunkset_full(&to.present));
        received = dataset_digest(&to);
        assert_true(digest_equal(&sent, &received));
        assert_sample(&to);
        dataset_close(&from);
        dataset_close(&to);
    }
}

/* A flipped byte anywhere gives a chunk that is refused or one that is within
 * bounds: never a column beyond the last or an offset out of place. */
static void test_flipped_bytes(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < STORAGES; k++) {
        struct dataset from = sample((enum storage)k, false);
        const struct dataset_shape shape = dataset_shape(&from);
        const size_t size = dataset_chunk_bytes(&from, 1);
        uint8_t *bytes = mem_new(size, 1);
        struct dataset to = {0};

        assert_non_null(bytes);
        assert_int_equal(dataset_init_shape(&to, &shape), ERR_OK);
        ship(&from, &to, 0);
        ship(&from, &to, 2);
        for (size_t at = 0; at < size * 8; at++) {
            enum err err;

            dataset_chunk_encode(&from, 1, bytes);
            bytes[at / 8] = (uint8_t)(bytes[at / 8] ^ 1u << at % 8);
            err = dataset_chunk_decode(&to, 1, bytes, size);
            assert_true(err == ERR_OK || err == ERR_FORMAT);
            if (err != ERR_OK)
                continue;
            if (dataset_is_sparse(&to)) {
                const struct sparse_rows rows = dataset_sparse_chunk(&to, 1);

                for (uint32_t i = 0; i < rows.rows; i++)
                    for (uint64_t e = rows.begin[i]; e < rows.begin[i + 1]; e++)
                        assert_true(e < to.entries && rows.column[e] < to.cols);
            }
            chunkset_remove(&to.present, 1);
        }
        mem_free(bytes);
        dataset_close(&from);
        dataset_close(&to);
    }
}

static void test_limits(void **state)
{
    struct dataset data = {0};

    (void)state;
    dataset_close(&data);
    assert_int_equal(dataset_init(&data, 0, 1, 1), ERR_SHAPE);
    assert_int_equal(dataset_init(&data, 1, 0, 1), ERR_SHAPE);
    assert_int_equal(dataset_init(&data, 1, 1, 0), ERR_SHAPE);
    assert_int_equal(dataset_init(&data, DATA_ROWS_MAX + 1, 1, 1), ERR_TOOBIG);
    assert_int_equal(dataset_init(&data, 1, DATA_COLS_MAX + 1, 1), ERR_TOOBIG);
    assert_int_equal(dataset_init(&data, 1 << 20, 1 << 20, 1 << 10),
                     ERR_TOOBIG);
    assert_int_equal(dataset_init(&data, CHUNKS_MAX + 1, 1, 1), ERR_TOOBIG);
    assert_null(data.x);
}

/* Rows in folds: a chunk has the same bytes whichever fold is left out, and
 * whoever decodes it leaves out the one that the shape names. */
static void test_folds_ship_alike(void **state)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        const struct dataset_shape shape = {.rows = 10,
                                            .cols = 3,
                                            .chunk_rows = 4,
                                            .weighted = weighted == 1,
                                            .folded = true,
                                            .without = 2};
        struct dataset from, to;
        uint8_t first[256], second[256];

        (void)state;
        assert_int_equal(dataset_init_shape(&from, &shape), ERR_OK);
        assert_int_equal(dataset_init_shape(&to, &shape), ERR_OK);
        chunkset_fill(&from.present);
        for (uint32_t row = 0; row < 10; row++) {
            from.fold[row] = row % 3;
            if (weighted == 1)
                from.given[row] = row + 2;
        }
        for (uint32_t chunk = 0; chunk < 3; chunk++) {
            const size_t size = dataset_chunk_bytes(&from, chunk);

            assert_true(size <= dataset_chunk_bytes_max(&from));
            dataset_leave_out(&from, 0);
            dataset_chunk_encode(&from, chunk, first);
            dataset_leave_out(&from, 1);
            dataset_chunk_encode(&from, chunk, second);
            assert_memory_equal(first, second, size);
            assert_int_equal(dataset_chunk_decode(&to, chunk, first, size - 1),
                             ERR_FORMAT);
            assert_int_equal(dataset_chunk_decode(&to, chunk, first, size),
                             ERR_OK);
            dataset_chunk_encode(&to, chunk, second);
            assert_memory_equal(first, second, size); /* For peers. */
        }
        assert_true(dataset_has_shape(&to, &shape));
        for (uint32_t without = 2; without < 3; without--) {
            for (uint32_t row = 0; row < 10; row++)
                assert_true(to.weight[row] == (row % 3 == without ? 0
                                               : weighted == 1    ? row + 2
                                                                  : 1));
            if (without > 0)
                dataset_leave_out(&to, without - 1);
        }
        dataset_close(&from);
        dataset_close(&to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_chunk_rows),
        cmocka_unit_test(test_chunks_tile_rows),
        cmocka_unit_test(test_shipping_keeps_digest),
        cmocka_unit_test(test_digest_sees_everything),
        cmocka_unit_test(test_bad_chunks),
        cmocka_unit_test(test_every_storage_ships),
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_folds_ship_alike),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
