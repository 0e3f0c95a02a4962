"""A sweep of 1,000 points on a real Slurm: a controller and two nodes on this machine, on the loopback interface only.

Processes are killed, a node and the controller die and come back, the job is cancelled half-way. In the end every point has
exactly one result, nothing is left half-written, and the table is that of a local run, byte for byte. As root, with
Debian's slurmctld, slurmd, slurm-client and munge (`tools/install-packages cluster`); `tools/check --all` runs it:

    HEDDLE=build/release/bin/heddle python3 tests/tools/slurm_sweep.py
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = str(pathlib.Path(os.environ["HEDDLE"]).resolve())
POINTS = 1000
POINTS_PER_JOB = 5

SPEC = f"""
name: "thousand"
trace: "{SOURCE}/traces/samples/mandelbrot.htrace"
divergence: "pdom" divergence: "dwf" divergence: "nrec" divergence: "its"
scheduler: "lrr" scheduler: "gto" scheduler: "oldest" scheduler: "fifo" scheduler: "random"
parameter {{ name: "sms" range {{ from: 1 to: 25 step: 1 }} }}
parameter {{ name: "core.schedulers" value: "1" value: "2" }}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def say(text):
    print(f"{time.monotonic() - START:6.1f} s  {text}", flush=True)


def heddle(*arguments, check=True):
    return subprocess.run(
        [HEDDLE, "sweep", *map(str, arguments)], text=True, check=check, stdout=subprocess.PIPE
    ).stdout


class Cluster:
    """One controller and two nodes, each a foreground process that can be killed by its number."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = {}
        self.munged = None
        host = socket.gethostname().split(".")[0]
        for name in ("state", "n1", "n2", "log"):
            (folder / name).mkdir()
        ports = {name: free_port() for name in ("controller", "n1", "n2")}
        nodes = "\n".join(
            f"NodeName={n} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[n]} CPUs={os.cpu_count()}"
            for n in ("n1", "n2")
        )
        (folder / "slurm.conf").write_text(
            f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports['controller']}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=5
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdTimeout=5
MinJobAge=600
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
{nodes}
PartitionName=main Nodes=n1,n2 Default=YES State=UP
"""
        )
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")

    def start(self):
        pathlib.Path("/run/munge").mkdir(exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")
        if subprocess.run(
            ["munge", "-n"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        ).returncode:
            self.munged = subprocess.Popen(
                ["runuser", "-u", "munge", "--", "munged", "--foreground"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self.start_controller()
        for node in ("n1", "n2"):
            self.start_node(node)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            idle = subprocess.run(
                ["sinfo", "-h", "-t", "idle", "-o", "%D"],
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                check=False,
            ).stdout.strip()
            if idle == "2":
                return
            time.sleep(0.2)
        raise RuntimeError("the nodes did not come up, see " + str(self.folder / "log"))

    def spawn(self, name, command):
        log = open(self.folder / "log" / name, "a")
        self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def start_controller(self):
        self.spawn("controller", ["slurmctld", "-D"])

    def start_node(self, node):
        self.spawn(node, ["slurmd", "-D", "-N", node])

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def kill_steps(self, node):
        """What a node that loses power takes along: its job steps and all below them."""
        for pid in [int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()]:
            try:
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            mine = f"SLURM_CONF={self.folder}/slurm.conf".encode() in environment
            if mine and f"SLURMD_NODENAME={node}".encode() in environment:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def stop(self):
        subprocess.run(["scancel", "--user=root"], check=False, stderr=subprocess.DEVNULL)
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        if self.munged is not None:
            self.munged.terminate()
            self.munged.wait(10)


def payloads(folder):
    """Numbers of the `heddle sweep run` processes of this sweep."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:3] == [HEDDLE.encode(), b"sweep", b"run"] and str(folder).encode() in words:
                found.append(int(process.name))
    return found


def results(folder):
    return [p for p in folder.glob("results/*/*.json") if not p.name.startswith(".")]


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("timed out: " + what)
        time.sleep(0.2)


def queue():
    done = subprocess.run(["squeue", "-h"], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.strip() if done.returncode == 0 else "no answer"


def submit(folder):
    heddle("emit", folder, "--slurm", "--points-per-job", POINTS_PER_JOB)
    if not (folder / "sweep.sbatch").exists():
        return None
    return subprocess.run(
        ["sbatch", "--parsable", folder / "sweep.sbatch"], text=True, check=True, stdout=subprocess.PIPE
    ).stdout.strip()


def run(base):
    (base / "spec.textproto").write_text(SPEC)
    heddle("plan", base / "spec.textproto", "-o", base / "local")
    heddle("plan", base / "spec.textproto", "-o", base / "slurm")
    heddle("run", base / "local", "--jobs", os.cpu_count())
    reference = heddle("collect", base / "local")
    assert reference.count("\n") == POINTS + 1
    say("ran locally")

    folder = base / "slurm"
    (base / "cluster").mkdir()
    cluster = Cluster(base / "cluster")
    try:
        cluster.start()
        say("two nodes are idle")
        job = submit(folder)
        say(f"submitted array {job}")
        wait_for(lambda: len(results(folder)) > 50, 120, "first results")
        killed = 0
        while killed < 5:
            for pid in payloads(folder)[:1]:
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass
            time.sleep(0.1)
        say(f"killed {killed} payloads at {len(results(folder))} results")
        cluster.kill("n2")
        cluster.kill_steps("n2")
        say(f"killed a node at {len(results(folder))} results")
        at = len(results(folder))
        wait_for(lambda: len(results(folder)) > at + 30, 120, "results of the other node")
        cluster.start_node("n2")
        cluster.kill("controller")
        say(f"killed the controller at {len(results(folder))} results")
        time.sleep(2)
        cluster.start_controller()
        at = len(results(folder))
        wait_for(lambda: len(results(folder)) > min(at + 60, POINTS - 50), 180, "results after the controller's death")
        subprocess.run(["scancel", job], check=True)
        wait_for(lambda: queue() == "", 60, "the cancelled job to end")
        left = json.loads(heddle("status", folder, "--json"))["waiting"]
        say(f"cancelled at {len(results(folder))} results, {left} points left")
        assert left > 0, "cancelled too late to test anything"
        for attempt in range(3):
            subprocess.run(
                ["scontrol", "update", "NodeName=n1,n2", "State=RESUME"], check=False, stderr=subprocess.DEVNULL
            )
            job = submit(folder)
            if job is None or len(results(folder)) == POINTS:
                break
            wait_for(lambda: queue() == "", 240, "the rest")
            say(f"resumed ({attempt + 1}): {len(results(folder))} results")
            if len(results(folder)) == POINTS:
                break
    finally:
        cluster.stop()

    status = json.loads(heddle("status", folder, "--json"))
    assert status["done"] == POINTS and status["failed"] == 0, status
    assert status["unfinished_files"] == 0, status
    assert len(results(folder)) == POINTS
    assert heddle("collect", folder) == reference, "the tables differ"
    say("every point has one result; the table is that of the local run")


START = time.monotonic()
if __name__ == "__main__":
    missing = [name for name in ("slurmctld", "slurmd", "sbatch", "munged") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        print(
            "slurm_sweep: needs root and "
            + ", ".join(missing or ["nothing else"])
            + " (tools/install-packages cluster)"
        )
        sys.exit(1)
    with tempfile.TemporaryDirectory(prefix="heddle-slurm-") as name:
        run(pathlib.Path(name))
