#include "wire/sample_msg.h"

#include <string.h>

#include "math/exact/exact.h"

static const struct sum_view view = {
    .group = 9,
    .number = 5,
    .least = 1,
    .members_max = 8,
    .size_max = 1024,
    .call = 11,
    .set = 3,
    .closed = true,
    .shape = {EXACT_F64, 2},
    .count = 2,
    .seats = {{"m1", "10.0.0.1:4001", 7}, {"m2", "10.0.0.2:4002", 8}},
};

struct sum_msg sample_sum(enum sum_kind kind, const double *values)
{
    struct sum_msg msg = {.kind = kind,
                          .version = SUM_VERSION,
                          .who = view.seats[0],
                          .group = 9,
                          .number = 4,
                          .call = 11,
                          .ballot = 258,
                          .state = {.committed = 10,
                                    .holds = true,
                                    .impatient = true,
                                    .given = 11,
                                    .shape = {EXACT_F64, 2},
                                    .links = 3,
                                    .accepted = 257},
                          .reason = "why"};

    if (kind == SUM_VIEW || kind == SUM_PROPOSE || kind == SUM_STATE)
        msg.view = &view;
    if (kind == SUM_SLICE || kind == SUM_PART) {
        msg.shape = (struct sum_shape){EXACT_F64, 2};
        msg.bytes = (const uint8_t *)values;
        msg.size = 2 * sizeof *values;
    }
    return msg;
}

static const double labels[] = {-1, 0.5, 3};
static const double sizes[SAMPLE_ROLL_DIMS] = {0, 1, 2.5, 3, 4, 5, 6, 1e300};
static const int16_t scales[3 * SAMPLE_ROLL_DIMS] = {-1022, 0, 7, 1022};
static const int64_t sums[3 * SAMPLE_ROLL_DIMS] = {0, 1, INT64_MAX};

struct roll_msg sample_roll(enum roll_kind kind)
{
    struct roll_msg msg = {.kind = kind};

    switch (kind) {
    case ROLL_OFFER:
    case ROLL_PEER:
        msg.offer = (struct roll_offer){.version = MSG_VERSION,
                                        .name = "h1",
                                        .rows = 100,
                                        .cols = 6,
                                        .height = 3,
                                        .width = 2,
                                        .channels = 1,
                                        .most = 200,
                                        .whole = true,
                                        .label_count = 3,
                                        .labels = (const uint8_t *)labels};
        msg.offer.part.bytes[3] = 9;
        msg.offer.columns.bytes[5] = 7;
        break;
    case ROLL_SCHEMA:
        msg.schema = (struct roll_schema){.known = true,
                                          .rows = 300,
                                          .cols = 7,
                                          .intercept = true,
                                          .chunk_rows = 64,
                                          .model = 2,
                                          .first = 1,
                                          .end = 3,
                                          .chunks = 5,
                                          .first_row = 64,
                                          .label_count = 3,
                                          .labels = (const uint8_t *)labels};
        break;
    case ROLL_SIZES:
        msg.sizes = (struct roll_sizes){.label = 1,
                                        .norm = 2,
                                        .weight = 1,
                                        .dims = SAMPLE_ROLL_DIMS,
                                        .x_max = (const uint8_t *)sizes};
        break;
    case ROLL_SCALES:
        msg.scales = (struct roll_scales){.dims = SAMPLE_ROLL_DIMS,
                                          .scale = (const uint8_t *)scales};
        break;
    case ROLL_SUMS:
        msg.sums = (struct roll_sums){.dims = SAMPLE_ROLL_DIMS,
                                      .sum = (const uint8_t *)sums};
        break;
    case ROLL_NO:
        (void)strcpy(msg.no.reason, "no room");
        break;
    case ROLL_PARTS:
        msg.parts = (struct roll_parts){.size = sizeof sums,
                                        .bytes = (const uint8_t *)sums};
        break;
    }
    return msg;
}
