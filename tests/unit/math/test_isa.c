/* --isa holds for what is not told an instruction set: vectors and tallies. */
#include "math/isa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "math/exact/pack.h"
#include "math/exact/tally.h"
#include "math/vec.h"

#define DIMS 1531u /* Not a multiple of any vector; more than one block. */

struct answers {
    double dot, largest, gradient[DIMS], step[DIMS], back[DIMS];
    struct digest tally;
    uint8_t packed[DIMS * 9 + 1024];
    size_t size;
    bool finite;
};

static void compute(struct answers *out)
{
    static double a[DIMS], b[DIMS];
    int16_t exponent[DIMS + 1];
    struct tally tally, other;
    struct rng rng;

    memset(out, 0, sizeof *out);
    rng_init(&rng, 3);
    for (uint32_t j = 0; j < DIMS; j++) {
        a[j] = rng_unit(&rng) - .5;
        b[j] = rng_unit(&rng) * 8 - 4;
        exponent[j] = (int16_t)(30 + j % 7);
    }
    exponent[DIMS] = 40;
    out->dot = vec_dot(a, b, DIMS);
    out->largest = vec_largest(b, DIMS);
    out->finite = vec_finite(a, DIMS);
    vec_measure(a, 3, .1, b, DIMS, out->gradient);
    memcpy(out->step, b, sizeof b);
    vec_descend(.9, .01, a, DIMS, out->step);

    assert_int_equal(tally_init(&tally, DIMS, 4), ERR_OK);
    assert_int_equal(tally_init(&other, DIMS, 4), ERR_OK);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(
            tally_add_chunk(&tally, k, k % 2 == 0 ? a : b, .5, exponent),
            ERR_OK);
    assert_int_equal(tally_add_chunk(&other, 3, b, .25, exponent), ERR_OK);
    assert_int_equal(tally_merge(&tally, &other), ERR_OK);
    assert_true(tally_in_bound(&tally));
    assert_true(tally_gradient(&tally, exponent, out->back));
    out->tally = tally_digest(&tally);
    assert_true(pack_bound(DIMS) <= sizeof out->packed);
    out->size = pack_i64(tally.sum, DIMS, out->packed);
    memset(out->packed + out->size, 0, sizeof out->packed - out->size);
    tally_close(&tally);
    tally_close(&other);
}

static void test_same_bits(void **state)
{
    static struct answers want, got;
    const enum isa best = isa_best();
    struct why why;

    (void)state;
    compute(&want);
    for (unsigned i = 0; i < ISAS; i++) {
        if (!isa_runs((enum isa)i))
            continue;
        assert_int_equal(isa_choose(isa_name((enum isa)i), &why), ERR_OK);
        assert_int_equal(isa_best(), i);
        compute(&got);
        assert_memory_equal(&got, &want, sizeof got);
    }
    assert_int_equal(isa_choose(isa_name(best), &why), ERR_OK);
}

static void test_refused(void **state)
{
    const enum isa best = isa_best();
    struct why why = {0};

    (void)state;
    assert_int_equal(isa_choose("sse9", &why), ERR_UNKNOWN);
    assert_non_null(strstr(why.text, "portable, avx2 and avx512"));
    assert_int_equal(isa_choose(NULL, &why), ERR_OK);
    assert_int_equal(isa_best(), best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
