# Filters count the user's columns: the intercept, a column of ones behind them,
# is none; and a column that is not there is told before anything is begun.
exec 2>&1
for k in 4 5 6; do
	echo "column:$k"
	"$MUSTER" train gen:gmm:500,4 -n 3 --code flexent:filters=column:$k --steps 2 -q | sed 's/^objective .*/taken/' | grep -e taken -e muster:
	"$MUSTER" simulate gen:gmm:500,4 -n 3 --code flexent:filters=column:$k --steps 2 -q | sed 's/^objective .*/taken/' | grep -e taken -e muster:
done
"$MUSTER" train gen:gmm:500,4 -n 3 --code flexent:filters=label+edges --steps 2 -q
"$MUSTER" simulate gen:gmm:500,4 -n 3 --compare steal,flexent:filters=column:5 --steps 2 -q
"$MUSTER" train gen:gmm:500,4 -n 3 --code flexent:filters=column:5 --no-intercept --steps 2 -q
"$MUSTER" data entropy gen:gmm:500,4 --filters column:5
