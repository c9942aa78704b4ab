/*
 * page.c - an experiment's page, its CSV and SVG files, and its tables as text.
 *
 * The page is plain HTML with its pictures in it: no script, nothing to load.
 */
#include "cli/reproduce/page.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "os/file/file.h"
#include "os/file/output.h"

#define NAME_SIZE   64u
#define COLUMNS_MAX 16u

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, "
    "initial-scale=1\">\n"
    "<style>\n"
    ":root{color-scheme:light dark;--paper:#fff;--shade:#0006}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:0 auto;"
    "padding:1rem;background:var(--paper);color:#1f2937}\n"
    "h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.15rem;"
    "margin-top:2rem}\n"
    /* A shade at the edge behind which a table goes on. */
    ".scroll{overflow-x:auto;background:"
    "linear-gradient(90deg,var(--paper) 50%,transparent) 0 0/2rem 100%,"
    "linear-gradient(270deg,var(--paper) 50%,transparent) 100% 0/2rem 100%,"
    "linear-gradient(90deg,var(--shade),transparent) 0 0/1rem 100%,"
    "linear-gradient(270deg,var(--shade),transparent) 100% 0/1rem 100%;"
    "background-repeat:no-repeat;"
    "background-attachment:local,local,scroll,scroll}\n"
    "table{border-collapse:collapse;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid #d1d5db;"
    "text-align:right;white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left}\n"
    "th,td:first-child{white-space:normal}\n"
    "svg{max-width:100%;height:auto;border-radius:6px}\n"
    "blockquote{margin:1rem 0;padding:.1rem 1rem;border-left:4px solid "
    "#0072b2}\n"
    ".stand-in{border-left:4px solid #d55e00;padding:.1rem 1rem}\n"
    "code,pre{font-size:.85rem}pre{overflow-x:auto}\n"
    "@media (max-width:40rem){table{font-size:.8rem}"
    "th,td{white-space:normal;padding:.25rem .35rem}}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#111827;--shade:#fff6}"
    "body{color:#e5e7eb}th,td{border-color:#374151}a{color:#56b4e9}}\n"
    "</style>\n";

static void add_text(struct svg *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            svg_add(out, "&lt;");
        else if (*text == '>')
            svg_add(out, "&gt;");
        else if (*text == '&')
            svg_add(out, "&amp;");
        else
            svg_add(out, "%c", *text);
    }
}

static void add_element(struct svg *out, const char *name, const char *text)
{
    svg_add(out, "<%s>", name);
    add_text(out, text);
    svg_add(out, "</%s>\n", name);
}

/* --- tables -------------------------------------------------------------- */

static void table_html(struct svg *out, const json_t *table)
{
    const json_t *row, *cell;
    size_t i, j;

    add_element(out, "h2", lab_text(table, "title"));
    svg_add(out, "<div class=\"scroll\"><table>\n<tr>");
    json_array_foreach(json_object_get(table, "columns"), j, cell)
    {
        add_element(out, "th", json_string_value(cell));
    }
    svg_add(out, "</tr>\n");
    json_array_foreach(json_object_get(table, "rows"), i, row)
    {
        svg_add(out, "<tr>");
        json_array_foreach(row, j, cell)
        {
            add_element(out, "td", json_string_value(cell));
        }
        svg_add(out, "</tr>\n");
    }
    svg_add(out, "</table></div>\n");
}

static void line_of_cells(struct svg *out, const json_t *cells,
                          const char *before, const char *between,
                          const char *after)
{
    const json_t *cell;
    size_t j;

    svg_add(out, "%s", before);
    json_array_foreach(cells, j, cell)
    {
        svg_add(out, "%s%s", j > 0 ? between : "", json_string_value(cell));
    }
    svg_add(out, "%s\n", after);
}

static void table_markdown(struct svg *out, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"), *row;
    size_t i;

    svg_add(out, "\n**%s**\n\n", lab_text(table, "title"));
    line_of_cells(out, columns, "| ", " | ", " |");
    for (i = 0; i < json_array_size(columns); i++)
        svg_add(out, "|---");
    svg_add(out, "|\n");
    json_array_foreach(json_object_get(table, "rows"), i, row)
    {
        line_of_cells(out, row, "| ", " | ", " |");
    }
}

