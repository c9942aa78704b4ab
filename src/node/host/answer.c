/*
 * answer.c - what a run says of itself, as JSON that fits a message.
 */
#include "node/host/answer.h"

#include <math.h>
#include <string.h>

#include "base/check.h"

#define STYLE (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17))
/* Of an answer, beside its list. */
#define HEAD_BYTES 512u

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

struct answer_list answer_list_new(size_t capacity)
{
    CHECK(capacity > HEAD_BYTES);
    return (struct answer_list){.entries = json_array(),
                                .room = capacity - HEAD_BYTES};
}

void answer_list_add(struct answer_list *list, json_t *entry)
{
    const size_t size = json_dumpb(entry, NULL, 0, STYLE) + 1;

    if (list->more > 0 || size > list->room) {
        json_decref(entry);
        list->more++;
        return;
    }
    list->room -= size;
    (void)json_array_append_new(list->entries, entry);
}

json_t *answer_not_allowed(const char *verb)
{
    return json_pack("{s:o}", "error",
                     json_sprintf("only the cluster token may %s a run; give "
                                  "that one with --token-file",
                                  verb));
}

json_t *answer_stop(bool allowed, uint32_t step)
{
    if (!allowed)
        return answer_not_allowed("stop");
    return json_pack("{s:b, s:i}", "stopping", true, "step", (int)step);
}

size_t answer_write(json_t *answer, char *text, size_t capacity)
{
    static const char none[] =
        "{\"error\":\"the coordinator is out of memory\"}";
    const size_t size =
        answer == NULL ? 0 : json_dumpb(answer, text, capacity, STYLE);

    json_decref(answer);
    if (size > 0 && size <= capacity)
        return size;
    CHECK(capacity >= sizeof none);
    memcpy(text, none, sizeof none - 1);
    return sizeof none - 1;
}
