/*
 * claims.c - who writes into a run's folder.
 */
#include "learn/folder/claims.h"

#include "core/run/store.h"
#include "learn/series/logbook.h"
#include "learn/series/series.h"
#include "node/host/format.h"
#include "node/host/result_file.h"
#include "node/host/ring_folder.h"
#include "node/host/ways.h"
#include "node/owners/parts.h"

enum err claims_free(const char *folder, const struct names *const *more,
                     struct why *why)
{
    static const struct names *const owners[] = {
        &store_names, &format_names,  &result_names, &ways_names, &ring_names,
        &parts_names, &logbook_names, &series_names, NULL};
    const enum err err = format_free(folder, owners, why);

    return err == ERR_OK && more != NULL ? format_free(folder, more, why) : err;
}
