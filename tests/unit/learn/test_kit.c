/*
 * A kit gives a setup without a recipe what the one that made it had; no part
 * of its bytes is enough, and no changed byte does harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "learn/ring/kit.h"

enum { ROWS = 5, COLS = 3, VALID = 3 };

static void fill(struct dataset *data, uint32_t rows)
{
    assert_int_equal(dataset_init(data, rows, COLS, 2), ERR_OK);
    chunkset_fill(&data->present);
    for (uint32_t i = 0; i < rows; i++)
        data->y[i] = i % 2 == 0 ? -1 : 1;
}

static void make(struct setup *setup)
{
    static const double labels[] = {3, 8};

    *setup = (struct setup){.loaded = true,
                            .model = MODEL_LOGISTIC,
                            .intercept = true,
                            .shown_factor = 2,
                            .has_valid = true,
                            .optim = {.held_out = true}};
    fill(&setup->data, ROWS);
    fill(&setup->valid, VALID);
    assert_int_equal(dataset_set_labels(&setup->data, labels, 2), ERR_OK);
}

/* Into one that has rows alone. */
static enum err take(const uint8_t *bytes, size_t size, struct setup *setup)
{
    *setup = (struct setup){.loaded = true};
    fill(&setup->data, ROWS);
    return kit_take(bytes, size, setup);
}

static void test_there_and_back(void **state)
{
    struct setup setup, taken;
    struct digest was, is;
    uint8_t *kit = NULL;
    size_t size = 0;

    (void)state;
    make(&setup);
    assert_int_equal(kit_make(&setup, &kit, &size), ERR_OK);
    assert_int_equal(take(kit, size, &taken), ERR_OK);
    assert_int_equal(taken.model, MODEL_LOGISTIC);
    assert_true(taken.intercept && taken.has_valid);
    assert_true(taken.shown_factor == 2);
    assert_int_equal(taken.data.classes, 2);
    assert_true(taken.data.label[0] == 3 && taken.data.label[1] == 8);
    was = dataset_digest(&setup.data);
    is = dataset_digest(&taken.data);
    assert_true(digest_equal(&was, &is));
    assert_int_equal(taken.valid.rows, VALID);
    assert_memory_equal(taken.valid.y, setup.valid.y,
                        VALID * sizeof *taken.valid.y);
    setup_close(&taken);
    for (size_t part = 0; part < size; part++) {
        assert_int_equal(take(kit, part, &taken), ERR_FORMAT);
        setup_close(&taken);
    }
    for (size_t at = 0; at < size; at++) {
        kit[at] ^= 0x41;
        (void)!take(kit, size, &taken); /* Whatever it says. */
        setup_close(&taken);
        kit[at] ^= 0x41;
    }
    mem_free(kit);
    setup_close(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
