/*
 * greeting.c - the objections that all greetings share: another protocol
 * version, other bits from the same arithmetic.
 */
#include "core/link/greeting.h"

const char *greeting_version(uint32_t version)
{
    return version == MSG_VERSION
               ? NULL
               : "the other side speaks another protocol version; use the same "
                 "release of muster on both machines";
}

const char *greeting_foreign(const struct msg *msg)
{
    if (msg->kind == MSG_HELLO)
        return greeting_version(msg->hello.version);
    if (msg->kind == MSG_RELAY)
        return greeting_version(msg->relay.version);
    if (msg->kind == MSG_MEET)
        return greeting_version(msg->meet.version);
    return NULL;
}

const char *greeting_objection(uint32_t version, const struct digest *theirs,
                               const struct digest *ours)
{
    if (greeting_version(version) != NULL)
        return greeting_version(version);
    if (!digest_equal(theirs, ours))
        return "this machine computes other bits than the coordinator; use "
               "the same release of muster and no special floating-point mode";
    return NULL;
}
