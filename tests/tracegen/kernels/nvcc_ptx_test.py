#!/usr/bin/env python3
"""Captures the small recipes of CUDA kernels from the PTX that the user's own nvcc makes of them; their checks must pass.

nvcc_ptx_test.py CAPTURE_PROGRAM KERNELS_FOLDER [NAME...]

Without an nvcc in PATH, or at CUDA_PATH or /usr/local/cuda, it is skipped (exit status 77). Names choose recipes.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def find_nvcc():
    folders = [os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    candidates = [shutil.which("nvcc")] + [str(pathlib.Path(f) / "bin" / "nvcc") for f in folders if f]
    for candidate in candidates:
        if candidate is None or not os.access(candidate, os.X_OK):
            continue
        told = subprocess.run([candidate, "--version"], capture_output=True, text=True)
        if "NVIDIA" in told.stdout:  # not heddle-nvcc under another name
            return candidate
    return None


def capture(program, nvcc, recipe, folder):
    """What went wrong; empty if nothing did."""
    text = recipe.read_text()
    source = re.search(r'^source: "(.*)"', text, flags=re.M).group(1)
    here = folder / recipe.parent.name
    shutil.copytree(recipe.parent, here)
    for header in recipe.parent.parent.glob("*.h"):
        shutil.copy(header, folder)
    defines = ["-D" + define for define in re.findall(r'^define: "(.*)"', text, flags=re.M)]
    ptx = here / (recipe.stem + ".ptx")
    command = [nvcc, "-arch=sm_75", "-std=c++17", "-ptx", "-lineinfo", "-o", ptx, here / source] + defines
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        return "nvcc: " + made.stderr.strip()
    copy = here / (recipe.stem + ".nvcc.textproto")
    copy.write_text(re.sub(r'^source: ".*"', f'source: "{ptx.name}"', text, flags=re.M))
    output = folder / "out.htrace"
    captured = subprocess.run([program, "--quiet", "-o", output, copy], capture_output=True, text=True)
    return "" if captured.returncode == 0 else captured.stderr.strip()


def main():
    program, kernels, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    nvcc = find_nvcc()
    if nvcc is None:
        print("no nvcc: nothing to compile with")
        sys.exit(SKIPPED)
    failures = []
    tried = 0
    for recipe in sorted(kernels.glob("*/*.tiny.textproto")):
        if (names and recipe.parent.name not in names) or '.cu"' not in recipe.read_text():
            continue
        tried += 1
        with tempfile.TemporaryDirectory() as folder:
            problem = capture(program, nvcc, recipe, pathlib.Path(folder))
        if problem:
            failures.append(f"{recipe.stem}: {problem}")
    if tried < (1 if names else 40):
        failures.append(f"only {tried} recipes were tried")
    if failures:
        sys.exit("\n".join(failures))


main()
