#!/usr/bin/env python3
"""Workloads that are whole programs (traces/programs) find out when they compute something wrong.

Each is built with one fault put into it, and must end with 1 and say what it has expected; without it, with 0.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parents[3] / "traces" / "programs"

# By program: what is written another way, and how.
FAULTS = {
    "graph_jacobi": [
        ("0.25f *", "0.2499f *"),
        # The change is never written, is too small, is that of no step, or of all launches; or it ends them too early.
        ("if (threadIdx.x % 32 == 0 && difference > 0.0f)", "if (difference < 0.0f)"),
        ("= i < points ? fabsf(", "= i < points ? 0.999f * fabsf("),
        ("(points[1], points[0], change, count)", "(points[0], points[0], change, count)"),
        ("cudaMemsetAsync(change, 0, sizeof(*change), side)", "cudaMemsetAsync(change, 0, 0, side)"),
        ("while (*host_change > plate.enough", "while (*host_change > 10 * plate.enough"),
    ],
    "nested_quicksort": [
        ("from[j] == key && j < i", "from[j] == key && j <= i"),
        ("const int first_larger = first_equal + equal;", "const int first_larger = first_equal + equal + 1;"),
    ],
}


def end_of(source, options, folder):
    """How a program ends at its smallest size."""
    path = folder / "traced" / "program.cu"
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    nvcc = pathlib.Path(os.environ["HEDDLE_BIN"]) / "heddle-nvcc"
    built = subprocess.run([nvcc, "-O1", *options, path, "-o", folder / "program"], capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit(f"{path}: {built.stdout}{built.stderr}")
    return subprocess.run([folder / "program", "tiny"], cwd=folder, capture_output=True, text=True, timeout=120)


def main():
    for name, faults in FAULTS.items():
        source = (PROGRAMS / name / f"{name}.cu").read_text()
        options = " ".join(re.findall(r"^// nvcc: (.*)$", source, re.M)).split()
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work)
            (folder / "support.h").write_text((PROGRAMS / "support.h").read_text())
            for right, wrong in [("", ""), *faults]:
                if right not in source:
                    sys.exit(f"{name}: there is no '{right}' any more")
                ended = end_of(source.replace(right, wrong, 1), options, folder)
                if ended.returncode != (1 if wrong else 0) or (wrong and ", expected " not in ended.stdout):
                    sys.exit(f"{name} with '{wrong}': ended with {ended.returncode}\n{ended.stdout}{ended.stderr}")
                print(f"{name} with '{wrong}': {ended.stdout.splitlines()[0]}")


if __name__ == "__main__":
    main()
