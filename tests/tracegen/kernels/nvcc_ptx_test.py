#!/usr/bin/env python3
"""Captures the small recipes of CUDA kernels from the PTX that the user's own nvcc makes of them; their checks must pass.

nvcc_ptx_test.py CAPTURE_PROGRAM KERNELS_FOLDER [NAME...]

Without an nvcc in PATH, or at CUDA_PATH or /usr/local/cuda, it is skipped (exit status 77). Names choose recipes.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import nvcc_ptx  # noqa: E402

SKIPPED = 77


def capture(program, nvcc, recipe, folder):
    """What went wrong; empty if nothing did."""
    copy, problem = nvcc_ptx.recipe_of_ptx(nvcc, recipe, folder)
    if copy is None:
        return problem
    output = folder / "out.htrace"
    captured = subprocess.run([program, "--quiet", "-o", output, copy], capture_output=True, text=True)
    return "" if captured.returncode == 0 else captured.stderr.strip()


def main():
    program, kernels, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    nvcc = nvcc_ptx.find_nvcc()
    if nvcc is None:
        print("no nvcc: nothing to compile with")
        sys.exit(SKIPPED)
    failures = []
    tried = 0
    for recipe in sorted(kernels.glob("*/*.tiny.textproto")):
        if (names and recipe.parent.name not in names) or not nvcc_ptx.is_cuda(recipe):
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
