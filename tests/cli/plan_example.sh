# The network in the examples of `muster plan --help` can be planned for.
example=$("$MUSTER" plan --help | sed -n 's/^  muster \(plan --net.*\)/\1/p')
eval "\"\$MUSTER\" $example" >said && grep -c . said | awk '{ print ($1 > 5) }'
