#include "eval/small.h"

#include "base/check.h"

void small_open(struct small *small, uint32_t rows, uint32_t cols,
                uint32_t chunk_rows)
{
    float *x;

    *small = (struct small){0};
    CHECK(dataset_init(&small->data, rows, cols, chunk_rows) == ERR_OK);
    x = small->data.x;
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < cols; j++)
            x[(size_t)i * small->data.stride + j] =
                (float)((i * 7 + j * 3) % 11) / 8 - 0.5F;
        x[(size_t)i * small->data.stride + cols - 1] = 1;
        small->data.y[i] = i % 2 == 0 ? 1 : -1;
    }
    chunkset_fill(&small->data.present);
    small->problem = (struct problem){.data = &small->data,
                                      .model = model_ops(MODEL_LOGISTIC),
                                      .isa = isa_best(),
                                      .outputs = 1};
    small->subject = subject_of(&small->problem);
    small->shelf = (struct shelf){.data = &small->data, .isa = isa_best()};
}

void small_close(struct small *small)
{
    dataset_close(&small->data);
}

double small_x(const struct small *small, uint32_t i, uint32_t j)
{
    const float *x = small->data.x;

    return (double)x[(size_t)i * small->data.stride + j];
}
