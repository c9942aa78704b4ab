/*
 * status.c - JSON by hand, because it must fit a message of fixed size.
 *
 * All texts are ours or names of [A-Za-z0-9._-], so nothing needs escaping.
 */
#include "node/star/status.h"

#include <inttypes.h>
#include <math.h>

#include "base/check.h"
#include "node/host/text.h"

#define TAIL_BYTES   64u  /* `],"more":N}` */
#define WORKER_BYTES 400u /* The most one worker takes. */

/* JSON has no NaN. */
static void add_number(struct text *text, const char *name, double value)
{
    if (isfinite(value))
        text_add(text, "\"%s\":%.17g,", name, value);
    else
        text_add(text, "\"%s\":null,", name);
}

const char *coordinator_phase_name(enum coordinator_phase phase)
{
    switch (phase) {
    case COORDINATOR_GATHERING:
        return "gathering";
    case COORDINATOR_VIEWING:
        return "viewing";
    case COORDINATOR_ROUND:
        return "round";
    case COORDINATOR_COMMITTING:
        return "committing";
    case COORDINATOR_DONE:
        return "done";
    case COORDINATOR_FAILED:
        return "failed";
    }
    return "unknown";
}

const char *status_state_name(const struct member *member)
{
    if (member->suspect)
        return "suspect";
    return member->state == MEMBER_ACTIVE ? "active" : "ready";
}

double status_behind(const struct coordinator *c, const struct member *member,
                     time_us now, const char **cause)
{
    const time_us silence = now - member_heard_at(c, member);

    *cause = "";
    if (member->suspect) {
        *cause = "silent";
        return (double)silence / (double)SECOND_US;
    }
    if (c->phase != COORDINATOR_ROUND || member->outstanding == 0)
        return 0;
    *cause = "computing";
    return (double)(now - c->step_began_at) / (double)SECOND_US;
}

static void add_worker(struct text *text, const struct coordinator *c,
                       const struct member *member, time_us now, bool first)
{
    const char *cause;
    const double behind_s = status_behind(c, member, now, &cause);

    text_add(text, "%s{\"name\":\"%s\",\"state\":\"%s\",", first ? "" : ",",
             member->name, status_state_name(member));
    add_number(text, "behind_s", behind_s);
    text_add(text, "\"cause\":\"%s\",", cause);
    if (member->via > 0)
        text_add(text, "\"relay\":\"%s\",", member_relay(c, member));
    if (member->state == MEMBER_ACTIVE)
        text_add(text, "\"slot\":%" PRIu32 ",", member->slot);
    text_add(text, "\"pid\":%" PRIu32 ",\"answers\":%" PRIu32 "}", member->pid,
             member->answers);
}

size_t status_json(const struct coordinator *coordinator, time_us now,
                   char *text, size_t capacity)
{
    const struct coordinator *c = coordinator;
    struct text out = {.capacity = capacity};
    uint32_t shown = 0, more = 0;

    CHECK(capacity >= 1024);
    out.to = text;
    text_add(&out, "{\"step\":%" PRIu32 ",\"steps\":%" PRIu32 ",",
             c->trainer.optim.step, c->options.optim.steps);
    add_number(&out, "objective", c->trainer.optim.objective);
    text_add(&out, "\"phase\":\"%s\",\"code\":\"%.31s\",\"view\":%" PRIu64 ",",
             coordinator_phase_name(c->phase),
             c->code_built ? c->code.spec.name : c->options.code.name, c->view);
    text_add(&out, "\"workers\":[");
    for (uint32_t link = 0; link < c->members_max; link++) {
        const struct member *member = &c->members[link];

        if (member->state == MEMBER_NONE)
            continue;
        if (capacity - out.size < WORKER_BYTES + TAIL_BYTES) {
            more++;
            continue;
        }
        add_worker(&out, c, member, now, shown++ == 0);
    }
    text_add(&out, "],\"more\":%" PRIu32 "}", more);
    return out.size;
}
