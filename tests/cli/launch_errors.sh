# What `muster launch` is told wrongly is told back before any machine is asked.
says() { "$MUSTER" launch "$@" 2>&1; echo "exit $?"; }
says
says pbs --hosts a -- train gen:gmm
says ssh -- train gen:gmm
says ssh --hosts a
says ssh --hosts a -- predict gen:gmm m
says ssh --hosts 'a,$(b)' -- train gen:gmm
says ssh --hosts a:0 -- train gen:gmm
says ssh --hostfile none -- train gen:gmm
printf '# mine\n\nnode1 slots=two\n' >hosts
says ssh --hostfile hosts -- train gen:gmm
printf 'node1 2\n' >hosts
says ssh --hostfile hosts -- train gen:gmm
printf 'node1\nnode[2-4,7]\n' >hosts
says ssh --hostfile hosts -- train gen:gmm
says ssh --hosts 'node[1-3]' -- train gen:gmm
says ssh --hosts 'node[1,3]' -- train gen:gmm
says ssh --hosts a,b train gen:gmm m
says ssh --hosts a -- train gen:gmm --stepps 3
says ssh --hosts a -- train gen:gmm --topology ring
says ssh --hosts a -- train gen:gmm --topology mpi
says ssh --hosts a -- train --resume
says ssh --hosts a -- train
says ssh --hosts a -- train gen:gmm -n 4
says ssh --hosts a --restrat -- train gen:gmm
says slurm -- train gen:gmm
says ranks -- train gen:gmm --out a
says ranks
says slurm --workers 4:32
says slurm --workers 4:32 --restart -- train gen:gmm
says ssh --hosts a --print -- train gen:gmm
says ranks --remote muster -- train gen:gmm
ls
"$MUSTER" launch ssh --hosts a -- train --help | head -n 1
"$MUSTER" launch ssh --hosts a -- train gen:gmm --steps 7 --print-config | grep steps
# All that is wrong is told, of the engine's words and of the job's.
says ssh --hosts a -- train gen:gmm --stps 3 --otpim gd --lr x
says slurm --hots a --treads 3 -- train gen:gmm --stps 3
says slurm --hosts a --restart --ssh-config b -- train gen:gmm --stps 3
says ranks --hosts a --print -- train gen:gmm --stps 3 --otpim gd
says ssh --hosts a:0 -- train gen:gmm --stps 3 --topology ring
says ssh -- train gen:gmm --topology ring -n 4
says ssh --hsts a -- train gen:gmm --format json
"$MUSTER" launch ssh --hosts a:0 --format json -- train gen:gmm --stps 3 2>&1
