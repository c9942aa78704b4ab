exec 2>&1
# Names of files come to a terminal as one line that it shows and does not obey;
# JSON has them as they are.
evil=$(printf '\033]0;pwn\007\nmuster: fake')
printf '+1 1:1\n-1 1:-1\n+1 1:2\n-1 1:-2\n' >d.svm
"$MUSTER" train d.svm "saved$evil.txt" -q | grep -a -A1 '^saved'
"$MUSTER" train d.svm m.txt -n 2 --out "run$evil" -q | grep -a -A1 '^run'
"$MUSTER" report "run$evil" | sed -n '1,2s/: .*/: .../p'
"$MUSTER" predict d.svm m.txt "predicted$evil.txt" -q | grep -a -A1 '^written'
"$MUSTER" model convert m.txt "model$evil.npy" | grep -a -A1 '^written'
"$MUSTER" token new "token$evil"
"$MUSTER" train d.svm "config$evil" --print-config | grep -a -A1 'config'
{
	seq -s, 1 4
	printf '%s\n' 5,1,0,1 2,2,0,2 7,1,5,1 1,8,2,2
} >"run$evil.csv"
"$MUSTER" train "run$evil.csv" t.txt 2>&1 | grep -a -B1 'counts up'
"$MUSTER" train d.svm "saved$evil.txt" -q --force --format json | grep -a '^  "model"'
