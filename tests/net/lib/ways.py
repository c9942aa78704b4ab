"""Ways to run one job that must not change a bit of its model: codes, trouble,
members that come and go.  For jobs of 24 steps or more."""

WAYS = {
    "one worker": ["-n", 1],
    "2 threads": ["-n", 2, "--threads", 2],
    "uncoded": ["-n", 4, "--code", "uncoded"],
    "frc": ["-n", 4, "--code", "frc", "--stragglers", 1],
    "steal of five": ["-n", 5, "--code", "steal", "--stragglers", 2],
    "more workers than processors": ["-n", 9, "--code", "steal"],
    "slow answers": ["-n", 4, "--delay", "exp:0.01"],
    "killed workers": ["-n", 4, "--chaos", "kill:w1@3,kill:w2@9"],
    "killed workers, uncoded": ["-n", 4, "--code", "uncoded", "--chaos",
                                "kill:w1@3,kill:w2@9"],
    "killed coordinator": ["-n", 4, "--chaos", "kill:coordinator@7"],
    "killed coordinators and workers": [
        "-n", 4, "--chaos",
        "kill:coordinator@5,kill:w0@5,kill:w3@11,kill:coordinator@17"],
    "stopped and continued": ["-n", 4, "--chaos", "stop:w2@4+3,stop:w1@12+3"],
    "joins and leaves": ["-n", 3, "--chaos", "join@4,leave:w1@9,join@12"],
    "everything at once": [
        "-n", 6, "--respawn", "--delay", "worker:w5=2", "--chaos",
        "kill:w1@4,join@6,stop:w2@8+3,leave:w3@12,kill:coordinator@14,"
        "kill:w0@20"],
}
