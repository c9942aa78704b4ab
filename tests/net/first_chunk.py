#!/usr/bin/env python3
"""A worker answers its first piece while most of its data is still on the
road: the gate between it and the coordinator lets a part of the bytes through
and waits for that answer before it lets in the rest."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
from cluster import (Tap, address_of, finish, own_key, result_of,  # noqa: E402
                     run, start, status, wait_for)
from road import Gate  # noqa: E402

JOB = ["train", "gen:gmm:4096,100", "--chunk-rows", "64", "--steps", "5",
       "--format", "json"]
DATA = 4096 * (8 + 4 * 100)


def answers(out, name):
    now = status(out)
    found = [worker["answers"] for worker in (now or {"workers": []})["workers"]
             if worker["name"] == name]
    return found[0] if found else 0


def main():
    tap = Tap()
    wanted = result_of(run(*JOB).stdout).get("hash")
    process = start(*JOB, "--listen", "127.0.0.1:0", "--workers", "1",
                    "--code", "steal:pieces=16", "--stragglers", "0",
                    "--out", "run")
    gate = Gate(address_of("run"), DATA // 3)
    joiner = start("join", gate.address, "--name", "far", "--chunk-cache", "none",
                   *own_key("run"))
    try:
        wait_for(gate.held.is_set, "the gate to be reached")
        wait_for(lambda: answers("run", "far") > 0, "a first answer")
        tap.ok(not gate.free.is_set(), "answers before all data has come")
    except AssertionError as error:
        tap.ok(False, "answers before all data has come", error)
    gate.open()
    code, text, err = finish(process)
    result = result_of(text)
    tap.ok(code == 0 and result.get("hash") == wanted, "the same hash",
           f"{code} {result} {err}")
    tap.equal(result.get("data", {}).get("shipped"), 64,
              "every chunk is sent once, however late it comes")
    finish(joiner, 20)
    gate.close()
    tap.done()


main()
