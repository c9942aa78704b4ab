/*
 * columns.c - roles of columns: features, label, weight, none.  Tables after
 * the first are matched to the schema by name, or by place where there are no
 * names, and refused where neither is certain.
 */
#include "data/table/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/table/csv.h"
#include "data/text/letters.h"

void columns_close(struct columns *columns)
{
    mem_free(columns->role);
    *columns = (struct columns){0};
}

void schema_close(struct schema *schema)
{
    for (uint32_t j = 0; schema->name != NULL && j < schema->features; j++)
        mem_free(schema->name[j]);
    mem_free(schema->name);
    mem_free(schema->at);
    mem_free(schema->label_name);
    *schema = (struct schema){0};
}

static enum err say_nomem(struct why *why)
{
    return why_set(why, ERR_NOMEM, "out of memory");
}

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

/* --- by name ----------------------------------------------------------------
 */

struct named {
    const char *name;
    uint32_t place;
};

/* Equal names keep their order, so that the first two are spoken of. */
static int by_name(const void *a, const void *b)
{
    const struct named *const x = a;
    const struct named *const y = b;
    const int order = strcmp(x->name, y->name);

    return order != 0 ? order : x->place < y->place ? -1 : x->place > y->place;
}

/* Of a list, or of names one after the other. */
static struct named *sorted_names(const char *names, char *const *list,
                                  uint32_t count)
{
    struct named *const sorted =
        list == NULL && names == NULL ? NULL : mem_new(count, sizeof *sorted);

    for (uint32_t i = 0; sorted != NULL && i < count; i++) {
        sorted[i] = (struct named){list != NULL ? list[i] : names, i};
        if (list == NULL)
            names += strlen(names) + 1;
    }
    if (sorted != NULL && count > 1)
        qsort(sorted, count, sizeof *sorted, by_name);
    return sorted;
}

/* Both lists ascend: go through them side by side.  The first feature that the
 * table does not have, or `features`. */
static uint32_t join_names(const struct named *ours, uint32_t features,
                           const struct named *theirs, uint32_t cols,
                           uint32_t *role)
{
    uint32_t missing = features;
    uint32_t at = 0;

    for (uint32_t j = 0; j < features; j++) {
        while (at < cols && (strcmp(theirs[at].name, ours[j].name) < 0 ||
                             role[theirs[at].place] == COLUMN_LABEL))
            at++;
        if (at < cols && strcmp(theirs[at].name, ours[j].name) == 0)
            role[theirs[at++].place] = ours[j].place;
        else if (missing == features || ours[j].place < missing)
            missing = ours[j].place;
    }
    return missing;
}

static enum err say_missing(const struct csv *csv,
                            const struct columns *columns,
                            const struct schema *known, uint32_t feature,
                            struct why *why)
{
    if (columns->label < csv->cols &&
        strcmp(csv_name(csv, columns->label), known->name[feature]) == 0)
        return why_set(why, ERR_SHAPE,
                       "--label: column '%s' is a feature of the model, no "
                       "label",
                       quote_text(known->name[feature]).text);
    return why_set(why, ERR_SHAPE,
                   "no column '%s', which the model was trained on (%u "
                   "features); columns are matched by their names",
                   quote_text(known->name[feature]).text, known->features);
}

static enum err match_names(const struct csv *csv, const struct schema *known,
                            struct columns *columns, struct why *why)
{
    struct named *const ours = sorted_names(NULL, known->name, known->features);
    struct named *const theirs = sorted_names(csv->names, NULL, csv->cols);
    uint32_t missing = 0;
    const bool good = ours != NULL && theirs != NULL;

    if (good)
        missing =
            join_names(ours, known->features, theirs, csv->cols, columns->role);
    mem_free(ours);
    mem_free(theirs);
    if (!good)
        return say_nomem(why);
    return missing < known->features
               ? say_missing(csv, columns, known, missing, why)
               : ERR_OK;
}

/* The label of the training table, if this one has it too; refuse_twins sees to
 * several columns of that name. */
static void find_known_label(const struct csv *csv, const struct schema *known,
                             struct columns *columns)
{
    const char *name = csv->names;

