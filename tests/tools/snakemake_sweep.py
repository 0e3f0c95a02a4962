"""A sweep under a real Snakemake (Debian's snakemake, `tools/install-packages cluster`); `tools/check --all` runs it:

    HEDDLE=build/release/bin/heddle python3 tests/tools/snakemake_sweep.py

Snakemake is killed with its jobs in the middle and started again; a point that cannot be run fails its job and no other. In
the end every other point has its result, and the table is that of a run without Snakemake, byte for byte.
"""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = str(pathlib.Path(os.environ["HEDDLE"]).resolve())
SPEC = f"""
name: "forty-eight"
trace: "{SOURCE}/traces/samples/bfs.htrace"
trace: "{SOURCE}/traces/samples/mandelbrot.htrace"
divergence: "pdom" divergence: "dwf" divergence: "nrec" divergence: "its"
scheduler: "lrr" scheduler: "gto"
parameter {{ name: "sms" value: "1" value: "2" value: "4" }}
"""
POINTS = 48


def heddle(*arguments, status=0):
    done = subprocess.run([HEDDLE, "sweep", *map(str, arguments)], text=True, check=False, stdout=subprocess.PIPE)
    assert done.returncode == status, f"{arguments}: {done.returncode}"
    return done.stdout


def snakemake(sweep, folder, **options):
    # Snakemake keeps its own state in the working directory and in the home of the user.
    environment = dict(os.environ, HOME=str(folder), XDG_CACHE_HOME=str(folder / "cache"))
    return subprocess.Popen(
        ["snakemake", "--keep-going", "--snakefile", str(sweep / "Snakefile"), "--cores", "2", "--rerun-incomplete"],
        cwd=folder,
        env=environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def results(sweep):
    return sorted(sweep.glob("results/*/*.json"))


def main():
    with tempfile.TemporaryDirectory(prefix="heddle snake ") as name:  # a blank: paths have to be quoted
        folder = pathlib.Path(name)
        (folder / "spec.textproto").write_text(SPEC)
        sweep, local = folder / "sweep", folder / "local"
        for each in (sweep, local):
            heddle("plan", folder / "spec.textproto", "-o", each)
        heddle("emit", sweep, "--snakemake", "--points-per-job", 4)
        first = snakemake(sweep, folder)
        while first.poll() is None and len(results(sweep)) < 6:
            time.sleep(0.05)
        assert first.poll() is None, first.stdout.read()
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        before = {p: p.stat().st_mtime_ns for p in results(sweep)}
        assert 0 < len(before) < POINTS, len(before)
        print(f"killed with {len(before)} of {POINTS} results")

        subprocess.run(
            ["snakemake", "--snakefile", str(sweep / "Snakefile"), "--unlock", "--cores", "1"],
            cwd=folder,
            check=True,
            env=dict(os.environ, HOME=name),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        heddle("emit", sweep, "--snakemake", "--points-per-job", 4)
        second = snakemake(sweep, folder)
        said = second.communicate()[0]
        assert second.returncode == 0, said
        assert len(results(sweep)) == POINTS, said
        assert all(p.stat().st_mtime_ns == t for p, t in before.items()), "a result was written again"
        heddle("run", local, "--quiet")
        assert heddle("collect", sweep) == heddle("collect", local)
        assert not [p for p in sweep.rglob("*") if ".tmp" in p.name]

        limited = folder / "limited"
        (folder / "limited.textproto").write_text(SPEC + "max_cycles: 4000\n")
        heddle("plan", folder / "limited.textproto", "-o", limited)
        heddle("emit", limited, "--snakemake", "--points-per-job", 6)
        third = snakemake(limited, folder)
        said = third.communicate()[0]
        status = json.loads(heddle("status", limited, "--json"))
        assert third.returncode != 0 and status["failed"] > 0, said
        assert status["done"] + status["failed"] == POINTS, status
        print(f"{status['failed']} points cannot be run, the other {status['done']} were")
    print("ok")


main()
