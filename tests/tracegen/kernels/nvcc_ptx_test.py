#!/usr/bin/env python3
"""Captures kernels from the PTX that the user's own nvcc has made of them; their checks must pass.

nvcc_ptx_test.py CAPTURE_PROGRAM FOLDER

FOLDER is what make_nvcc_ptx.py has filled. If it is empty, the test is skipped (exit status 77).
"""
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    recipes = sorted(folder.glob("*/*.nvcc.textproto"))
    if not recipes:
        print("no nvcc: nothing to capture")
        sys.exit(SKIPPED)
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        for recipe in recipes:
            command = [program, "--quiet", "-o", f"{scratch}/out.htrace", recipe]
            captured = subprocess.run(command, capture_output=True, text=True)
            if captured.returncode != 0:
                failures.append(f"{recipe.stem}: {captured.stderr.strip()}")
    if len(recipes) < 40:
        failures.append(f"only {len(recipes)} recipes were tried")
    if failures:
        sys.exit("\n".join(failures))


main()
