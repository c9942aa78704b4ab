/*
 * shuffle.c - coded shuffling, which the lecture tells of after Lee et al.:
 * bytes between processes against the formula, and what shuffling does for SGD.
 *
 * The processes are those of examples/shuffle.c, a program of its own that came
 * with muster: nothing of Muster itself shuffles so.  What it counts is taken
 * from what it prints, and compared here.
 */
#include <stdio.h>

#include "cli/reproduce/experiments.h"

/* What a run of the example is asked for. */
#define BYTES                                                                  \
    "-n %u --keep 1/2 --passes %u --placement %s --code %s --network %s"
#define TRAIN "-n 4 --rows 1024 --passes %u --shuffle %s --seed %u"
#define SEEDS 5u

static uint32_t passes_of(const struct lab *lab)
{
    return lab->quick ? 3 : 11;
}

/* Rows that workers compared with what they should be. */
struct compared {
    double right, wrong;
};

static const json_t *count_bytes(struct lab *lab, struct compared *rows,
                                 uint32_t n, const char *placement, bool coded,
                                 bool multicast)
{
    const json_t *run = lab_example(lab, "shuffle", BYTES, n, passes_of(lab),
                                    placement, coded ? "xor" : "none",
                                    multicast ? "multicast" : "unicast");

    rows->right += lab_number(run, "right_rows");
    rows->wrong += lab_number(run, "wrong_rows");
    return run;
}

static double each_deal(const json_t *run, const char *bytes)
{
    return lab_number(run, bytes) / lab_number(run, "deals");
}

static const struct lab_chart bytes_chart = {
    .table = "Bytes that a master sends for one shuffle, caches of p = 1/2",
    .columns = "workers|shares and caches|rows|coded, multicast|formula, "
               "coded|uncoded, unicast|formula, uncoded|coded of uncoded",
    .file = "bytes",
    .title = "Bytes of coded shuffling",
    .x = "workers",
    .y = "share of uncoded's",
    .measured = {"balanced", "random, about 4,096 rows"},
    .theory = "formula",
};

/* Coded by multicast against uncoded row by row, for several numbers of
 * workers; shares and caches balanced, and drawn freely. */
static void against_formula(struct lab *lab, struct compared *rows)
{
    static const uint32_t sizes[] = {2, 3, 4, 6, 8};
    static const char *const placements[] = {"balanced", "random"};
    const struct lab_drawn drawn = lab_chart(lab, &bytes_chart);
    double two[2] = {0};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < 2; k++) {
            const json_t *coded =
                count_bytes(lab, rows, sizes[i], placements[k], true, true);
            const json_t *plain =
                count_bytes(lab, rows, sizes[i], placements[k], false, false);
            const double sent = each_deal(coded, "sent_bytes");
            const double all = each_deal(plain, "sent_bytes");

            lab_row(drawn.table, "%u|%s|%.0f|%.0f|%.0f|%.0f|%.0f|%.4f",
                    sizes[i], placements[k], lab_number(coded, "rows"), sent,
                    each_deal(coded, "formula_bytes"), all,
                    each_deal(plain, "formula_uncoded_bytes"), sent / all);
            lab_point(drawn.lines[k], sizes[i], sent / all);
            if (sizes[i] == 2)
                two[k] = sent / all;
            if (k > 0)
                continue;
            lab_point(drawn.theory, sizes[i],
                      lab_number(coded, "formula_bytes") /
                          lab_number(coded, "formula_uncoded_bytes"));
        }
    lab_remark(lab,
               "%sWith two workers and balanced shares coded sends %s half; "
               "with shares drawn freely it pads, and sends %.4f.",
               two[0] == .5 ? "" : "WRONG: ",
               two[0] == .5 ? "exactly" : "another part than", two[1]);
}

/* The same messages over a network that has multicast, and one that has not. */
static void without_multicast(struct lab *lab, struct compared *rows)
{
    static const struct {
        const char *name;
        bool coded, multicast;
    } ways[] = {
        {"uncoded, unicast", false, false},
        {"coded, multicast (UDP)", true, true},
        {"coded, unicast: sent to each that needs it", true, false},
    };
    json_t *table =
        lab_table(lab, "Four workers, with multicast and without",
                  "way|different messages of a shuffle|sendings|bytes|bytes of "
                  "headers|bytes sent again");

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const bool known = ways[i].coded == ways[i].multicast; /* Above. */
        struct compared again = {0};
        const json_t *run =
            count_bytes(lab, known ? &again : rows, 4, "balanced",
                        ways[i].coded, ways[i].multicast);

        lab_row(table, "%s|%.0f|%.0f|%.0f|%.0f|%.0f", ways[i].name,
                each_deal(run, "messages"),
                each_deal(run, "sent_bytes") / lab_number(run, "row_bytes"),
                each_deal(run, "sent_bytes"), each_deal(run, "head_bytes"),
                each_deal(run, "resent_bytes"));
    }
    lab_remark(lab, "Four workers: coded messages are the same with multicast "
                    "and without, but without it each is sent once to every "
                    "worker that wants a row of it, as often as rows are "
                    "wanted. Unicast is a stream whose order both ends know: "
                    "its messages need no header; a datagram's says which "
                    "message it is. Headers here are the program's own: those "
                    "of UDP and IP, 28 bytes a datagram, and of TCP are not "
                    "counted.");
}

