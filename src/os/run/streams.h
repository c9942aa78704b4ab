/*
 * streams.h - standard streams that whoever started this process has closed.
 */
#ifndef OS_STREAMS_H
#define OS_STREAMS_H

/* No file opened from here on is number 0, 1 or 2, where what is printed would
 * go into it: those that are closed are held, yet cannot be read or written,
 * as before.  For streams_release. */
unsigned streams_hold(void);
/* They are closed again. */
void streams_release(unsigned held);

#endif /* OS_STREAMS_H */