    for (uint32_t i = 0; known->label < known->table && i < csv->cols; i++) {
        if (columns->role[i] == COLUMN_UNUSED &&
            strcmp(name, known->label_name) == 0) {
            columns->role[i] = COLUMN_LABEL;
            columns->label = i;
            return;
        }
        name += strlen(name) + 1;
    }
}

/* --- by place ---------------------------------------------------------------
 */

static enum err say_count(const struct schema *known, uint32_t cols,
                          struct why *why)
{
    if (known->label >= known->table)
        return why_set(why, ERR_SHAPE,
                       "%u columns; the model was trained on %u features, so "
                       "a table without names has %u columns, or %u with the "
                       "label as the last",
                       cols, known->features, known->features,
                       known->features + 1);
    if (known->table != known->features + 1)
        return why_set(why, ERR_SHAPE,
                       "%u columns; the model was trained on %u of %u columns, "
                       "so a table without names has %u columns, or %u without "
                       "labels",
                       cols, known->features, known->table, known->table,
                       known->features);
    return why_set(why, ERR_SHAPE,
                   "%u columns; the model was trained on %u features, so a "
                   "table without names has %u columns, or %u with the label "
                   "as column %u",
                   cols, known->features, known->features, known->features + 1,
                   known->label + 1);
}

/* As in the whole training table. */
static void place_all(const struct schema *known, struct columns *columns,
                      bool labelled)
{
    for (uint32_t j = 0; j < known->features; j++)
        columns->role[known->at[j]] = j;
    if (labelled && known->label < known->table) {
        columns->role[known->label] = COLUMN_LABEL;
        columns->label = known->label;
    }
}

/* Features in a row, but for the label's column. */
static void place_features(const struct schema *known, uint32_t cols,
                           struct columns *columns)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < cols; i++) {
        if (columns->role[i] == COLUMN_UNUSED && next < known->features)
            columns->role[i] = next++;
    }
}

static enum err match_places(uint32_t cols, const struct schema *known,
                             bool unlabelled, struct columns *columns,
                             struct why *why)
{
    const bool said = columns->label < cols;
    const bool inside = known->label < known->table;

    if (cols == known->table && inside &&
        (!said || columns->label == known->label)) {
        place_all(known, columns, !unlabelled);
        return ERR_OK;
    }
    if (said && cols != known->features + 1)
        return say_count(known, cols, why);
    /* Of a table with columns that were dropped, one column more than features
     * may be the label or one of those. */
    if (!said && cols == known->features + 1 && !inside && !unlabelled) {
        columns->label = cols - 1;
        columns->role[columns->label] = COLUMN_LABEL;
    } else if (!said && cols != known->features) {
        return say_count(known, cols, why);
    }
    place_features(known, cols, columns);
    return ERR_OK;
}

/* --- both -------------------------------------------------------------------
 */

static bool is_none(const char *label)
{
    return label != NULL && strcmp(label, LABEL_NONE) == 0;
}

static enum err take_column(const struct csv *csv, struct span name,
                            const char *option, uint32_t role,
                            struct columns *columns, struct why *why)
{
    uint32_t col = 0;
    const enum err err = csv_find(csv, name, &col, why);

    if (err != ERR_OK)
        return why_in(why, err, "--%s", option);
    if (columns->role[col] != COLUMN_UNUSED)
        return why_set(why, ERR_SHAPE,
                       "--%s %s: the same column is asked for twice", option,
                       quote(name).text);
    columns->role[col] = role;
    *(role == COLUMN_LABEL ? &columns->label : &columns->weight) = col;
    return ERR_OK;
}

static enum err drop_columns(const struct csv *csv, const char *list,
                             bool *dropped, struct why *why)
{
    while (list != NULL && *list != '\0') {
        const struct span name = {list, strcspn(list, ",")};
        uint32_t col = 0;
        const enum err err = csv_find(csv, name, &col, why);

        if (err != ERR_OK)
            return why_in(why, err, "--drop");
        dropped[col] = true;
        list += name.size + (list[name.size] == ',');
    }
    return ERR_OK;
}

/* Without a value in any row. */
static bool is_empty(const struct columns_wanted *wanted, uint32_t col)
{
    return wanted->empty != NULL && wanted->empty[col];
}

