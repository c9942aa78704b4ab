/*
 * report_cost.h - what a run cost, at a price for an hour of a worker.
 */
#ifndef CLI_REPORT_REPORT_COST_H
#define CLI_REPORT_REPORT_COST_H

#include <jansson.h>

/* From what report_data made: an object of price, worker_hours, spent and,
 * where hindsight has figures, uncoded and uncoded_least; NULL if no step was
 * recorded.  Money is in the unit of `price`. */
json_t *report_cost(const json_t *data, double price);

#endif /* CLI_REPORT_REPORT_COST_H */
