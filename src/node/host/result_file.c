/*
 * result_file.c - serialisation of a coordinator's result for its supervisor: a
 * file, or shared memory where the disk is full.
 */
#include "node/host/result_file.h"

#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "os/file/file.h"
#include "os/file/memory_file.h"

#define RESULT_MAGIC UINT64_C(0x41544c5352545355) /* "USTRSLTA" */
#define OUTCOME_SIZE (1u + 7 * 8 + 3 * 4 + 2 + 2 * 4)
#define RESULT_HEAD  (8u + 4 + REASON_SIZE + 4 + 4 + 8 + OUTCOME_SIZE + 4)
#define RESULT_MAX                                                             \
    (RESULT_HEAD + sizeof(struct coordinator_stats) +                          \
     SUM_DIMS_MAX * sizeof(double) + DIGEST_BYTES)

static const char *const files[] = {RESULT_FILE};
const struct names result_names = NAMES_OF(files);

static size_t result_size(uint32_t dims)
{
    return RESULT_HEAD + sizeof(struct coordinator_stats) +
           dims * sizeof(double) + DIGEST_BYTES;
}

static void put_outcome(struct writer *out, const struct optim_outcome *outcome)
{
    put_u8(out, (uint8_t)outcome->end);
    put_f64(out, outcome->objective);
    put_f64(out, outcome->gradient_norm);
    put_f64(out, outcome->excess);
    put_f64(out, outcome->objective_first);
    put_f64(out, outcome->blank);
    put_f64(out, outcome->gain);
    put_f64(out, outcome->held_out);
    put_u32(out, outcome->held_out_step);
    put_u32(out, outcome->least_step);
    put_u32(out, outcome->best_step);
    put_u8(out, outcome->at_model);
    put_u8(out, outcome->doubtful);
    put_u32(out, outcome->hidden);
    put_u32(out, outcome->beside);
}

static struct optim_outcome get_outcome(struct reader *in)
{
    struct optim_outcome outcome;

    outcome.end = (enum optim_end)get_u8(in);
    outcome.objective = get_f64(in);
    outcome.gradient_norm = get_f64(in);
    outcome.excess = get_f64(in);
    outcome.objective_first = get_f64(in);
    outcome.blank = get_f64(in);
    outcome.gain = get_f64(in);
    outcome.held_out = get_f64(in);
    outcome.held_out_step = get_u32(in);
    outcome.least_step = get_u32(in);
    outcome.best_step = get_u32(in);
    outcome.at_model = get_u8(in) != 0;
    outcome.doubtful = get_u8(in) != 0;
    outcome.hidden = get_u32(in);
    outcome.beside = get_u32(in);
    return outcome;
}

static void result_encode(const struct run_result *result, struct writer *out)
{
    struct digest digest;

    put_u64(out, RESULT_MAGIC);
    put_u32(out, (uint32_t)result->err);
    put_bytes(out, result->reason, REASON_SIZE);
    put_u32(out, result->steps);
    put_u32(out, result->saved);
    put_u64(out, result->evaluations);
    put_outcome(out, &result->outcome);
    put_u32(out, result->dims);
    put_bytes(out, &result->stats, sizeof result->stats);
    for (uint32_t j = 0; j < result->dims; j++)
        put_f64(out, result->weights[j]);
    digest = hash_bytes(out->data, out->size);
    put_bytes(out, digest.bytes, DIGEST_BYTES);
    CHECK(out->ok && out->size == out->capacity);
}

enum err result_write(const char *folder, int spare,
                      const struct run_result *result, bool *on_disk,
                      struct why *why)
{
    const size_t size = result_size(result->dims);
    uint8_t *bytes = mem_new(size, 1);
    struct writer out = writer_on(bytes, size);
    char path[FILE_PATH_SIZE];
    enum err err = ERR_NOTFOUND;

    if (bytes == NULL)
        return ERR_NOMEM;
    result_encode(result, &out);
    if (folder != NULL) {
        file_path_in(folder, RESULT_FILE, path);
        err = file_write_atomic(path, bytes, size, 0600, why);
    }
    *on_disk = err == ERR_OK;
    if (err != ERR_OK && memory_file_write(spare, bytes, size) == ERR_OK)
        err = ERR_OK;
    mem_free(bytes);
    return err;
}

static enum err result_decode(struct reader *in, struct run_result *result)
{
    struct run_result made = {0};
    struct digest said, is;

    if (get_u64(in) != RESULT_MAGIC)
        return ERR_FORMAT;
    made.err = (enum err)get_u32(in);
    get_bytes(in, made.reason, REASON_SIZE);
    made.reason[REASON_SIZE - 1] = '\0';
    made.steps = get_u32(in);
    made.saved = get_u32(in);
    made.evaluations = get_u64(in);
    made.outcome = get_outcome(in);
    made.dims = get_u32(in);
    get_bytes(in, &made.stats, sizeof made.stats);
    if (!in->ok || made.dims > SUM_DIMS_MAX ||
        (unsigned)made.outcome.end > OPTIM_DIVERGED ||
        result_size(made.dims) != in->size)
        return ERR_FORMAT;
    made.weights = mem_new(made.dims, sizeof *made.weights);
    if (made.weights == NULL)
        return ERR_NOMEM;
    for (uint32_t j = 0; j < made.dims; j++)
        made.weights[j] = get_f64(in);
    is = hash_bytes(in->data, in->at);
    get_bytes(in, said.bytes, DIGEST_BYTES);
    if (!reader_done(in) || !digest_equal(&said, &is)) {
        mem_free(made.weights);
        return ERR_FORMAT;
    }
    *result = made;
    return ERR_OK;
}

enum err result_read(const char *folder, int spare, struct run_result *result,
                     struct why *why)
{
    char path[FILE_PATH_SIZE];
    uint8_t *bytes = NULL;
    size_t size = 0;
    struct reader in;
    enum err err;

    file_path_in(folder, RESULT_FILE, path);
    err = file_read_plain(path, RESULT_MAX, &bytes, &size, why);
    if (err != ERR_OK &&
        memory_file_read(spare, RESULT_MAX, &bytes, &size) == ERR_OK)
        err = ERR_OK;
    if (err != ERR_OK)
        return err;
    in = reader_on(bytes, size);
    err = result_decode(&in, result);
    mem_free(bytes);
    if (err != ERR_OK)
        return why_set(why, err, "%s: %s", path, err_text(err));
    return ERR_OK;
}

void result_remove(const char *folder)
{
    char path[FILE_PATH_SIZE];

    file_path_in(folder, RESULT_FILE, path);
    file_remove(path);
}
