# Who was started many times by one command trains as often, and the first of
# them says so.  A batch script of Slurm's, which runs once, has no step; and
# what a rank starts has its environment, which is no reason to speak.
says() { echo "$@"; env "$@" "$MUSTER" train gen:gmm:100,3 --steps 1 -q 2>&1 | grep -v '^[a-z]*  '; }
says SLURM_PROCID=0 SLURM_NTASKS=4
says SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4
says SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4
says SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1
says OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2
says PMI_RANK=0 PMI_SIZE=3
(export PMI_RANK=0 PMI_SIZE=3; sh -c '"$MUSTER" train gen:gmm:100,3 --steps 1 -q 2>&1; :') | head -n 1
# Where all ranks are on one machine nobody else is listened to.
one() { env "$@" "$MUSTER" launch ranks --workers 1 -q -- train gen:gmm:100,3 --steps 1 --out "$1" >/dev/null 2>&1; grep listen "$1/config"; }
one PMI_RANK=0 PMI_SIZE=4 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=1
one SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2