/* Quotes only where a cell needs them. */
static void table_csv(struct svg *out, const json_t *cells)
{
    const json_t *cell;
    size_t j;

    json_array_foreach(cells, j, cell)
    {
        const char *text = json_string_value(cell);

        svg_add(out, "%s", j > 0 ? "," : "");
        if (strpbrk(text, ",\"\n") == NULL) {
            svg_add(out, "%s", text);
            continue;
        }
        svg_add(out, "\"");
        for (; *text != '\0'; text++)
            svg_add(out, *text == '"' ? "\"\"" : "%c", *text);
        svg_add(out, "\"");
    }
    svg_add(out, "\n");
}

static size_t widest(const json_t *table, size_t column)
{
    const json_t *row;
    size_t i, width = strlen(json_string_value(
                  json_array_get(json_object_get(table, "columns"), column)));

    json_array_foreach(json_object_get(table, "rows"), i, row)
    {
        const char *cell = json_string_value(json_array_get(row, column));
        const size_t size = cell == NULL ? 0 : strlen(cell);

        width = size > width ? size : width;
    }
    return width;
}

static void print_cells(const json_t *cells, const size_t *width)
{
    const json_t *cell;
    size_t j;

    json_array_foreach(cells, j, cell)
    {
        if (j >= COLUMNS_MAX)
            break;
        (void)printf(j == 0 ? "%-*s" : "  %*s", (int)width[j],
                     json_string_value(cell));
    }
    (void)printf("\n");
}

void page_print(const struct lab *lab)
{
    const json_t *table, *remark, *row;
    size_t i, k;

    (void)printf("%s: %s\n", lab->experiment->name, lab->experiment->title);
    json_array_foreach(json_object_get(lab->page, "tables"), i, table)
    {
        size_t width[COLUMNS_MAX] = {0};

        for (k = 0; k < COLUMNS_MAX &&
                    k < json_array_size(json_object_get(table, "columns"));
             k++)
            width[k] = widest(table, k);
        (void)printf("\n%s\n", lab_text(table, "title"));
        print_cells(json_object_get(table, "columns"), width);
        json_array_foreach(json_object_get(table, "rows"), k, row)
        {
            print_cells(row, width);
        }
    }
    json_array_foreach(json_object_get(lab->page, "remarks"), i, remark)
    {
        (void)printf("\n%s\n", json_string_value(remark));
    }
}

/* --- files --------------------------------------------------------------- */

static enum err save(const struct lab *lab, const char *name, struct svg *out,
                     struct why *why)
{
    char path[LAB_PATH + NAME_SIZE];
    enum err err;

    (void)snprintf(path, sizeof path, "%s/%s", lab->folder, name);
    err = out->failed
              ? why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM))
              : output_put(path, OUTPUT_OWN, 0644, out->text, out->used, why);
    mem_free(out->text);
    *out = (struct svg){0};
    return err;
}

static enum err save_tables(const struct lab *lab, struct why *why)
{
    const json_t *table, *row;
    size_t i, j;
    enum err err = ERR_OK;

    json_array_foreach(json_object_get(lab->page, "tables"), i, table)
    {
        struct svg out = {0};
        char name[NAME_SIZE];

        table_csv(&out, json_object_get(table, "columns"));
        json_array_foreach(json_object_get(table, "rows"), j, row)
        {
            table_csv(&out, row);
        }
        (void)snprintf(name, sizeof name, "table-%zu.csv", i + 1);
        err = save(lab, name, &out, why);
        if (err != ERR_OK)
            break;
    }
    return err;
}

static enum err save_plot(const struct lab *lab, const json_t *plot,
                          struct why *why)
{
    const json_t *line, *point;
    struct svg out = {0};
    char name[NAME_SIZE];
    size_t i, j;
    enum err err;

    svg_add(&out, "line,x,y\n");
    json_array_foreach(json_object_get(plot, "lines"), i, line){
        json_array_foreach(json_object_get(line, "points"), j, point){
            svg_add(&out, "%s,%.10g,%.10g\n", lab_text(line, "label"),
                    json_number_value(json_array_get(point, 0)),
                    json_number_value(json_array_get(point, 1)));
}
}
(void)snprintf(name, sizeof name, "%.40s.csv", lab_text(plot, "file"));
err = save(lab, name, &out, why);
if (err != ERR_OK)
    return err;
plot_draw(plot, &out);
svg_add(&out, "</svg>\n");
(void)snprintf(name, sizeof name, "%.40s.svg", lab_text(plot, "file"));
return save(lab, name, &out, why);
}

