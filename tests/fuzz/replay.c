/*
 * replay.c - a main for fuzz targets built without libFuzzer:
 *
 *     replay_libsvm corpus/libsvm ...     folders or single files
 */
#include "replay.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const int fed = replay_folder(argv[i]);

        if (fed < 0 && replay_file(argv[i]) != 0) {
            (void)fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
    }
    return 0;
}
