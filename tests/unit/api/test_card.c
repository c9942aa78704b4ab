/*
 * The card that muster_save puts beside a model: what it says, whose place it
 * takes, and how it goes with a model that travels as a text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "muster.h"
#include "os/file/file.h"

#define MODEL "test_card.tmp"
#define CARD  MODEL ".card.json"
#define TEXT  MODEL ".card.txt"

static int clean(void **state)
{
    (void)state;
    (void)unlink(MODEL);
    (void)unlink(CARD);
    (void)unlink(TEXT);
    return 0;
}

static struct muster_model *fit(const char *rows, const char *key,
                                const char *text)
{
    struct muster_recipe *recipe = NULL;
    struct muster_data *data = NULL;
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(muster_recipe_new(&recipe, why), MUSTER_OK);
    assert_int_equal(muster_set(recipe, "steps", "4", why), MUSTER_OK);
    assert_int_equal(muster_set(recipe, key, text, why), MUSTER_OK);
    assert_int_equal(muster_data_file(rows, &data, why), MUSTER_OK);
    if (muster_fit(recipe, data, &model, why) != MUSTER_OK)
        fail_msg("%s", why);
    muster_data_free(data);
    muster_recipe_free(recipe);
    return model;
}

static void save(const struct muster_model *model)
{
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(muster_save(model, MODEL, why), MUSTER_OK);
    assert_string_equal(why, "");
}

/* NULL: there is none. */
static json_t *card(void)
{
    return json_load_file(CARD, 0, NULL);
}

static const char *word(json_t *of, const char *name)
{
    const char *const text = json_string_value(json_object_get(of, name));

    assert_non_null(text);
    return text;
}

static void assert_of_file(json_t *said)
{
    char hex[DIGEST_TEXT];
    struct digest sum;
    uint8_t *bytes;
    size_t size;

    assert_int_equal(file_read(MODEL, 1 << 20, &bytes, &size, NULL), ERR_OK);
    sum = hash_bytes(bytes, size);
    mem_free(bytes);
    assert_string_equal(word(said, "sha256"), digest_text(&sum, hex));
    assert_string_equal(word(said, "model"), MODEL);
}

/* The text, too, tells whose card it is, and one that is gone is no file. */
static void assert_text(const char *sum, const char *line)
{
    char begin[DIGEST_TEXT + 64];
    uint8_t *bytes;
    char *text;
    size_t size;

    assert_int_equal(file_read(TEXT, 1 << 20, &bytes, &size, NULL), ERR_OK);
    text = mem_new(size + 1, 1);
    assert_non_null(text);
    memcpy(text, bytes, size);
    (void)snprintf(begin, sizeof begin, "model card " MODEL "\nsha256     %s\n",
                   sum);
    assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
    assert_non_null(strstr(text, line));
    mem_free(text);
    mem_free(bytes);
}

static void test_says_what_is_known(void **state)
{
    struct muster_model *model = fit("gen:gmm:400,3", "optim", "gd");
    struct muster_model *workers = fit("gen:gmm:400,3", "n", "2");
    json_t *said, *data, *theirs;

    (void)state;
    save(model);
    said = card();
    data = json_object_get(said, "data");
    assert_of_file(said);
    assert_string_equal(word(said, "hash"), muster_hash(model));
    assert_string_equal(word(said, "muster"), muster_release());
    assert_string_equal(word(said, "kind"), "logistic");
    assert_string_equal(word(said, "code"), "plain");
    assert_string_equal(word(said, "end"), "steps");
    assert_string_equal(word(data, "source"), "gen:gmm:400,3");
    assert_null(json_object_get(data, "not_hashed"));
    assert_int_equal(json_integer_value(json_object_get(data, "rows")), 400);
    assert_int_equal(json_object_size(json_object_get(said, "options")), 3);
    assert_string_equal(word(json_object_get(said, "options"), "optim"), "gd");
    assert_true(json_object_size(json_object_get(said, "train_metrics")) > 0);
    assert_text(word(said, "sha256"),
                "\noptions    data gen:gmm:400,3, optim gd");
    save(workers);
    theirs = card();
    assert_of_file(theirs);
    assert_string_equal(word(theirs, "code"), "steal");
    assert_int_equal(json_integer_value(json_object_get(
                         json_object_get(theirs, "workers"), "joined")),
                     2);
    assert_int_equal(json_integer_value(json_object_get(
                         json_object_get(theirs, "exactness"), "bitwise")),
                     4);
    assert_string_equal(word(json_object_get(theirs, "data"), "hash"),
                        word(data, "hash"));
    json_decref(theirs);
    json_decref(said);
    muster_free(workers);
    muster_free(model);
}

/* To hash and judge many rows takes as long as some steps. */
static void test_many_rows_are_not_hashed(void **state)
{
    struct muster_model *model = fit("gen:gmm:60000,20", "optim", "gd");
    json_t *said, *data;

    (void)state;
    save(model);
    said = card();
    data = json_object_get(said, "data");
    assert_of_file(said);
    assert_int_equal(json_integer_value(json_object_get(data, "rows")), 60000);
    assert_true(json_is_null(json_object_get(data, "hash")));
    assert_non_null(strstr(word(data, "not_hashed"), "so many rows"));
    assert_true(json_is_null(json_object_get(said, "config_hash")));
    assert_int_equal(json_object_size(json_object_get(said, "train_metrics")),
                     0);
    assert_true(json_object_size(json_object_get(said, "test_metrics")) > 0);
    json_decref(said);
    muster_free(model);
}

