/*
 * Whose the card beside a model is.
 */
#include "learn/card/model_card.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/file/file.h"

/* A model that cannot be read has no sum that would be another's. */
static void test_only_a_sum_tells_another_model(void **state)
{
    char folder[] = "card-XXXXXX";
    char model[64], card[80];
    static const char text[] = "{\"model_card\": 1, \"sha256\": \"77\"}";
    bool other = false;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(model, sizeof model, "%s/m", folder);
    (void)snprintf(card, sizeof card, "%s.card.json", model);
    assert_int_equal(file_write_atomic(card, text, sizeof text - 1, 0600, NULL),
                     ERR_OK);
    assert_null(model_card_read(model, &other));
    assert_false(other);
    assert_int_equal(file_write_atomic(model, "1\n", 2, 0600, NULL), ERR_OK);
    assert_null(model_card_read(model, &other));
    assert_true(other);
    file_remove(card);
    file_remove(model);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_a_sum_tells_another_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