static void add_commands(struct svg *out, const struct lab *lab)
{
    const json_t *command;
    size_t i;

    if (lab->runs == 1)
        svg_add(out, "<details><summary>The run behind these "
                     "numbers</summary>\n<pre>");
    else
        svg_add(out,
                "<details><summary>The %u runs behind these "
                "numbers</summary>\n<pre>",
                lab->runs);
    json_array_foreach(json_object_get(lab->page, "commands"), i, command)
    {
        const char *trouble = lab_trouble(json_object_get(command, "result"));

        add_text(out, lab_text(command, "program"));
        add_text(out, " ");
        add_text(out, lab_text(command, "line"));
        svg_add(out, "   # %s", lab_text(command, "file"));
        if (*trouble != '\0') {
            svg_add(out, ": ");
            add_text(out, trouble);
        }
        svg_add(out, "\n");
    }
    svg_add(out, "</pre></details>\n");
}

static void add_page(struct svg *out, const struct lab *lab)
{
    const struct experiment *of = lab->experiment;
    const json_t *remark, *table, *plot;
    size_t i;

    svg_add(out, "%s", head);
    add_element(out, "title", of->title);
    svg_add(out, "</head>\n<body>\n");
    add_element(out, "h1", of->title);
    add_element(out, "p", of->source);
    add_element(out, "blockquote", of->claim);
    svg_add(out, "<p><code>muster reproduce %s", of->name);
    add_text(out, lab->flags);
    svg_add(out, "</code></p>\n");
    json_array_foreach(json_object_get(lab->page, "remarks"), i, remark)
    {
        svg_add(out, "<p class=\"%s\">",
                strstr(json_string_value(remark), "stands in") != NULL
                    ? "stand-in"
                    : "remark");
        add_text(out, json_string_value(remark));
        svg_add(out, "</p>\n");
    }
    json_array_foreach(json_object_get(lab->page, "tables"), i, table)
    {
        table_html(out, table);
    }
    json_array_foreach(json_object_get(lab->page, "plots"), i, plot)
    {
        struct svg picture;

        plot_draw(plot, &picture);
        svg_add(&picture, "</svg>\n");
        out->failed |= picture.failed;
        svg_add(out, "<p>%s</p>\n", picture.failed ? "" : picture.text);
        mem_free(picture.text);
    }
    add_element(out, "h2", "What differs, and why");
    add_element(out, "p", of->differs);
    add_commands(out, lab);
    svg_add(out, "</body>\n</html>\n");
}

static int add_json(const char *text, size_t size, void *context)
{
    svg_add(context, "%.*s", (int)size, text);
    return 0;
}

void page_remove(const struct lab *lab)
{
    static const char *const names[] = {"index.html", "data.json"};
    char path[LAB_PATH + NAME_SIZE];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", lab->folder, names[i]);
        file_remove(path);
    }
}

enum err page_write(struct lab *lab, struct why *why)
{
    const json_t *plot;
    struct svg out = {0};
    size_t i;
    enum err err = save_tables(lab, why);

    json_array_foreach(json_object_get(lab->page, "plots"), i, plot)
    {
        if (err == ERR_OK)
            err = save_plot(lab, plot, why);
    }
    if (err == ERR_OK) {
        out.failed |=
            json_dump_callback(lab->page, add_json, &out, JSON_INDENT(1)) != 0;
        err = save(lab, "data.json", &out, why);
    }
    if (err == ERR_OK) {
        add_page(&out, lab);
        err = save(lab, "index.html", &out, why);
    }
    return err;
}

void page_markdown(const struct lab *lab, struct svg *out)
{
    const struct experiment *of = lab->experiment;
    const json_t *table, *remark;
    size_t i;

    svg_add(out, "\n## %s\n\n*%s*\n\n> %s\n\n`muster reproduce %s%s`\n",
            of->title, of->source, of->claim, of->name, lab->flags);
    json_array_foreach(json_object_get(lab->page, "tables"), i, table)
    {
        table_markdown(out, table);
    }
    json_array_foreach(json_object_get(lab->page, "remarks"), i, remark)
    {
        svg_add(out, "\n%s\n", json_string_value(remark));
    }
    svg_add(out, "\n%s\n", of->differs);
}
