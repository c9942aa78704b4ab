/*
 * flow.h - the earliest end of a residual task by maximum flow, made to check
 * the allocator: it shares no line with it.
 */
#ifndef TESTS_CODE_FLOW_H
#define TESTS_CODE_FLOW_H

#include "code/residual.h"

/* When the last may be done at the earliest, with whole pieces or if they could
 * be cut at will; infinite if some piece cannot be completed. */
double flow_finish(const struct residual_task *task, bool whole);
/* When the last of them has done its arc. */
double flow_arcs(const struct arc_member *members, const struct arc *arcs,
                 uint32_t count);

#endif /* TESTS_CODE_FLOW_H */
