#!/usr/bin/env python3
"""Loads and links what the vendor's compiler makes: fat binaries of all kinds, and objects of whole programs. Has it make
PTX of our workloads that are programs.

HEDDLE_BIN names the folder of heddle-nvcc. Without an nvcc in PATH, or at CUDA_PATH or /usr/local/cuda, the test is
skipped (exit status 77).
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
from nvcc_ptx import find_nvcc  # noqa: E402

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent / "vendor_compiler"
PROGRAMS = HERE.parents[3] / "traces" / "programs"
BIN = pathlib.Path(os.environ["HEDDLE_BIN"]).resolve()
HEDDLE_NVCC = BIN / "heddle-nvcc"
failures = []


def run(*command, wanted=0):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240)
    if wanted is not None and result.returncode != wanted:
        sys.exit(f"{' '.join(map(str, command))}: ended with {result.returncode}\n{result.stdout}{result.stderr}")
    return result


def check(what, condition, told):
    if not condition:
        failures.append(f"{what}:\n{told.stdout}{told.stderr}")


def has_compress_modes(nvcc):
    return "compress-mode" in run(nvcc, "--help").stdout


def load_fat_binaries(nvcc, folder):
    ptx = ["-gencode", "arch=compute_75,code=compute_75"]
    both = [*ptx, "-gencode", "arch=compute_75,code=sm_75", "-gencode", "arch=compute_80,code=compute_80"]
    modes = ["none", "default", "speed", "size", "balance"] if has_compress_modes(nvcc) else [None]
    files = []
    for mode in modes:
        for name, codes in (("ptx", ptx), ("both", both)):
            files.append(folder / f"{name}_{mode}.fatbin")
            options = [f"-compress-mode={mode}"] if mode else []
            run(nvcc, "-fatbin", *codes, *options, HERE / "kernels.cu", "-o", files[-1])
    run(HEDDLE_NVCC, HERE / "loader.cu", "-o", folder / "loader")
    told = run(folder / "loader", *files, wanted=None)
    check("fat binaries", told.returncode == 0 and "error" not in told.stdout and "all right" in told.stdout, told)
    # Machine code alone: what to do is said.
    for name, words in (("sass.fatbin", ["-fatbin"]), ("sass.cubin", ["-cubin"])):
        run(nvcc, *words, "-gencode", "arch=compute_75,code=sm_75", HERE / "kernels.cu", "-o", folder / name)
        told = run(folder / "loader", folder / name, wanted=None)
        said = "error 209" in told.stdout and "code=compute_" in told.stderr
        check(name, said and told.returncode == 0, told)
    told = run(BIN / "heddle", "capture", "--quiet", "-o", folder / "a.htrace", "--", folder / "loader", files[0])
    run(BIN / "heddle", "trace", "check", folder / "a.htrace")


def link_programs(nvcc, folder):
    codes = ["-gencode", "arch=compute_75,code=compute_75"]
    run(nvcc, "-c", *codes, HERE / "program.cu", "-o", folder / "program.o")
    run(HEDDLE_NVCC, folder / "program.o", "-o", folder / "program")
    told = run(folder / "program", wanted=None)
    check("a program", told.returncode == 0 and told.stdout == "thread 3 of 64\n0 wrong, no error\n", told)
    captured = run(
        BIN / "heddle", "capture", "--quiet", "-o", folder / "b.htrace", "--", folder / "program", wanted=None
    )
    check("a capture of it", captured.returncode == 0 and captured.stdout == told.stdout, captured)
    # Relocatable device code, which is linked when it is loaded.
    objects = [folder / "part_one.o", folder / "part_two.o"]
    for part in objects:
        run(nvcc, "-rdc=true", "-c", *codes, HERE / f"{part.stem}.cu", "-o", part)
    run(nvcc, "-dlink", *codes, "-cudadevrt", "none", *objects, "-o", folder / "linked.o")
    run(HEDDLE_NVCC, *objects, folder / "linked.o", "-o", folder / "parts")
    told = run(folder / "parts", wanted=None)
    check("relocatable device code", told.returncode == 0 and told.stdout == "0 wrong, no error\n", told)
    # Without PTX.
    run(nvcc, "-c", "-gencode", "arch=compute_75,code=sm_75", HERE / "program.cu", "-o", folder / "sass.o")
    run(HEDDLE_NVCC, folder / "sass.o", "-o", folder / "sass")
    told = run(folder / "sass", wanted=None)
    check("a program without PTX", told.returncode != 0 and "code=compute_75" in told.stderr, told)


def make_workloads(nvcc, folder):
    """Device code of our workloads that are whole programs."""
    sources = sorted(PROGRAMS.glob("*/*.cu"))
    if len(sources) < 2:
        failures.append(f"{PROGRAMS} has only {len(sources)} programs")
    for source in sources:
        options = " ".join(re.findall(r"^// nvcc: (.*)$", source.read_text(), re.M)).split()
        run(nvcc, "-ptx", "-arch=compute_75", "-std=c++17", *options, source, "-o", folder / f"{source.stem}.ptx")


def main():
    nvcc = find_nvcc()
    if nvcc is None:
        print("no nvcc: nothing to compile with")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        load_fat_binaries(nvcc, pathlib.Path(folder))
        link_programs(nvcc, pathlib.Path(folder))
        make_workloads(nvcc, pathlib.Path(folder))
    if failures:
        sys.exit("\n".join(failures))


main()
