# What a run cost.  Its history is replaced by one of known times: w0 is there
# for four steps of half an hour, w1 for three (its last cell is -2: away), so
# that 3.5 worker-hours are paid for.
"$MUSTER" train gen:gmm:400,5 -n 2 --steps 4 -q --out a --optim gd >/dev/null
cat >a/history.1.json <<'END'
{"workers": ["w0", "w1"], "stride": 1, "events": [], "events_lost": 0,
 "muster": "0", "chunks": 2, "slots": 2, "judged": [], "metric": null,
 "code": {"name": "frc", "auto": false, "stragglers": 1, "collect": 0,
  "replicas": 0, "parts": 0, "pieces": 0, "seed": 0, "staleness": 0,
  "compared": false},
 "steps": [
 {"step": 1, "rounds": 1, "at_us": 0, "took_us": 1800000000, "loss": 1,
  "class": 0, "cells": [1800000000, 1800000000, 2, 3600000000, 3600000000, 2]},
 {"step": 2, "rounds": 1, "at_us": 1800000000, "took_us": 1800000000,
  "loss": 1, "class": 0,
  "cells": [1800000000, 1800000000, 2, 7200000000, 7200000000, 2]},
 {"step": 3, "rounds": 1, "at_us": 3600000000, "took_us": 1800000000,
  "loss": 1, "class": 0,
  "cells": [1800000000, 1800000000, 2, 3600000000, 3600000000, 2]},
 {"step": 4, "rounds": 1, "at_us": 5400000000, "took_us": 1800000000,
  "loss": 1, "class": 0, "cells": [1800000000, 1800000000, 2, -2, 0, 0]}]}
END
"$MUSTER" report a --price 1.04
"$MUSTER" report a --price .01
"$MUSTER" report a | grep -c cost
"$MUSTER" report a --price 1.04 --format json | sed -n '/"cost"/,/}/p'
"$MUSTER" report a --format json | grep '"cost"'
# Steps that took far longer than all answers do: the replay is far off.
sed -i 's/"took_us": 1800000000/"took_us": 4200000000/' a/history.1.json
"$MUSTER" report a --price 1.04 | sed 1d
rm a/history.1.json
"$MUSTER" report a --price 1.04 | tail -1
"$MUSTER" report a --price -1 2>&1
echo "exit $?"
