#!/usr/bin/env python3
"""deploy/kubernetes.yaml without a cluster: its fields belong together, and the
commands that stand in it, run here with the service's name and the pods' paths
replaced, train a model with the hash of one process; a worker that is taken away
leaves in good order and is no finished index, and a coordinator that is killed
goes on where it ended."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["ROOT"]) / "tests" / "net" / "lib"))
from cluster import MUSTER, Tap, happens  # noqa: E402
from sshd import free_port  # noqa: E402

MANIFEST = Path(os.environ["ROOT"]) / "deploy" / "kubernetes.yaml"
LIMIT_S = 100  # Against hangs only.
DATA = ["gen:gmm:4000,30", "--optim", "agd", "--steps", "20000"]


def documents(tap):
    """By (kind, name); read by Debian's Python, which has yaml."""
    read = subprocess.run(
        ["/usr/bin/python3", "-c", "import json, sys, yaml\n"
         "json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)"],
        input=MANIFEST.read_text(), capture_output=True, text=True, check=False)
    if read.returncode:
        tap.skip("manifest", "python3-yaml is not installed (tools/deps.sh engines)")
        tap.done()
    return {(part["kind"], part["metadata"]["name"]): part for part in json.loads(read.stdout)}


def pod(parts, name):
    return parts["Job", name]["spec"]["template"]


def check_fields(tap, parts):
    service = parts["Service", "muster"]["spec"]
    claim = parts["PersistentVolumeClaim", "muster-state"]
    coordinator, worker = (pod(parts, f"muster-{who}") for who in ("coordinator", "workers"))
    tap.ok(service["selector"].items() <= coordinator["metadata"]["labels"].items(),
           "the service finds the coordinator")
    tap.ok(not service["selector"].items() <= worker["metadata"]["labels"].items(),
           "... and no worker")
    port = service["ports"][0]["port"]
    script = coordinator["spec"]["containers"][0]["args"][0]
    dialled = worker["spec"]["containers"][0]["args"][0]
    tap.ok(f"--listen 0.0.0.0:{port} " in script and f"join muster:{port} " in dialled and
           coordinator["spec"]["containers"][0]["ports"][0]["containerPort"] == port,
           "one port for all")
    for who, template in (("coordinator", coordinator), ("worker", worker)):
        spec, container = template["spec"], template["spec"]["containers"][0]
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        tap.equal(mounts, {volume["name"] for volume in spec["volumes"]},
                  f"{who}: every volume is mounted")
        tap.ok(any(volume.get("secret", {}).get("secretName") == "muster-token"
                   for volume in spec["volumes"]), f"{who}: the key is the secret's")
        tap.ok(spec["securityContext"]["runAsNonRoot"] and container["resources"]["requests"],
               f"{who}: not root, with requests")
        tap.ok(spec["terminationGracePeriodSeconds"] >= 30 and
               spec["restartPolicy"] == "OnFailure", f"{who}: time to leave; starts again")
    tap.equal(coordinator["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"],
              claim["metadata"]["name"], "the run's folder outlives its pod")
    job = parts["Job", "muster-workers"]["spec"]
    tap.ok(job["completionMode"] == "Indexed" and job["parallelism"] == job["completions"],
           "an index for each worker")


class Pod:
    """A container's command, here."""

    def __init__(self, template, name, port, **env):
        container = template["spec"]["containers"][0]
        here = Path(name).resolve()
        here.mkdir(exist_ok=True)
        script, *more = container["args"]
        for place, mine in (("/etc/muster/token", Path("token").resolve()),
                            ("/tmp/token", here / "token"), ("/state", Path("state").resolve()),
                            ("gen:gmm:200000,100", " ".join(DATA)),
                            ("0.0.0.0:7731", f"127.0.0.1:{port}"),
                            ("muster:7731", f"127.0.0.1:{port}")):
            script = script.replace(place, str(mine))
        script = re.sub(r"\bmuster (train|join) ", rf"{MUSTER} \1 -q ", script)
        self.process = subprocess.Popen(
            [*container["command"], script, *more], env=dict(os.environ, **env),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, start_new_session=True)

    def wait(self):
        """(status, what it said)."""
        said = self.process.communicate(timeout=LIMIT_S)[1]
        return self.process.returncode, said


def journal():
    path = Path("state/run/journal")
    return path.stat().st_size if path.exists() else 0


def check_run(tap, parts):
    subprocess.run([MUSTER, "token", "new", "token", "-q"], check=True, stdout=subprocess.DEVNULL)
    Path("state").mkdir()
    port = free_port()
    head, tail = pod(parts, "muster-coordinator"), pod(parts, "muster-workers")
    coordinator = Pod(head, "coordinator", port)
    workers = [Pod(tail, f"w{i}", port, JOB_COMPLETION_INDEX=str(i)) for i in range(3)]
    tap.ok(happens(lambda: journal() > 8192), "the manifest's commands train")
    os.kill(workers[2].process.pid, signal.SIGTERM)
    status, said = workers[2].wait()
    tap.equal(status, 143, "a pod that is taken away has not finished its index")
    again = Pod(tail, "w2b", port, JOB_COMPLETION_INDEX="2")
    os.killpg(coordinator.process.pid, signal.SIGKILL)
    coordinator.wait()
    coordinator = Pod(head, "coordinator", port)
    status, said = coordinator.wait()
    tap.equal(status, 0, f"a coordinator that was killed goes on: {said[-300:]}")
    ends = [worker.wait() for worker in (*workers[:2], again)]
    tap.equal([status for status, _ in ends], [0, 0, 0], "workers end with the run")
    one = subprocess.run([MUSTER, "train", *DATA, "--save", "one", "-q", "--out", "alone"],
                         stdout=subprocess.DEVNULL, check=False)
    tap.ok(one.returncode == 0 and Path("one").read_bytes() == Path("state/model").read_bytes(),
           "the model of one process")


def main():
    tap = Tap()
    parts = documents(tap)
    check_fields(tap, parts)
    check_run(tap, parts)
    tap.done()


main()
