/*
 * data_get.c - `muster data get NAME|URL`.
 *
 * A name stands for a few files with known hashes, put into the folder --out;
 * an address is one file.  Data behind a login are named too, to say where to
 * find them.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "cli/data.h"
#include "learn/card/json.h"
#include "os/file/file.h"
#include "os/net/http.h"

#define PATH_SIZE 1024u

struct remote {
    const char *name;   /* What the user types. */
    const char *folder; /* Address less the file's name. */
    const char *file;
    const char *sha256;
};

#define MNIST "https://storage.googleapis.com/cvdf-datasets/mnist/"
#define COVTYPE                                                                \
    "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/"

static const struct remote remotes[] = {
    {"mnist", MNIST, "train-images-idx3-ubyte.gz",
     "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
    {"mnist", MNIST, "train-labels-idx1-ubyte.gz",
     "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
    {"mnist", MNIST, "t10k-images-idx3-ubyte.gz",
     "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
    {"mnist", MNIST, "t10k-labels-idx1-ubyte.gz",
     "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
    {"covtype", COVTYPE, "covtype.data.gz",
     "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771"},
};

/* Not to be had without a browser. */
static const struct {
    const char *name, *where;
} by_hand[] = {
    {"amazon", "train.csv of https://www.kaggle.com/c/"
               "amazon-employee-access-challenge, which wants a login"},
    {"kc", "kc_house_data.csv of https://www.kaggle.com/datasets/harlfoxem/"
           "housesalesprediction, which wants a login"},
    {"credit", "the table of https://doi.org/10.24432/C55S3H, saved as CSV "
               "under the name default_of_credit_card_clients.csv"},
};

static void show_progress(void *context, uint64_t done, uint64_t total)
{
    const struct cli *const cli = context;

    if (cli->quiet || isatty(STDERR_FILENO) == 0)
        return;
    if (total > 0)
        (void)fprintf(stderr, "\r%8.1f of %.1f MiB  %3.0f %%",
                      (double)done / 0x1p20, (double)total / 0x1p20,
                      100 * (double)done / (double)total);
    else
        (void)fprintf(stderr, "\r%8.1f MiB", (double)done / 0x1p20);
}

static bool parse_hash(const char *text, struct digest *digest)
{
    return strlen(text) == (size_t)2 * DIGEST_BYTES &&
           hex_get(text, DIGEST_BYTES, digest->bytes);
}

/* Fetch one file; the report goes into `list`. */
static enum err fetch(struct cli *cli, const char *url, const char *path,
                      const struct digest *hash, json_t *list, struct why *why)
{
    const struct http_options options = {.url = url,
                                         .path = path,
                                         .sha256 = hash,
                                         .progress = show_progress,
                                         .context = cli};
    struct http_report report = {0};
    char hex[DIGEST_TEXT];
    const enum err err = http_download(&options, &report, why);

    if (!cli->quiet && isatty(STDERR_FILENO) != 0)
        (void)fputc('\n', stderr);
    if (err != ERR_OK)
        return err;
    (void)digest_text(&report.sha256, hex);
    if (cli->json) {
        (void)json_array_append_new(
            list, json_pack("{s:o, s:I, s:I, s:s}", "file", name_json(path),
                            "bytes", (json_int_t)report.bytes, "resumed_at",
                            (json_int_t)report.resumed_at, "sha256", hex));
    } else {
        say_name("", path, "  ");
        (void)printf("%llu bytes  sha256 %s\n",
                     (unsigned long long)report.bytes, hex);
    }
    return ERR_OK;
}

static enum err get_named(struct cli *cli, const char *what, json_t *list,
                          struct why *why)
{
    const char *out = option_text(&cli->options, OPT_TO);
    enum err err = ERR_UNKNOWN;

    for (size_t i = 0; i < sizeof remotes / sizeof *remotes; i++) {
        const struct remote *const one = &remotes[i];
        char url[PATH_SIZE];
        char path[PATH_SIZE];
        struct digest hash;

        if (strcmp(one->name, what) != 0)
            continue;
        if (out == NULL)
            out = one->name;
        err = file_make_folder(out, why);
        if (err != ERR_OK)
            return err;
        (void)snprintf(url, sizeof url, "%s%s", one->folder, one->file);
        if (snprintf(path, sizeof path, "%s/%s", out, one->file) >=
            (int)sizeof path)
            return why_set(why, ERR_RANGE, "--to: the name is too long");
        (void)parse_hash(one->sha256, &hash);
        if (file_exists(path)) {
            say_note(cli, "%s is there already", path);
            continue;
        }
        err = fetch(cli, url, path, &hash, list, why);
        if (err != ERR_OK)
            return err;
    }
    return err;
}

static enum err say_by_hand(const char *what, struct why *why)
{
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        if (strcmp(by_hand[i].name, what) == 0)
            return why_set(why, ERR_DENIED,
                           "%s must be fetched in a browser: %s; then run "
                           "`muster data prepare %s --raw FOLDER`",
                           what, by_hand[i].where, what);
    }
    return why_set(why, ERR_UNKNOWN,
                   "no data named %.64s; there are mnist and covtype, or give "
                   "an address that starts with http:// or https://",
                   what);
}

/* The file's name in an address, without what follows a question mark. */
static enum err name_in(const char *url, char *name, size_t size,
                        struct why *why)
{
    const char *const slash = strrchr(url, '/');
    const size_t length = strcspn(slash + 1, "?#");

    if (length == 0 || length >= size || slash[1] == '.')
        return why_set(why, ERR_RANGE,
                       "the address does not end with a file's name; give one "
                       "with --to FILE");
    (void)snprintf(name, size, "%.*s", (int)length, slash + 1);
    return ERR_OK;
}

static enum err get_address(struct cli *cli, const char *url, json_t *list,
                            struct why *why)
{
    const char *sha256 = option_text(&cli->options, OPT_SHA256);
    const char *path = option_text(&cli->options, OPT_TO);
    struct digest hash;
    char name[PATH_SIZE];

    if (sha256 != NULL && !parse_hash(sha256, &hash))
        return why_set(why, ERR_RANGE, "--sha256 takes 64 hexadecimal digits");
    if (path == NULL) {
        const enum err err = name_in(url, name, sizeof name, why);

        if (err != ERR_OK)
            return err;
        path = name;
    }
    return fetch(cli, url, path, sha256 == NULL ? NULL : &hash, list, why);
}

int data_get(struct cli *cli, const char *what)
{
    json_t *const list = json_array();
    struct why why = {0};
    enum err err;

    if (strstr(what, "://") != NULL)
        err = get_address(cli, what, list, &why);
    else
        err = get_named(cli, what, list, &why);
    if (err == ERR_UNKNOWN && why.text[0] == '\0')
        err = say_by_hand(what, &why);
    if (err != ERR_OK) {
        json_decref(list);
        return say_why(cli, err, &why);
    }
    if (cli->json)
        say_json(json_pack("{s:o}", "files", list));
    else
        json_decref(list);
    return EXIT_DONE;
}
