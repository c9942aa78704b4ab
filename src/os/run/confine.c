#define _DEFAULT_SOURCE
/*
 * confine.c - a seccomp filter without execve, execveat and ptrace.  The
 * program is written out for the two architectures whose call numbers are
 * known; elsewhere there is none.
 */
#include "os/run/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#define NATIVE 0u /* Numbers of calls unknown: there is no filter. */
#endif

#define LOAD(field)                                                            \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* One instruction further if equal, `other` further if not. */
#define UNLESS(value, other)                                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (other))
#define REFUSE       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define FORBID(call) UNLESS(call, 1), REFUSE
#define OTHER_ABI    0x40000000u /* x32 calls have this bit and other numbers. */

bool confine_process(void)
{
    struct sock_filter rules[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
        REFUSE, /* int 0x80: calls of another machine, by other numbers. */
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_ABI, 0, 1),
        REFUSE,
        FORBID(__NR_execve),
        FORBID(__NR_execveat),
        FORBID(__NR_ptrace),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof rules / sizeof *rules,
                                       .filter = rules};

    return NATIVE != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
