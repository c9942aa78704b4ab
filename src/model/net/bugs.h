/*
 * bugs.h - bugs planted in layers on purpose, to test the tests (compare
 * base/bugs.h): each must be caught by finite differences.
 */
#ifndef MODEL_NET_BUGS_H
#define MODEL_NET_BUGS_H

enum neural_bug {
    NEURAL_BUG_NONE,
    NEURAL_BUG_RELU,    /* Let gradients through where relu was 0. */
    NEURAL_BUG_POOL,    /* Give a window's last gradient to its first. */
    NEURAL_BUG_AVG,     /* Do not divide a mean's gradient. */
    NEURAL_BUG_DROP,    /* Draw other numbers on the way back. */
    NEURAL_BUG_DENSE,   /* Leave the last sample out of a bias. */
    NEURAL_BUG_CONV,    /* Forget the gradient of a bias. */
    NEURAL_BUG_TANH,    /* 1 - y for 1 - y^2. */
    NEURAL_BUG_SOFTMAX, /* Do not take 1 off at the label. */
    NEURAL_BUGS
};

#ifdef MUSTER_PLANTED_BUGS
extern enum neural_bug neural_bug;
#define NEURAL_BUG(x) (neural_bug == (x))
#else
#define NEURAL_BUG(x) 0
#endif

#endif /* MODEL_NET_BUGS_H */
