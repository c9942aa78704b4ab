/*
 * claims.c - who writes into a run's folder.
 */
#include "learn/folder/claims.h"

#include <string.h>

#include "base/check.h"
#include "core/run/store.h"
#include "learn/series/logbook.h"
#include "learn/series/series.h"
#include "node/host/format.h"
#include "node/host/result_file.h"
#include "node/host/ring_folder.h"
#include "node/host/ways.h"
#include "node/owners/parts.h"

#define OWNERS_MAX 24u /* With a NULL. */

enum err claims_free(const char *folder, const struct names *const *more,
                     struct why *why)
{
    static const struct names *const owners[] = {
        &store_names, &format_names, &config_names,  &result_names, &ways_names,
        &ring_names,  &parts_names,  &logbook_names, &series_names};
    const size_t own = sizeof owners / sizeof *owners;
    const struct names *all[OWNERS_MAX] = {NULL};
    size_t count = 0;

    memcpy(all, owners, sizeof owners);
    while (more != NULL && more[count] != NULL) {
        CHECK(own + count + 1 < OWNERS_MAX);
        all[own + count] = more[count];
        count++;
    }
    return format_free(folder, all, why);
}
