# What `muster launch slurm` does with sbatch's answers: more words on standard
# error than are kept, a second job that is refused; then what it refuses itself.
mkdir bin
cat >bin/sbatch <<'END'
#!/bin/sh
echo "sbatch ${2##*/}; over: $(ls "${2%/*}" | grep -c over)" >>calls
i=0; while [ $i -lt 2000 ]; do echo "a banner of the cluster" >&2; i=$((i + 1)); done
case $2 in *"$REFUSE".sbatch) echo "no such account" >&2; exit 1;; esac
echo "7;cluster"
END
printf '#!/bin/sh\necho "scancel $*" >>calls\n' >bin/scancel
chmod +x bin/sbatch bin/scancel
says() { PATH="$PWD/bin:$PATH" "$MUSTER" launch slurm --workers 2:4 "$@" 2>&1; echo "exit $?"; }
mkdir out && : >out/over && echo 4 >out/format # Of the last life.
REFUSE=none says -- train gen:gmm --out out
REFUSE=workers says -- train gen:gmm --out other
REFUSE=coordinator says -- train gen:gmm --out third
cat calls
ls
# Nothing of a job that cannot be is submitted, and no folder is left.
says -- train
says -- train gen:gmm -n 4
PATH=/nowhere "$MUSTER" launch slurm --workers 2:4 -- train gen:gmm 2>&1; echo "exit $?"
ls
says --sbatch="--time=60 --array=0-9" -- train gen:gmm
says --sbatch="-J mine" -- train gen:gmm
long=$(printf '%0500d' 0)
says --print --sbatch="--comment=$long --time=60" -- train gen:gmm --out x | grep -c "${long} --time=60\$"
"$MUSTER" train gen:gmm --steps 2 --workers 2 --out done -q >/dev/null 2>&1
says --print -- train --resume --out done | grep '^set'
