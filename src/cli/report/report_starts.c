/*
 * report_starts.c - what the histories of a run's starts say together: how long
 * all of them took, what each worker did in them, and of which steps nothing
 * was kept, since `muster train` was killed before it wrote them down.
 */
#include "cli/report/report_starts.h"

#include <string.h>

#include "cli/report/report_hindsight.h"

void report_starts_init(struct report_starts *starts)
{
    *starts =
        (struct report_starts){.times = json_array(), .gaps = json_array()};
}

/* Counts and seconds add up; of the others, the newest that is known. */
static void add_worker(json_t *sum, json_t *worker)
{
    const char *key;
    json_t *value;

    json_object_foreach(worker, key, value)
    {
        const json_t *const old = json_object_get(sum, key);

        if (json_is_null(value))
            continue;
        if (!json_is_number(old) || strcmp(key, "round_trip_s") == 0)
            (void)json_object_set(sum, key, value);
        else if (json_is_integer(value))
            (void)json_object_set_new(sum, key,
                                      json_integer(json_integer_value(old) +
                                                   json_integer_value(value)));
        else
            (void)json_object_set_new(
                sum, key,
                json_real(json_number_value(old) + json_number_value(value)));
    }
}

static void add_times(json_t *times, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *const worker = json_array_get(list, i);
        const json_t *const name = json_object_get(worker, "name");
        size_t at = 0;

        while (at < json_array_size(times) &&
               !json_equal(json_object_get(json_array_get(times, at), "name"),
                           name))
            at++;
        if (at == json_array_size(times))
            (void)json_array_append_new(times, json_object());
        add_worker(json_array_get(times, at), worker);
    }
}

/* One in `stride` was kept of those up to `end`. */
static void find_gap(struct report_starts *starts, json_int_t end)
{
    if (starts->stride > 0 && end - starts->last >= starts->stride)
        (void)json_array_append_new(starts->gaps,
                                    json_pack("[I, I]", starts->last + 1, end));
}

void report_starts_add(struct report_starts *starts, const json_t *part)
{
    const json_t *const result = json_object_get(part, "result");
    const json_t *const steps = json_object_get(part, "steps");
    const size_t count = json_array_size(steps);
    const json_t *const last = json_array_get(steps, count - 1);
    const bool ended = json_is_object(result);

    starts->count++;
    starts->killed += !ended;
    starts->elapsed_s +=
        ended ? json_number_value(json_object_get(result, "elapsed_s"))
              : (double)(report_whole(last, "at_us") +
                         report_whole(last, "took_us")) /
                    1e6;
    add_times(starts->times, json_object_get(result, "worker_times"));
    if (count > 0) {
        find_gap(starts, report_whole(json_array_get(steps, 0), "step") - 1);
        starts->last = report_whole(last, "step");
    }
    if (count > 0 || ended)
        starts->stride = ended ? 0 : report_whole(part, "stride");
}

void report_starts_end(struct report_starts *starts, json_int_t last_step,
                       json_t *data)
{
    find_gap(starts, last_step);
    (void)json_object_set_new(
        data, "starts",
        json_pack("{s:I, s:I, s:f, s:o, s:o}", "count", starts->count, "killed",
                  starts->killed, "elapsed_s", starts->elapsed_s,
                  "worker_times", starts->times, "gaps", starts->gaps));
}
