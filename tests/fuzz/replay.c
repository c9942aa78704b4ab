/*
 * replay.c - a main for fuzz targets built without libFuzzer:
 *
 *     replay_libsvm corpus/libsvm ...     folders or single files
 *
 * It says how many inputs of each folder got to what the target is about.
 */
#include "replay.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const int before = replay_reached;
        const int fed = replay_folder(argv[i]);

        if (fed >= 0)
            (void)printf("%s: %d inputs, %d got there\n", argv[i], fed,
                         replay_reached - before);
        if (fed < 0 && replay_file(argv[i]) != 0) {
            (void)fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
    }
    return 0;
}
