/* Whoever computes one bit otherwise, of any part, is refused with a sentence.
 */
#include "node/arithmetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/link/greeting.h"
#include "core/msg.h"

static void test_parts_hold(void **state)
{
    struct golden_part parts[ARITHMETIC_PARTS_MAX];
    const size_t count = arithmetic_parts(parts);
    const enum isa best = isa_best();
    struct why why = {{0}};
    char text[DIGEST_TEXT];

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct digest ref = parts[i].compute(NULL);

        print_message("# %s %s\n", parts[i].profile, digest_text(&ref, text));
    }
    for (unsigned i = 0; i < ISAS; i++) {
        if (!isa_runs((enum isa)i))
            continue;
        assert_int_equal(isa_choose(isa_name((enum isa)i), &why), ERR_OK);
        assert_int_equal(arithmetic_check((enum isa)i, &why), ERR_OK);
    }
    assert_int_equal(isa_choose(isa_name(best), &why), ERR_OK);
}

/* A release whose csr sums, say, have another bit has another golden vector;
 * one that gave them a new name has another name. */
static void test_other_bits_are_refused(void **state)
{
    struct golden_part parts[ARITHMETIC_PARTS_MAX];
    const size_t count = arithmetic_parts(parts);
    const struct digest ours = arithmetic_digest();
    struct digest theirs = arithmetic_digest_of(parts, count);

    (void)state;
    assert_null(greeting_objection(MSG_VERSION, &theirs, &ours));
    for (size_t i = 0; i < count; i++) {
        const struct golden_part part = parts[i];
        char flipped[DIGEST_TEXT];

        memcpy(flipped, part.expected, sizeof flipped);
        flipped[63] ^= 1;
        parts[i].expected = flipped;
        theirs = arithmetic_digest_of(parts, count);
        assert_non_null(strstr(greeting_objection(MSG_VERSION, &theirs, &ours),
                               "computes other bits"));
        parts[i] = part;
        parts[i].profile = "another";
        theirs = arithmetic_digest_of(parts, count);
        assert_non_null(greeting_objection(MSG_VERSION, &theirs, &ours));
        parts[i] = part;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_hold),
        cmocka_unit_test(test_other_bits_are_refused),
    };

    return cmocka_run_group_tests_name("node/arithmetic", tests, NULL, NULL);
}