/* Whatever is left is a feature.  A separator behind every row, as spreadsheets
 * write it, makes a last column without name and values; one with a name may
 * well be the labels that somebody has yet to fill in. */
static enum err train_columns(const struct csv *csv,
                              const struct columns_wanted *wanted,
                              struct columns *columns, struct why *why)
{
    const bool label_last = wanted->label == NULL;
    bool *const dropped = mem_new(csv->cols, sizeof *dropped);
    enum err err = dropped == NULL
                       ? say_nomem(why)
                       : drop_columns(csv, wanted->drop, dropped, why);
    uint32_t last = csv->cols;

    while (err == ERR_OK && dropped != NULL && label_last && last-- > 0) {
        if (columns->role[last] != COLUMN_UNUSED || dropped[last] ||
            (is_empty(wanted, last) && csv_name(csv, last)[0] == '\0'))
            continue;
        columns->role[last] = COLUMN_LABEL;
        columns->label = last;
        break;
    }
    for (uint32_t i = 0; err == ERR_OK && dropped != NULL && i < csv->cols;
         i++) {
        if (dropped[i] && columns->role[i] != COLUMN_UNUSED)
            err =
                why_set(why, ERR_SHAPE,
                        "--drop: column %u is the label or the weight", i + 1);
        else if (!dropped[i] && columns->role[i] == COLUMN_UNUSED &&
                 !is_empty(wanted, i))
            columns->role[i] = columns->features++;
    }
    mem_free(dropped);
    if (err == ERR_OK && columns->features == 0)
        err = why_set(why, ERR_SHAPE, "no column is left to be a feature");
    return err;
}

static enum err match(const struct csv *csv, const struct schema *known,
                      bool unlabelled, struct columns *columns, struct why *why)
{
    enum err err;

    columns->features = known->features;
    if (!csv->header || known->name == NULL)
        return match_places(csv->cols, known, unlabelled, columns, why);
    err = match_names(csv, known, columns, why);
    if (err == ERR_OK && columns->label >= csv->cols && !unlabelled)
        find_known_label(csv, known, columns);
    return err;
}

/* The label of the training table is none, even if another one is asked for. */
static void count_strangers(const struct csv *csv, const struct schema *known,
                            struct columns *columns)
{
    const char *name = csv->names;

    for (uint32_t i = 0; csv->header && i < csv->cols; i++) {
        if (columns->role[i] == COLUMN_UNUSED &&
            strcmp(name, known->label_name) != 0 && columns->strangers++ == 0)
            columns->stranger = i;
        name += strlen(name) + 1;
    }
}

static bool ascend(uint32_t cols, const struct columns *columns)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < cols; i++) {
        if (columns->role[i] >= COLUMN_FEATURES)
            continue;
        if (columns->role[i] != next)
            return false;
        next++;
    }
    return true;
}

static enum err assign(const struct csv *csv,
                       const struct columns_wanted *wanted,
                       struct columns *columns, struct why *why)
{
    const bool unlabelled = is_none(wanted->label);
    enum err err = ERR_OK;

    if (wanted->label != NULL && !unlabelled)
        err = take_column(csv, span_of(wanted->label), "label", COLUMN_LABEL,
                          columns, why);
    if (err == ERR_OK && wanted->weight != NULL)
        err = take_column(csv, span_of(wanted->weight), "weight", COLUMN_WEIGHT,
                          columns, why);
    if (err != ERR_OK)
        return err;
    if (wanted->known == NULL)
        return train_columns(csv, wanted, columns, why);
    return match(csv, wanted->known, unlabelled, columns, why);
}

/* Two columns of one name are taken for each other sooner or later, unless
 * neither is used. */
static enum err refuse_twins(const struct csv *csv,
                             const struct columns *columns, struct why *why)
{
    struct named *const sorted =
        csv->header ? sorted_names(csv->names, NULL, csv->cols) : NULL;
    enum err err = csv->header && sorted == NULL ? say_nomem(why) : ERR_OK;

    for (uint32_t i = 1; sorted != NULL && err == ERR_OK && i < csv->cols;
         i++) {
        const uint32_t one = sorted[i - 1].place;
        const uint32_t two = sorted[i].place;

        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0 &&
            (columns->role[one] != COLUMN_UNUSED ||
             columns->role[two] != COLUMN_UNUSED))
            err = why_set(why, ERR_SHAPE,
                          "columns %u and %u have the same name, '%s'; rename "
                          "one, leave both out with --drop :%u,:%u, or, if "
                          "the first line is a row, add --header no",
                          one + 1, two + 1, quote_text(sorted[i].name).text,
                          one + 1, two + 1);
    }
    mem_free(sorted);
    return err;
}

