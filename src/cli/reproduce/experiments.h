/*
 * experiments.h - the names of experiments, one for each result of the papers
 * that Muster stands on, for the table, which is in reproduce.c.
 *
 * To add one: a `struct experiment` in the file of its paper, and its line
 * here and in reproduce.c.
 */
#ifndef CLI_EXPERIMENTS_H
#define CLI_EXPERIMENTS_H

#include "cli/reproduce/lab.h"

#define LAB_LECTURE "Lecture 24 on distributed machine learning, "

extern const struct experiment experiment_credit_svm, experiment_elastic,
    experiment_erasurehead, experiment_noise_floor, experiment_gradient_coding,
    experiment_ring_mnist, experiment_stragglers, experiment_matmul,
    experiment_scaling, experiment_minibatch, experiment_averaging,
    experiment_shuffle, experiment_prices, experiment_flexent;

#endif /* CLI_EXPERIMENTS_H */
