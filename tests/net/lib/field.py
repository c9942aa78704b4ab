"""A network of namespaces: a router with a cable to every node.

    with Field("mf123-0") as field:
        field.add("c"), field.add("w0")
        field.start("c", MUSTER, "train", ...)
        field.cut("w0", "mute"), field.heal("w0")

Every node has a namespace, one card (eth0) and a /30 of its own, and reaches
the others through the router's namespace, where packets can be lost in one
direction without the ends noticing.  Nothing here needs more than root and
iproute2.  Namespaces are named after the process that made them, so that what
a killed test left behind can be told from what somebody uses.
"""

import ctypes
import json
import os
import re
import signal
import subprocess

CUTS = {
    # name: what is lost, as the commands for the router, or for the node
    "cable": "both ways, the router's end is down",
    "card": "both ways, the node's end is down: no route",
    "blackhole": "both ways, silently",
    "unreachable": "both ways, the router says so",
    "deaf": "what is sent to the node, by a blackhole route",
    "mute": "what the node sends",
}
TWO_WAY = ("cable", "card", "blackhole", "unreachable")
PREFIX = "mf"
PR_SET_PDEATHSIG = 1


def die_with_parent():
    """In a child: nothing outlives the test, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def ip(*words, check=True):
    done = subprocess.run(["ip", *words], capture_output=True, text=True,
                          check=False)
    if check and done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def namespaces():
    return [line.split()[0] for line in ip("netns", check=False).splitlines()]


def sweep(owner=None):
    """Delete the namespaces of `owner`, or of all who are no more."""
    for name in namespaces():
        made = re.fullmatch(PREFIX + r"(\d+)-\w+", name)
        if made and (int(made[1]) == owner or
                     owner is None and not os.path.exists(f"/proc/{made[1]}")):
            ip("netns", "del", name, check=False)


def why_not():
    """What is missing for a field, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"{PREFIX}{os.getpid()}-probe"
    try:
        ip("netns", "add", name)
        ip("-n", name, "link", "add", "v0", "type", "veth", "peer", "name",
           "v1")
        ip("-n", name, "rule", "add", "from", "10.99.0.2", "blackhole")
    except (OSError, FileNotFoundError) as error:
        return f"no network namespaces: {error}".replace("\n", " ")
    finally:
        try:
            ip("netns", "del", name, check=False)
        except FileNotFoundError:
            pass
    return None


class Field:
    def __init__(self, owner, number):
        self.name = f"{PREFIX}{owner}-{number}"
        self.nodes = {}
        self.cuts = {}
        self.processes = []

    def __enter__(self):
        self.router = self.space("r")
        ip("netns", "add", self.router)
        ip("netns", "exec", self.router, "sh", "-c",
           "echo 1 > /proc/sys/net/ipv4/ip_forward")
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        for process in self.processes:
            process.wait()
        for node in ["r", *self.nodes]:
            ip("netns", "del", self.space(node), check=False)

    def space(self, node):
        return f"{self.name}{node}"

    def address(self, node):
        return f"10.99.{self.nodes[node]}.2"

    def add(self, node):
        number = self.nodes[node] = len(self.nodes) + 1
        space, near = self.space(node), f"10.99.{number}.1"
        ip("netns", "add", space)
        ip("-n", self.router, "link", "add", f"v{node}", "type", "veth",
           "peer", "name", "eth0", "netns", space)
        ip("-n", self.router, "addr", "add", f"{near}/30", "dev", f"v{node}")
        ip("-n", self.router, "link", "set", f"v{node}", "up")
        ip("-n", space, "addr", "add", f"{self.address(node)}/30", "dev",
           "eth0")
        ip("-n", space, "link", "set", "lo", "up")
        ip("-n", space, "link", "set", "eth0", "up")
        ip("-n", space, "route", "add", "default", "via", near)

    def narrow(self, node, rate):
        """No more than `rate` (of tc) towards the node from now on."""
        subprocess.run(["tc", "-n", self.router, "qdisc", "add", "dev",
                        f"v{node}", "root", "tbf", "rate", rate, "burst",
                        "32k", "latency", "500ms"], check=True)

    def sent_to(self, node):
        """Bytes that went towards the node so far."""
        shown = json.loads(ip("-n", self.router, "-s", "-j", "link", "show",
                              f"v{node}"))
        return shown[0]["stats64"]["tx"]["bytes"]

    def cut(self, node, how):
        self.cuts[node] = how
        self.change(node, how, "add", "down")

    def heal(self, node):
        self.change(node, self.cuts.pop(node), "del", "up")

    def rule(self, verb, one, node, two, other):
        """Lose what goes `one` (from, to) node `two` (to, from) the other."""
        ip("-n", self.router, "rule", verb, one, self.address(node), two,
           self.address(other), "blackhole")

    def change(self, node, how, verb, state):
        address, router = self.address(node), self.router
        if how == "cable":
            ip("-n", router, "link", "set", f"v{node}", state)
        elif how == "card":
            space = self.space(node)
            ip("-n", space, "link", "set", "eth0", state)
            if state == "up":
                ip("-n", space, "route", "add", "default", "via",
                   f"10.99.{self.nodes[node]}.1")
        elif how == "deaf":
            ip("-n", router, "route", verb, "blackhole", f"{address}/32")
        elif how == "mute":
            ip("-n", router, "rule", verb, "from", address, "blackhole")
        else:
            for side in ("from", "to"):
                ip("-n", router, "rule", verb, side, address, how)

    def start(self, node, program, *args, out=None, err=None):
        """A program in the node's namespace; it ends with the field."""
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.space(node), program, *map(str, args)],
            stdin=subprocess.DEVNULL, stdout=out or subprocess.DEVNULL,
            stderr=err or subprocess.DEVNULL, preexec_fn=die_with_parent)
        self.processes.append(process)
        return process

    def run(self, node, program, *args):
        """The same, to its end."""
        return subprocess.run(
            ["ip", "netns", "exec", self.space(node), program, *map(str, args)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60, check=False)

    def sockets(self):
        """Who is connected to whom, for those who look for a fault."""
        return "\n".join(f"--- {node}\n" + subprocess.run(
            ["ip", "netns", "exec", self.space(node), "ss", "-tnoH"],
            capture_output=True, text=True, check=False).stdout
            for node in self.nodes)