/* A name that is not UTF-8 is none of a model's, and goes into none; where it
 * is not `used`, it may still be the one that was asked for. */
static enum err refuse_letters(const struct csv *csv,
                               const struct columns *used, struct why *why)
{
    const char *name = csv->names;

    for (uint32_t i = 0; csv->header && i < csv->cols; i++) {
        const struct span span = {name, strlen(name)};

        if ((used == NULL || used->role[i] != COLUMN_UNUSED) &&
            letters_check(span, why) != ERR_OK)
            return why_in(why, ERR_FORMAT, "column %u", i + 1);
        name += span.size + 1;
    }
    return ERR_OK;
}

enum err columns_assign(const struct csv *csv,
                        const struct columns_wanted *wanted,
                        struct columns *columns, struct why *why)
{
    struct columns made = {.label = csv->cols, .weight = csv->cols};
    enum err err;

    made.role = mem_new(csv->cols, sizeof *made.role);
    if (made.role == NULL)
        return say_nomem(why);
    for (uint32_t i = 0; i < csv->cols; i++)
        made.role[i] = COLUMN_UNUSED;
    err = assign(csv, wanted, &made, why);
    if (err == ERR_OK)
        err = refuse_letters(csv, &made, why);
    else if (err != ERR_NOMEM && refuse_letters(csv, NULL, why) != ERR_OK)
        err = ERR_FORMAT;
    if (err == ERR_OK)
        err = refuse_twins(csv, &made, why);
    if (err != ERR_OK) {
        columns_close(&made);
        return err;
    }
    if (wanted->known != NULL)
        count_strangers(csv, wanted->known, &made);
    made.ascending = ascend(csv->cols, &made);
    columns_close(columns);
    *columns = made;
    return ERR_OK;
}

/* --- schema -----------------------------------------------------------------
 */

static enum err copy_names(struct schema *schema, const struct csv *csv,
                           const struct columns *columns)
{
    const char *name = csv->names;

    schema->name = mem_new(schema->features, sizeof *schema->name);
    if (schema->name == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < csv->cols; i++) {
        const uint32_t role = columns->role[i];

        if (role < COLUMN_FEATURES) {
            schema->name[role] = mem_text(name);
            if (schema->name[role] == NULL)
                return ERR_NOMEM;
        }
        name += strlen(name) + 1;
    }
    return ERR_OK;
}

enum err schema_of(struct schema *schema, const struct csv *csv,
                   const struct columns *columns)
{
    struct schema made = {.features = columns->features,
                          .table = csv->cols,
                          .label = columns->label,
                          .numeric = true};
    enum err err = ERR_OK;

    made.at = mem_new(made.features, sizeof *made.at);
    made.label_name = mem_text(csv_name(csv, columns->label));
    if (made.at == NULL || made.label_name == NULL)
        err = ERR_NOMEM;
    for (uint32_t i = 0; err == ERR_OK && i < csv->cols; i++) {
        if (columns->role[i] < COLUMN_FEATURES)
            made.at[columns->role[i]] = i;
    }
    if (err == ERR_OK && csv->header)
        err = copy_names(&made, csv, columns);
    if (err != ERR_OK) {
        schema_close(&made);
        return err;
    }
    *schema = made;
    return ERR_OK;
}

enum err schema_plain(struct schema *schema, uint32_t features)
{
    struct schema made = {.features = features,
                          .table = features + 1,
                          .label = features,
                          .numeric = true};

    made.at = mem_new(features, sizeof *made.at);
    made.label_name = mem_text("");
    if (made.at == NULL || made.label_name == NULL) {
        schema_close(&made);
        return ERR_NOMEM;
    }
    for (uint32_t j = 0; j < features; j++)
        made.at[j] = j;
    *schema = made;
    return ERR_OK;
}
