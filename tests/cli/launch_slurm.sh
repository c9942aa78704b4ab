# The two scripts of `muster launch slurm`, whatever the words of the job; what
# differs between folders is cut out.  tests/engines/slurm.py submits them.
"$MUSTER" launch slurm --workers 4:32 --threads 2 --sbatch="--time=60" --print \
    --remote /opt/muster -- train gen:gmm "it's \$(a) model" \
    --out "it's \$(a) run" >scripts
sh -n scripts && sed "s|^cd '.*'|cd 'HERE'|; s|run-[0-9a-f]\{8\}|run-MARK|" scripts
ls
