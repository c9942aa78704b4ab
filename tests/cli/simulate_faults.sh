"$MUSTER" simulate --faults --seeds 1:20 --format json | python3 -c '
import json, sys
result = json.load(sys.stdin)
print(sorted(result))
print(result["seeds"], result["violations"], result["faults"] > 100)'
"$MUSTER" simulate --seeds 1:5
