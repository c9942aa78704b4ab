/*
 * pause.h - what a thread says to its processor while it looks at memory again
 * and again: that it has nothing better to do.
 */
#ifndef OS_PAUSE_H
#define OS_PAUSE_H

static inline void processor_pause(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

#endif /* OS_PAUSE_H */
