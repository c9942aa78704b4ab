/*
 * relay_leaves.c - who is behind a relay, and what each still owes.
 *
 * A leaf's number, by which those above call it, is its index here and a
 * generation: a number that was given once is not given again for long.
 */
#include "base/check.h"
#include "core/relay/relay_parts.h"

#define INDEX_BITS  14u /* Of a leaf's number; the rest is a generation. */
#define INDEX_MASK  ((1u << INDEX_BITS) - 1)
#define GENERATIONS ((1u << (32 - INDEX_BITS)) - 1)

struct msg *relay_send(struct actions *actions, uint32_t link, uint32_t leaf,
                       enum msg_kind kind)
{
    struct action *action = actions_add(actions, ACTION_SEND);

    action->link = link;
    action->msg.kind = kind;
    action->msg.leaf = leaf;
    return &action->msg;
}

void relay_pass(struct actions *actions, const struct msg *msg, uint32_t link,
                uint32_t leaf)
{
    struct action *action = actions_add(actions, ACTION_SEND);

    action->link = link;
    action->msg = *msg;
    action->msg.leaf = leaf;
}

uint32_t relay_leaves(const struct relay *relay)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < relay->options.leaves_max; i++)
        count += relay->leaves[i].number != 0;
    return count;
}

struct relay_leaf *relay_leaf_numbered(struct relay *relay, uint32_t number)
{
    const uint32_t index = number & INDEX_MASK;

    if (number == 0 || index >= relay->options.leaves_max ||
        relay->leaves[index].number != number)
        return NULL;
    return &relay->leaves[index];
}

uint32_t relay_leaf_index(const struct relay *relay,
                          const struct relay_leaf *leaf)
{
    return (uint32_t)(leaf - relay->leaves);
}

struct relay_leaf *relay_leaf_on(struct relay *relay, uint32_t link,
                                 uint32_t sub)
{
    const uint32_t direct = relay->links[link].leaf;

    if (sub == 0 && direct == 0)
        return NULL;
    if (sub == 0) {
        CHECK(relay->leaves[direct - 1].number != 0);
        return &relay->leaves[direct - 1];
    }
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        struct relay_leaf *leaf = &relay->leaves[i];

        if (leaf->number != 0 && leaf->link == link && leaf->sub == sub)
            return leaf;
    }
    return NULL;
}

struct relay_leaf *relay_leaf_new(struct relay *relay, uint32_t link,
                                  uint32_t sub)
{
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        struct relay_leaf *leaf = &relay->leaves[i];

        if (leaf->number != 0)
            continue;
        relay->generation = relay->generation % GENERATIONS + 1;
        *leaf = (struct relay_leaf){
            .number = relay->generation << INDEX_BITS | i,
            .link = link,
            .sub = sub,
        };
        if (sub == 0)
            relay->links[link].leaf = i + 1;
        vigil_join(&relay->vigil, i, sub == 0 ? 0 : link + 1, &relay->job,
                   relay->now);
        return leaf;
    }
    return NULL;
}

void relay_leaf_owes(struct relay *relay, struct relay_leaf *leaf,
                     uint32_t owes)
{
    CHECK(relay->owed >= leaf->owes);
    relay->owed += owes - leaf->owes;
    leaf->owes = owes;
}

void relay_leaf_answered(struct relay *relay, struct relay_leaf *leaf)
{
    if (leaf->owes > 0)
        relay_leaf_owes(relay, leaf, leaf->owes - 1);
}

void relay_leaf_free(struct relay *relay, struct relay_leaf *leaf,
                     struct actions *actions)
{
    relay_leaf_owes(relay, leaf, 0);
    if (leaf->sub == 0)
        relay->links[leaf->link].leaf = 0;
    vigil_leave(&relay->vigil, relay_leaf_index(relay, leaf));
    *leaf = (struct relay_leaf){0};
    relay_flush_complete(relay, actions);
}

void relay_leaf_dismiss(struct relay *relay, struct relay_leaf *leaf,
                        struct actions *actions)
{
    if (leaf->sub != 0)
        (void)relay_send(actions, leaf->link, leaf->sub, MSG_GONE);
    else
        actions_add(actions, ACTION_CLOSE)->link = leaf->link;
    relay_leaf_free(relay, leaf, actions);
}

void relay_leaf_lost(struct relay *relay, struct relay_leaf *leaf,
                     struct actions *actions)
{
    if (relay->phase == RELAY_SERVING)
        (void)relay_send(actions, RELAY_PARENT, leaf->number, MSG_GONE);
    relay_leaf_free(relay, leaf, actions);
}

void relay_link_lost(struct relay *relay, uint32_t link,
                     struct actions *actions)
{
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        struct relay_leaf *leaf = &relay->leaves[i];

        if (leaf->number != 0 && leaf->link == link)
            relay_leaf_lost(relay, leaf, actions);
    }
    relay->links[link] = (struct relay_link){0};
}
