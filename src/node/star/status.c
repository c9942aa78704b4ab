/*
 * status.c - the coordinator's state, and who is in it.
 */
#include "node/star/status.h"

#include "node/host/answer.h"

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
    return (double)(now - c->round_began_at) / (double)SECOND_US;
}

static json_t *worker_json(const struct coordinator *c,
                           const struct member *member, time_us now)
{
    const char *cause;
    const double behind_s = status_behind(c, member, now, &cause);

    return json_pack(
        "{s:s, s:s, s:o, s:s, s:s*, s:o*, s:I, s:I}", "name", member->name,
        "state", status_state_name(member), "behind_s", json_number(behind_s),
        "cause", cause, "relay",
        member->via > 0 ? member_relay(c, member) : NULL, "slot",
        member->state == MEMBER_ACTIVE ? json_integer(member->slot) : NULL,
        "pid", (json_int_t)member->pid, "answers", (json_int_t)member->answers);
}

json_t *status_json(const struct coordinator *coordinator, time_us now,
                    size_t capacity)
{
    const struct coordinator *c = coordinator;
    const struct size_change *next = coordinator_next_size(c);
    const double size = coordinator_size(c);
    struct answer_list workers = answer_list_new(capacity);

    for (uint32_t link = 0; link < c->members_max; link++) {
        if (c->members[link].state != MEMBER_NONE)
            answer_list_add(&workers, worker_json(c, &c->members[link], now));
    }
    return json_pack(
        "{s:I, s:I, s:o, s:s, s:I, s:s, s:o*, s:o*, s:o*, s:I, "
        "s:o, s:I, s:I}",
        "step", (json_int_t)c->trainer.optim.step, "steps",
        (json_int_t)c->options.optim.steps, "objective",
        json_number(c->trainer.optim.objective), "phase",
        coordinator_phase_name(c->phase), "needed",
        (json_int_t)c->segments.waits_for, "code",
        c->code_built ? c->code.spec.name : c->options.code.name, "size",
        size > 0 ? json_real(size) : NULL, "next_size",
        next != NULL ? json_real(next->size) : NULL, "next_size_step",
        next != NULL ? json_integer(next->step) : NULL, "view",
        (json_int_t)c->view, "workers", workers.entries, "more",
        (json_int_t)workers.more, "died", (json_int_t)c->stats.died);
}
