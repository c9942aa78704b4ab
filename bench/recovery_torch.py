"""What torchrun starts for bench/recovery.py: a small model trained with DDP on
gloo, a checkpoint after every step, and a line in LOG for each:

    TIME start | step NUMBER | kill

With KILL_AT >= 0 the last rank kills itself there, once."""

import os
import signal
import sys
import time

LOG, KILL_AT, STEPS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def note(*words):
    with open(LOG, "a") as log:
        print(time.time(), *words, file=log)


def main():
    note("start")
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(100, 1))
    optim = torch.optim.SGD(model.parameters(), lr=.01)
    saved, first = LOG + ".saved", 0
    if os.path.exists(saved):
        state = torch.load(saved)
        model.load_state_dict(state["model"])
        first = state["step"]
    for step in range(first, STEPS):
        optim.zero_grad()
        model(torch.rand(256, 100)).pow(2).mean().backward()
        optim.step()
        if rank == 0:
            torch.save({"model": model.state_dict(), "step": step + 1},
                       saved + ".new")
            os.replace(saved + ".new", saved)
            note("step", step)
        if step == KILL_AT and rank == world - 1 and \
                not os.path.exists(LOG + ".killed"):
            open(LOG + ".killed", "w").close()
            note("kill")
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(.02)


main()
