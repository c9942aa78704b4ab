/*
 * once.h - trainings of one machine without libraries (once.c).
 */
#ifndef TESTS_LIB_ONCE_H
#define TESTS_LIB_ONCE_H

/* `train-net` and its arguments; returns the exit status. */
int once_net(int argc, char **argv);

#endif /* TESTS_LIB_ONCE_H */
