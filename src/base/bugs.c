/*
 * bugs.c - the switch of the bugs that tests plant; it exists only in
 * tests/planted-*.
 */
#include "base/bugs.h"

#ifdef MUSTER_PLANTED_BUGS
enum planted_bug planted_bug = BUG_NONE;
#endif

/* A translation unit must declare something. */
typedef int bugs_not_empty;
