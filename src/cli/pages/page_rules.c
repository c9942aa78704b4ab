/*
 * page_rules.c - `muster codes --rules`: what goes with what, as the table of
 * code/rules.h has it.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/pages/page.h"

#define WIDTH  99u
#define INDENT 4u

/* Who sets a trait: the options that do, or the trait's own name. */
static void put_trait(struct page *page, enum trait trait)
{
    const struct option_use *uses = option_uses();
    bool found = false;

    for (int i = 0; i < OPTIONS; i++) {
        const struct option *row = option_row(uses[i].id);

        if ((row->traits >> trait & 1) == 0 || uses[i].section == NULL)
            continue;
        page_put(page, "%s%s%s", found ? ", " : "",
                 row->name[1] == '\0' ? "-" : "--", row->name);
        found = true;
    }
    if (!found)
        page_put(page, "%s", trait_name(trait));
}

static void put_traits(struct page *page, trait_set traits, const char *between)
{
    bool first = true;

    for (int i = 0; i < TRAITS; i++) {
        if ((traits >> i & 1) == 0)
            continue;
        page_put(page, "%s", first ? "" : between);
        put_trait(page, (enum trait)i);
        first = false;
    }
}

/* "A + B + one of C, D". */
static void put_set(struct page *page, const struct rule *rule)
{
    put_traits(page, rule->all, " + ");
    if (rule->any == 0)
        return;
    page_put(page, " + ");
    put_traits(page, rule->any, ", ");
}

/* Words from column `indent` on; the page is closed. */
static void print_page(struct page *page, size_t indent)
{
    size_t at = indent;

    (void)printf("%*s", (int)indent, "");
    for (size_t i = 0; i < page->size;) {
        const char *word = page->data + i;
        const char *blank = memchr(word, ' ', page->size - i);
        const size_t length =
            blank == NULL ? page->size - i : (size_t)(blank - word);

        if (at > indent && at + 1 + length > WIDTH) {
            (void)printf("\n%*s", (int)indent, "");
            at = indent;
        }
        at +=
            (size_t)printf("%s%.*s", at > indent ? " " : "", (int)length, word);
        i += length + 1;
    }
    (void)putchar('\n');
    page_close(page);
}

static void print_rule(const struct rule *rule)
{
    struct page page = {0};

    put_set(&page, rule);
    print_page(&page, 0);
    page_put(&page, "%s", rule->why);
    print_page(&page, INDENT);
}

static json_t *rule_json(const struct rule *rule)
{
    struct page page = {0};
    json_t *object;

    put_set(&page, rule);
    object = json_pack("{s:s#, s:s}", "together", page.data, (int)page.size,
                       "why", rule->why);
    page_close(&page);
    return object;
}

int page_rules(const struct cli *cli)
{
    uint32_t count;
    const struct rule *list = rule_list(&count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count; i++) {
        if (cli->json)
            (void)json_array_append_new(rows, rule_json(&list[i]));
        else
            print_rule(&list[i]);
    }
    if (cli->json)
        say_json(json_pack("{s:O}", "rules", rows));
    json_decref(rows);
    return EXIT_DONE;
}
