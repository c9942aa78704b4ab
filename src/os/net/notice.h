/*
 * notice.h - has the provider said that this machine is to be taken away?
 *
 *     aws      PUT latest/api/token, GET latest/meta-data/spot/instance-action
 *              (IMDSv2); told from the first 200 on
 *     gcp      GET computeMetadata/v1/instance/preempted; told when TRUE
 *     azure    GET metadata/scheduledevents; told by an event of type Preempt
 *              or Terminate for this machine (GET metadata/instance/compute/
 *              name) or for no machine in particular
 *     file:P   told once there is a file P
 *
 * An address that does not answer is no notice.  Looking never tells the
 * provider anything: an Azure event is not approved, which would hasten it.
 */
#ifndef OS_NOTICE_H
#define OS_NOTICE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"

#define NOTICE_EVERY_US SECOND_US /* Between two looks. */

/* What the user typed. */
struct notice_options {
    const char *kind;    /* aws, gcp, azure or file:PATH; NULL = none. */
    const char *address; /* Instead of the provider's; NULL. */
};

struct notice;

/* ERR_RANGE with a sentence if they make no sense. */
MUST_CHECK enum err notice_check(const struct notice_options *options,
                                 struct why *why);

/* `options` must be checked, and outlive it. */
MUST_CHECK enum err notice_new(const struct notice_options *options,
                               struct notice **notice);
void notice_free(struct notice *notice); /* Accepts NULL. */

/* One look, a few seconds at most; true once told.  *why says why the provider
 * could not be asked, and is empty if it could. */
bool notice_look(struct notice *notice, struct why *why);

/* Look until told.  For a process that does nothing else. */
void notice_await(struct notice *notice);

#endif /* OS_NOTICE_H */