/* Sets of workers that want different numbers of rows pad: less, the more rows
 * there are. */
static void padding(struct lab *lab)
{
    static const uint32_t rows[] = {512, 4096, 32768, 262144};
    json_t *table = lab_table(
        lab,
        "Eight workers, shares and caches drawn freely: what padding costs",
        "rows|measured of the formula");

    for (size_t i = 0; i < (lab->quick ? 3u : 4u); i++) {
        const json_t *run =
            lab_example(lab, "shuffle",
                        "-n 8 --keep 1/2 --rows %u --columns 3 --placement "
                        "random --passes 3",
                        rows[i]);

        lab_row(table, "%u|%.4f", rows[i],
                lab_number(run, "sent_bytes") /
                    lab_number(run, "formula_bytes"));
    }
}

/* Loss above the least, the mean of several seeds. */
static void convergence(struct lab *lab)
{
    static const struct {
        const char *word, *name;
    } ways[] = {
        {"never", "never: as the rows lie, sorted by label"},
        {"once", "once, before the first pass"},
        {"each", "before each pass"},
    };
    const uint32_t passes = lab->quick ? 20 : 50;
    json_t *table = lab_table(
        lab,
        "SGD on four workers, averaged after each pass: loss above the "
        "least",
        "shuffled|after 1 pass|after 5|after 10|after 20");
    json_t *plot =
        lab_plot(lab, "convergence", "Loss above the least",
                 "passes over the data", "loss - least", LAB_LOG_X | LAB_LOG_Y);

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        json_t *line = lab_line(plot, ways[i].name, false);
        double gaps[64] = {0};

        for (uint32_t seed = 1; seed <= SEEDS; seed++) {
            const json_t *run =
                lab_example(lab, "shuffle", TRAIN, passes, ways[i].word, seed);

            for (uint32_t pass = 0; pass < passes; pass++) {
                char path[32];

                (void)snprintf(path, sizeof path, "losses.%u", pass);
                gaps[pass] +=
                    (lab_number(run, path) - lab_number(run, "least_loss")) /
                    SEEDS;
            }
        }
        for (uint32_t pass = 0; pass < passes; pass++)
            lab_point(line, pass + 1, gaps[pass]);
        lab_row(table, "%s|%.2e|%.2e|%.2e|%.2e", ways[i].name, gaps[0], gaps[4],
                gaps[9], gaps[19]);
    }
}

static void run_shuffle(struct lab *lab)
{
    struct compared rows = {0};

    against_formula(lab, &rows);
    without_multicast(lab, &rows);
    padding(lab);
    convergence(lab);
    lab_remark(lab,
               "After each shuffle every worker compared its rows with what "
               "they should be, bit for bit: %.0f right, %.0f wrong.",
               rows.right, rows.wrong);
    if (lab->virtual_time)
        lab_remark(lab, "There is no virtual form: these are real processes.");
}

const struct experiment experiment_shuffle = {
    .name = "shuffle",
    .title = "Coded shuffling: one message for many workers",
    .source = "Lecture 24 on distributed machine learning, 24.6; Lee et al., "
              "Speeding up distributed machine learning using codes, 2018",
    .claim = "When a share alpha of the data can be cached at each worker, "
             "coded shuffling reduces the communication cost by a factor "
             "Theta(alpha gamma(n)), where gamma(n) is the cost of n unicasts "
             "over that of one broadcast.",
    .differs =
        "Bytes of rows are counted, not seconds. The formula is an average for "
        "very "
        "many rows; balanced shares and caches, drawn at random among those "
        "with the expected numbers, meet it to the byte, while freely drawn "
        "ones pad. Without multicast (TCP, clouds: gamma(n) = 1) a coded "
        "message goes to each worker by itself and coding saves nothing. What "
        "SGD gains is of shuffling, coded or not: rows sorted by label, left "
        "where they lie, hold it up for many passes; shuffled once, they are "
        "visited in the same drawn order in every pass. A program of its own, "
        "examples/shuffle.c.",
    .run = run_shuffle,
};
