/*
 * page.h - what an experiment found, for people: one HTML page that needs
 * nothing else, its plots as SVG, its tables and plots as CSV, and the same
 * tables as text and as Markdown.
 */
#ifndef CLI_REPRODUCE_PAGE_H
#define CLI_REPRODUCE_PAGE_H

#include "cli/reproduce/lab.h"
#include "cli/show/svg.h"

/* Before the runs begin: an older page is not of their files. */
void page_remove(const struct lab *lab);
/* FOLDER/index.html, *.svg, *.csv and data.json. */
MUST_CHECK enum err page_write(struct lab *lab, struct why *why);
/* The experiment's tables and remarks on standard output. */
void page_print(const struct lab *lab);
/* Its chapter of docs/results.md, added to `out`. */
void page_markdown(const struct lab *lab, struct svg *out);

/* plot.c: a plot of lab_plot as a whole SVG. */
void plot_draw(const json_t *plot, struct svg *svg);

#endif /* CLI_REPRODUCE_PAGE_H */