/* Of a file that was loaded nothing is known but what its own card says. */
static void test_no_card_outlives_its_model(void **state)
{
    struct muster_model *model = fit("gen:gmm:400,3", "optim", "gd");
    struct muster_model *other = fit("gen:gmm:300,3", "optim", "gd");
    struct muster_model *loaded = NULL;
    json_t *said;

    (void)state;
    save(model);
    assert_int_equal(muster_load(MODEL, &loaded, NULL), MUSTER_OK);
    save(loaded);
    said = card();
    assert_of_file(said);
    json_decref(said);
    save(other);
    said = card();
    assert_of_file(said);
    json_decref(said);
    save(loaded);
    assert_null(card());
    assert_int_not_equal(access(TEXT, F_OK), 0);
    muster_free(loaded);
    muster_free(other);
    muster_free(model);
}

static void test_what_is_no_card_stays(void **state)
{
    static const char notes[] = "my notes";
    struct muster_model *model = fit("gen:gmm:400,3", "optim", "gd");
    struct muster_model *loaded = NULL;
    char why[MUSTER_WHY_SIZE];
    uint8_t *bytes;
    size_t size;

    (void)state;
    assert_int_equal(file_write_atomic(CARD, notes, sizeof notes, 0600, NULL),
                     ERR_OK);
    assert_int_equal(muster_save(model, MODEL, why), MUSTER_OK);
    assert_string_equal(why,
                        "the model is saved, but a card beside it is not: " CARD
                        " is there and is no card");
    assert_int_equal(muster_save(model, MODEL, NULL), MUSTER_OK);
    assert_int_equal(muster_load(MODEL, &loaded, NULL), MUSTER_OK);
    save(loaded);
    assert_int_equal(file_read(CARD, 99, &bytes, &size, NULL), ERR_OK);
    assert_memory_equal(bytes, notes, sizeof notes);
    mem_free(bytes);
    muster_free(loaded);
    muster_free(model);
}

static void test_has_the_mode_of_the_model(void **state)
{
    struct muster_model *model = fit("gen:gmm:400,3", "optim", "gd");
    struct stat info;

    (void)state;
    save(model);
    assert_int_equal(chmod(MODEL, 0600), 0);
    save(model);
    assert_int_equal(stat(CARD, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    muster_free(model);
}

/* A text does not hold it; with it goes what is known. */
static void test_travels_beside_a_text(void **state)
{
    struct muster_model *model = fit("gen:gmm:400,3", "optim", "gd");
    struct muster_model *other = fit("gen:gmm:300,3", "optim", "gd");
    struct muster_model *read = NULL;
    char why[MUSTER_WHY_SIZE], *text = NULL, *about = NULL, *again = NULL;
    size_t size = 0;
    json_t *said;

    (void)state;
    assert_int_equal(muster_write(model, &text, &size, why), MUSTER_OK);
    assert_int_equal(muster_card(model, &about, why), MUSTER_OK);
    assert_int_equal(muster_read(text, size, &read, why), MUSTER_OK);
    assert_int_equal(muster_card(read, &again, why), MUSTER_OK);
    assert_null(again);
    assert_int_equal(muster_set_card(other, about, why), MUSTER_BAD_OPTION);
    assert_string_equal(why, "the text is no model card, or that of another "
                             "model");
    assert_int_equal(muster_set_card(read, "{", why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_set_card(read, NULL, why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_set_card(NULL, about, why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_card(model, NULL, why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_set_card(read, about, why), MUSTER_OK);
    assert_int_equal(muster_card(read, &again, why), MUSTER_OK);
    assert_string_equal(again, about);
    save(read);
    said = card();
    assert_of_file(said);
    json_decref(said);
    muster_text_free(again);
    muster_text_free(about);
    muster_text_free(text);
    muster_free(read);
    muster_free(other);
    muster_free(model);
}

static void test_of_parts(void **state)
{
    struct muster_model *model = fit("gen:gmm:400,3", "model", "svm");
    const struct muster_model *three[] = {model, model, model};
    struct muster_model *one = NULL, *loaded = NULL;
    json_t *said, *part;

    (void)state;
    assert_int_equal(muster_one_against_rest(three, 3, &one, NULL), MUSTER_OK);
    save(one);
    said = card();
    assert_of_file(said);
    part = json_array_get(json_object_get(said, "parts"), 2);
    assert_string_equal(word(part, "hash"), muster_hash(model));
    assert_text(word(said, "sha256"), "\npart 3     muster ");
    json_decref(said);
    muster_free(one);
    save(model);
    assert_int_equal(muster_load(MODEL, &loaded, NULL), MUSTER_OK);
    three[1] = loaded;
    assert_int_equal(muster_one_against_rest(three, 3, &one, NULL), MUSTER_OK);
    save(one);
    assert_null(card());
    muster_free(one);
    muster_free(loaded);
    muster_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_says_what_is_known, clean, clean),
        cmocka_unit_test_setup_teardown(test_many_rows_are_not_hashed, clean,
                                        clean),
        cmocka_unit_test_setup_teardown(test_no_card_outlives_its_model, clean,
                                        clean),
        cmocka_unit_test_setup_teardown(test_what_is_no_card_stays, clean,
                                        clean),
        cmocka_unit_test_setup_teardown(test_has_the_mode_of_the_model, clean,
                                        clean),
        cmocka_unit_test_setup_teardown(test_travels_beside_a_text, clean,
                                        clean),
        cmocka_unit_test_setup_teardown(test_of_parts, clean, clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
