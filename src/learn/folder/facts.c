/*
 * facts.c - what a run was of, line by line, to be compared.
 */
#include "learn/folder/facts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/run/store.h"
#include "os/file/file.h"

#define TEXT_SIZE        1024u
#define DIFFERENCES_SIZE 320u
#define STEPS_FACT       "steps " /* Of a schedule that ends with them. */

/* Of private rows, which are not here to be measured again. */
static void add_derived(const struct setup *setup, char text[TEXT_SIZE])
{
    const struct digest derived = parts_derived(&setup->parts);
    const size_t used = strlen(text);
    char hex[DIGEST_TEXT];

    (void)snprintf(text + used, TEXT_SIZE - used, "bounds-digest %.16s\n",
                   digest_text(&derived, hex));
}

/* Does the number of steps decide the rates, or only where they end? */
static bool ends_with_steps(const struct setup *setup)
{
    return (optim_schedule_needs(setup->optim.schedule) & SCHEDULE_END) != 0;
}

static void add_steps(const struct setup *setup, char text[TEXT_SIZE])
{
    const size_t used = strlen(text);

    (void)snprintf(text + used, TEXT_SIZE - used, STEPS_FACT "%u\n",
                   setup->optim.steps);
}

/* A line each: a name without blanks, a blank, its value. */
static void facts_of(const struct setup *setup, char text[TEXT_SIZE])
{
    const struct optim_options *const optim = &setup->optim;
    const struct digest data = dataset_digest(&setup->data);
    char hex[DIGEST_TEXT];

    (void)snprintf(
        text, TEXT_SIZE,
        "rows %u\ncolumns %u\ndata-digest %.16s\nmodel %s\noptim %s\n"
        "l2 %.10g\nlr %.10g\nseed %llu\nchunk-rows %u\n",
        setup->data.rows, setup->data.cols - (setup->intercept ? 1 : 0),
        digest_text(&data, hex), model_ops(setup->model)->name,
        optim_name(optim->kind), optim->l2, optim->rate,
        (unsigned long long)optim->seed, setup->data.chunk_rows);
    if (setup->hollow)
        add_derived(setup, text);
    if (ends_with_steps(setup))
        add_steps(setup, text);
}

void facts_write(const struct setup *setup, const char *folder)
{
    char path[FILE_PATH_SIZE], text[TEXT_SIZE];

    if (format_holds_run(folder) || file_make_folder(folder, NULL) != ERR_OK ||
        file_check_folder(folder, NULL) != ERR_OK ||
        format_write(folder, NULL) != ERR_OK)
        return;
    facts_of(setup, text);
    file_path_in(folder, FACTS_FILE, path);
    (void)!file_write_atomic(path, text, strlen(text), 0600, NULL);
}

/* "rows 2000 there and 1500 here" behind what is listed, where lines differ
 * and are of one name; how many bytes of each were looked at. */
static void compare(const char *there, const char *here,
                    char list[DIFFERENCES_SIZE])
{
    while (*there != '\0' && *here != '\0') {
        const size_t was = strcspn(there, "\n"), is = strcspn(here, "\n");
        const size_t name = strcspn(there, " \n");
        const size_t used = strlen(list);

        if (name == was || strncmp(there, here, name + 1) != 0)
            return; /* Another release's. */
        if (was != is || memcmp(there, here, is) != 0)
            (void)snprintf(list + used, DIFFERENCES_SIZE - used,
                           "%s%.*s there and %.*s here", used > 0 ? ", " : "",
                           (int)was, there, (int)(is - name - 1),
                           here + name + 1);
        there += was + (there[was] == '\n');
        here += is + (here[is] == '\n');
    }
}

/* If the last that differs is the steps: elsewhere they may. */
static void add_reason(const struct setup *setup, char list[DIFFERENCES_SIZE])
{
    const char *const comma = strrchr(list, ',');
    const char *const last = comma == NULL ? list : comma + 2;
    const size_t used = strlen(list);

    if (strncmp(last, STEPS_FACT, sizeof STEPS_FACT - 1) == 0)
        (void)snprintf(list + used, DIFFERENCES_SIZE - used,
                       " (--passes and --steps decide all rates of "
                       "--schedule %s)",
                       optim_schedule_name(setup->optim.schedule));
}

static bool is_plain(const uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] != '\n' && (text[i] < ' ' || text[i] > '~'))
            return false;
    return true;
}

void facts_explain(const struct setup *setup, const char *folder,
                   struct why *why)
{
    char path[FILE_PATH_SIZE], here[TEXT_SIZE], list[DIFFERENCES_SIZE] = "";
    char *there;
    uint8_t *text;
    size_t size;

    if (folder == NULL || strstr(why->text, STORE_OTHER_CONFIG) == NULL)
        return;
    file_path_in(folder, FACTS_FILE, path);
    if (file_read_plain(path, TEXT_SIZE - 1, &text, &size, NULL) != ERR_OK)
        return;
    facts_of(setup, here);
    there = mem_new(size + 1, 1);
    if (there != NULL && is_plain(text, size)) {
        (void)memcpy(there, text, size);
        compare(there, here, list);
        add_reason(setup, list);
    }
    mem_free(there);
    mem_free(text);
    if (list[0] != '\0')
        (void)why_set(why, ERR_MISMATCH,
                      "%.120s: the run there has other data or options: %s; "
                      "resume with the same ones or choose another --out",
                      folder, list);
}
