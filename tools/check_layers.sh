#!/bin/sh
# check_layers.sh - a folder of src/ may include itself and what src/LAYERS
# grants it, one "layer: allowed allowed ..." per line, lowest layer first.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0
while IFS=: read -r layer allowed; do
    for used in $(grep -rhoE '^#include "[a-z]+/' "src/$layer" |
                  sed 's/.*"//; s,/$,,' | sort -u); do
        case " $layer $allowed " in
        *" $used "*) ;;
        *) grep -rnE "^#include \"$used/" "src/$layer"
           echo "src/$layer/ must not include $used/"; status=1 ;;
        esac
    done
done <src/LAYERS
for dir in src/*/; do
    name=$(basename "$dir")
    grep -q "^$name:" src/LAYERS ||
        { echo "src/LAYERS does not mention $name"; status=1; }
done
# An include names its layer, or the rules above could be walked round.
grep -rnE '^#include "' src |
    grep -vE '"([a-z]+/[a-z0-9_]+\.(h|inc)|muster\.h)"' &&
    { echo 'write "layer/file.h", or "muster.h"'; status=1; }
exit $status
