#!/usr/bin/env python3
"""Captures small recipes once more from the PTX text of their kernels, and compares with the traces made the usual way:
every second one, or all of them if the environment variable HEDDLE_ALL_KERNELS is set.

ptx_source_test.py CAPTURE_PROGRAM HEDDLE_PROGRAM KERNELS_FOLDER TRACES_FOLDER [NAME...]

The text is what `heddle capture --emit-ptx` writes. Output checks run, so that the results are right; the traces must
have the same instructions, decisions and addresses. Names given at the end choose recipes.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SAME = re.compile(
    r"launch 0: the kernel's code is that of the recording's own compiler in .*, "
    r"PTX [0-9.]+ by LLVM NVPTX Back-End for sm_[0-9]+ in .*; instructions and threads are the same"
)
# Kernels whose traces differ, and why.
DIFFERENT = {}


def capture(program, recipe, folder):
    """The trace of a copy of the recipe whose source is PTX; and what went wrong."""
    here = folder / recipe.parent.name
    shutil.copytree(recipe.parent, here, dirs_exist_ok=True)
    for header in recipe.parent.parent.glob("*.h"):
        shutil.copy(header, folder)
    text = here / (recipe.stem + ".ptx")
    made = subprocess.run([program, "--emit-ptx", "-o", text, recipe], capture_output=True, text=True)
    if made.returncode != 0:
        return None, "no PTX: " + made.stderr.strip()
    copy = here / (recipe.stem + ".from_ptx.textproto")
    copy.write_text(re.sub(r'^source: ".*"', f'source: "{text.name}"', recipe.read_text(), flags=re.M))
    output = folder / (recipe.stem + ".htrace")
    captured = subprocess.run([program, "--quiet", "-o", output, copy], capture_output=True, text=True)
    if captured.returncode != 0:
        return None, captured.stderr.strip()
    return output, ""


def main():
    program, heddle, kernels, traces = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    recipes = sorted(kernels.glob("*/*.tiny.textproto"))
    if len(recipes) < 40:
        sys.exit(f"{kernels} has only {len(recipes)} small recipes")
    names = sys.argv[5:]
    if not names and "HEDDLE_ALL_KERNELS" not in os.environ:
        recipes = recipes[::2]
    failures = []
    for recipe in recipes:
        if names and recipe.parent.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            output, problem = capture(program, recipe, pathlib.Path(folder))
            if output is not None:
                usual = traces / (recipe.stem + ".htrace")
                diff = subprocess.run([heddle, "trace", "diff", usual, output], capture_output=True, text=True)
                # The text was handed over, which the trace says; all else must be the same.
                same = SAME.fullmatch(diff.stdout.strip())
                problem = "" if same else (diff.stdout + diff.stderr).strip()
            expected = DIFFERENT.get(recipe.parent.name)
            if expected is None and problem:
                failures.append(f"{recipe.stem}: {problem}")
            if expected is not None and (output is None or not problem):
                failures.append(f"{recipe.stem}: is said to differ ({expected}): {problem or 'it does not'}")
    if failures:
        sys.exit("\n".join(failures))


main()
