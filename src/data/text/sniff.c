/*
 * sniff.c - format detection of texts by their first line.
 */
#include "data/text/sniff.h"

#include <strings.h>

#include "base/ending.h"
#include "data/span.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The first line that is neither blank nor LIBSVM's comment. */
static struct span first_line(struct span text)
{
    while (text.size > 0) {
        const char *const feed = memchr(text.at, '\n', text.size);
        struct span line = {text.at, feed == NULL ? text.size
                                                  : (size_t)(feed - text.at)};

        text.at += line.size + (feed != NULL);
        text.size -= line.size + (feed != NULL);
        while (line.size > 0 && is_blank(*line.at)) {
            line.at++;
            line.size--;
        }
        if (line.size > 0 && *line.at != '#')
            return line;
    }
    return text;
}

/* Is there a blank, digits and a colon? */
static bool has_pair(struct span line)
{
    for (size_t i = 0; i < line.size; i++) {
        size_t at = i + 1;

        if (!is_blank(line.at[i]))
            continue;
        while (at < line.size && line.at[at] >= '0' && line.at[at] <= '9')
            at++;
        if (at > i + 1 && at < line.size && line.at[at] == ':')
            return true;
    }
    return false;
}

/* Of a text that is none of ours as it begins with a brace or a bracket. */
static bool is_json(struct span line)
{
    return line.size > 0 && (*line.at == '{' || *line.at == '[');
}

const char *sniff_markup(const char *text, size_t size)
{
    static const struct {
        const char *first, *what;
    } tags[] = {
        {"<!doctype", "a page of the web (HTML)"},
        {"<html", "a page of the web (HTML)"},
        {"<head", "a page of the web (HTML)"},
        {"<body", "a page of the web (HTML)"},
        {"<table", "a table of a web page (HTML)"},
        {"<?xml", "XML"},
    };
    static const char mark[] = "\xef\xbb\xbf"; /* Of UTF-8. */
    const bool marked = size >= 3 && memcmp(text, mark, 3) == 0;
    struct span line = first_line(
        (struct span){text + (marked ? 3 : 0), size - (marked ? 3 : 0)});

    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        const size_t known = strlen(tags[i].first);

        if (line.size >= known &&
            strncasecmp(line.at, tags[i].first, known) == 0)
            return tags[i].what;
    }
    return NULL;
}

const char *sniff_foreign(const char *text, size_t size)
{
    static const struct {
        const char *first, *what;
    } kinds[] = {
        {"BZh", "a bzip2 file"},
        {"\xfd"
         "7zXZ",
         "an xz file"},
        {"PAR1", "a Parquet file"},
        {"ARROW1", "an Arrow file"},
        {"\x89HDF", "an HDF5 file"},
        {"SQLite format 3", "a database"},
        {"\x80\x02", "a pickle"},
        {"\x80\x03", "a pickle"},
        {"\x80\x04", "a pickle"},
        {"\x80\x05", "a pickle"},
        {"@relation", "an ARFF file"},
        {"@RELATION", "an ARFF file"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t known = strlen(kinds[i].first);

        if (size >= known && memcmp(text, kinds[i].first, known) == 0)
            return kinds[i].what;
    }
    if (is_json(first_line((struct span){text, size})))
        return "JSON";
    return sniff_markup(text, size);
}

/* Of safetensors: the length of a header, in 8 bytes, and its brace. */
bool sniff_is_model(const char *text, size_t size)
{
    static const char line[] = "solver_type ", zeros[4] = {0};

    _Static_assert(sizeof line - 1 == SNIFF_MODEL_SIZE, "as long as that");
    return (size >= SNIFF_MODEL_SIZE &&
            memcmp(text, line, SNIFF_MODEL_SIZE) == 0) ||
           (size > 8 && text[8] == '{' &&
            memcmp(text + 4, zeros, sizeof zeros) == 0);
}

enum err sniff_network(const char *path, struct why *why)
{
    static const char *const endings[] = {".pt",    ".pth", ".ckpt",
                                          ".onnx",  ".h5",  ".hdf5",
                                          ".keras", ".pb",  ".tflite"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ending_is(path, strlen(path), endings[i]))
            return why_set(
                why, ERR_UNSUPPORTED,
                "%s files are not read; rows are read from LIBSVM, CSV, "
                "IDX, npy and npz, networks from safetensors (from torch: "
                "safetensors.torch.save_file(model.state_dict(), FILE, "
                "metadata={\"net\": ..., \"shape\": ...}), as docs/cli.md "
                "says)",
                endings[i]);
    return ERR_OK;
}

bool sniff_is_table(const char *text, size_t size)
{
    static const char separators[] = {',', ';', '\t', '|'};
    const struct span line = first_line((struct span){text, size});

    for (size_t i = 0; i < sizeof separators; i++) {
        if (line.size > 0 && memchr(line.at, separators[i], line.size) != NULL)
            return !has_pair(line);
    }
    return false;
}
