/*
 * confine.h - what a worker gives up before it listens to anybody (S6).
 *
 * A coordinator owns the model and may send what it likes; a worker that has a
 * hole must not be a way to run programs on its machine.
 */
#ifndef OS_CONFINE_H
#define OS_CONFINE_H

#include <stdbool.h>

/* From now on this thread, and whoever it starts, runs no other program and
 * traces no process: the calls fail with EPERM.  There is no way back.  False
 * where the kernel cannot; the worker works all the same. */
bool confine_process(void);

#endif /* OS_CONFINE_H */
