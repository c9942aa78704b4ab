/*
 * digits.h - a sample of MNIST for experiments that cannot afford all of it.
 */
#ifndef CLI_DIGITS_H
#define CLI_DIGITS_H

#include "cli/reproduce/lab.h"

/* One of MNIST's files in the lab's folder (lab_link): mnist/NAME as it is, or
 * packed, mnist/NAME.gz; in `out`, which is returned. */
#define DIGITS_NAME 64u
const char *digits_file(const struct lab *lab, const char *name,
                        char out[DIGITS_NAME]);

/* Take every `stride`-th row of FROM-images-idx3-ubyte and its labels as
 * TO-images-idx3-ubyte and TO-labels-idx1-ubyte there; `sorted`: in the order
 * of their labels, otherwise as they stand. */
void digits_take(struct lab *lab, const char *from, const char *to,
                 uint32_t stride, bool sorted);

#endif /* CLI_DIGITS_H */
