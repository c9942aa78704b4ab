/*
 * why_slow.c - a coordinator's members as node/host/suspects.h looks at them.
 */
#include "node/star/why_slow.h"

#include "base/mem.h"
#include "node/host/suspects.h"
#include "node/star/status.h"

static uint32_t list_members(const struct coordinator *c, time_us now,
                             why_deaf deaf, void *context, struct suspect *all)
{
    uint32_t count = 0;

    for (uint32_t link = 0; link < c->members_max; link++) {
        const struct member *const member = &c->members[link];
        const char *unused;

        if (member->state == MEMBER_NONE)
            continue;
        all[count++] = (struct suspect){
            .name = member->name,
            .state = status_state_name(member),
            .behind_s = status_behind(c, member, now, &unused),
            .slow = &member->slow,
            .silent = member->suspect,
            .silent_us = now - member_heard_at(c, member),
            .deaf_us = member->suspect ? deaf(context, link) : 0,
            .relay = member->via > 0 ? member_relay(c, member) : NULL,
            .hushed = member->hushed};
    }
    return count;
}

json_t *why_slow_json(const struct coordinator *coordinator, time_us now,
                      why_deaf deaf, void *context, size_t capacity)
{
    const struct coordinator *c = coordinator;
    struct suspect *all = mem_new(c->members_max, sizeof *all);
    json_t *answer = NULL;
    json_t *workers;
    json_int_t more;
    uint32_t count;

    if (all == NULL)
        return NULL;
    count = list_members(c, now, deaf, context, all);
    if (suspects_judge(all, count) == ERR_OK) {
        workers = suspects_json(all, count, capacity, &more);
        answer = json_pack("{s:I, s:I, s:s, s:I, s:o, s:I}", "step",
                           (json_int_t)c->trainer.optim.step, "steps",
                           (json_int_t)c->options.optim.steps, "phase",
                           coordinator_phase_name(c->phase), "needed",
                           (json_int_t)c->segments.waits_for, "workers",
                           workers, "more", more);
    }
    mem_free(all);
    return answer;
}
