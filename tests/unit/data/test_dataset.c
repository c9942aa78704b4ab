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
#include "data/dataset.h"

static struct dataset random_data(uint32_t rows, uint32_t cols,
                                  uint32_t chunk_rows, uint64_t seed)
{
    struct dataset data = {0};

    assert_int_equal(dataset_init(&data, rows, cols, chunk_rows), ERR_OK);
    for (uint32_t i = 0; i < rows; i++) {
        data.y[i] = rng_normal_at(seed, i, cols);
        for (uint32_t j = 0; j < cols; j++)
            data.x[(size_t)i * data.stride + j] =
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

                assert_ptr_equal(chunk.x, data.x + seen * data.stride);
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
    struct dataset data = random_data(20, 5, 8, 2);
    const struct digest before = dataset_digest(&data);
    struct digest after;

    (void)state;
    data.y[19] += 1;
    after = dataset_digest(&data);
    assert_false(digest_equal(&before, &after));
    data.y[19] -= 1;
    data.x[19 * 8 + 4] = -data.x[19 * 8 + 4];
    after = dataset_digest(&data);
    assert_false(digest_equal(&before, &after));
    data.x[19 * 8 + 4] = -data.x[19 * 8 + 4];
    data.label[1] = 3;
    after = dataset_digest(&data);
    assert_false(digest_equal(&before, &after));
    data.label[1] = 0;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_chunk_rows),
        cmocka_unit_test(test_chunks_tile_rows),
        cmocka_unit_test(test_shipping_keeps_digest),
        cmocka_unit_test(test_digest_sees_everything),
        cmocka_unit_test(test_bad_chunks),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
