/*
 * A line with the shape of an image, then any text as a network: a network or
 * a sentence.  Its tensors must fill its parameters in order, torch's order of
 * them must lose no number, and a small one must say something of an image.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "data/rows/image.h"
#include "math/isa.h"
#include "model/net/neural_model.h"
#include "model/net/work.h"

enum { TEXT_MAX = 1 << 12, SMALL = 1 << 12 };

static void check_tensors(const struct neural *net)
{
    float *const all = mem_new(net->parameters, sizeof *all);
    float *const torch = mem_new(net->parameters, sizeof *torch);
    float *const back = mem_new(net->parameters, sizeof *back);
    size_t end = 0;

    FUZZ_REQUIRE(all != NULL && torch != NULL && back != NULL);
    for (size_t i = 0; i < net->parameters; i++)
        all[i] = (float)(i + 1);
    for (uint32_t t = 0; t < net->tensor_count; t++) {
        const struct neural_torch shown = neural_torch(net, t);
        size_t numbers = 1;

        for (uint32_t i = 0; i < shown.rank; i++)
            numbers *= shown.shape[i];
        FUZZ_REQUIRE(net->tensors[t].first == end);
        FUZZ_REQUIRE(net->tensors[t].count == numbers);
        end += numbers;
        neural_torch_out(net, t, all, torch);
        neural_torch_in(net, t, torch, back);
    }
    FUZZ_REQUIRE(end == net->parameters);
    FUZZ_REQUIRE(memcmp(all, back, end * sizeof *all) == 0);
    mem_free(all);
    mem_free(torch);
    mem_free(back);
}

static void check_scores(const struct neural *net)
{
    const size_t outputs = neural_floats(&net->out);
    float *const x = mem_new(neural_floats(&net->in), sizeof *x);
    float *const scores = mem_new(outputs, sizeof *scores);
    float *const parameters = mem_new(net->parameters, sizeof *parameters);
    struct neural_work *work = NULL;
    struct why why = {0};

    FUZZ_REQUIRE(x != NULL && scores != NULL && parameters != NULL);
    neural_draw(net, 1, parameters);
    for (size_t i = 0; i < neural_floats(&net->in); i++)
        x[i] = (float)(i % 7) / 7;
    FUZZ_REQUIRE(neural_work_new(net, 1, 1, isa_best(), pool_serial(), &work,
                                 &why) == ERR_OK);
    FUZZ_REQUIRE(neural_work_load(work, parameters) == ERR_OK);
    if (neural_work_scores(work, x, 1, scores) == ERR_OK)
        for (size_t k = 0; k < outputs; k++)
            FUZZ_REQUIRE(isfinite(scores[k]));
    neural_work_free(work);
    mem_free(x);
    mem_free(scores);
    mem_free(parameters);
}

/* Its layers' numbers add up to what a search can afford. */
static bool small(const struct neural *net)
{
    return net->parameters <= SMALL && neural_flops(net) <= SMALL * 16 &&
           neural_floats(&net->in) <= SMALL && net->layer_count <= 32;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1] = "";
    const struct neural_units units = neural_units(1);
    struct neural_shape shape = {28, 28, 1};
    struct image image;
    struct neural_model model = {0};
    struct why why = {0};
    char *feed;
    enum err err;

    if (size > TEXT_MAX)
        return 0;
    memcpy(text, data, size);
    feed = strchr(text, '\n');
    if (feed == NULL)
        return 0;
    *feed = '\0';
    if (image_parse(text, &image, NULL) == ERR_OK)
        shape =
            (struct neural_shape){image.height, image.width, image.channels};
    err = neural_model_init(&model, feed + 1, &shape, NEURAL_SOFTMAX, &units,
                            &why);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    if (err == ERR_OK) {
        fuzz_reached = true;
        FUZZ_REQUIRE(model.neural.parameters <= NEURAL_FLOATS_MAX);
        if (small(&model.neural)) {
            check_tensors(&model.neural);
            check_scores(&model.neural);
        }
    }
    neural_model_close(&model);
    return 0;
}
