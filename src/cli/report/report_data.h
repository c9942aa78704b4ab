/*
 * report_data.h - all that a report shows of a run, as one JSON object, from
 * the run's folder: journal, history, config.
 */
#ifndef CLI_REPORT_DATA_H
#define CLI_REPORT_DATA_H

#include <jansson.h>

#include "base/err.h"

/* ERR_NOTFOUND: there is no run.  What is missing else is said in the page. */
MUST_CHECK enum err report_data(const char *folder, json_t **data,
                                struct why *why);

/* How a run stands that nobody is running: `last_step` and, if it came to an
 * end there, `result`.  Errors as above. */
MUST_CHECK enum err report_standing(const char *folder, json_t **data,
                                    struct why *why);

#endif /* CLI_REPORT_DATA_H */
