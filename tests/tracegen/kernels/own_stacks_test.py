#!/usr/bin/env python3
"""Captures every small recipe with threads on stacks of their own and blocks spread over processes, and compares with the
traces made the usual way.

own_stacks_test.py CAPTURE_PROGRAM KERNELS_FOLDER TRACES_FOLDER
"""
import filecmp
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    program, kernels, traces = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    recipes = sorted(kernels.glob("*/*.tiny.textproto"))
    if len(recipes) < 40:
        sys.exit(f"{kernels} has only {len(recipes)} small recipes")
    different = []
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "out.htrace"
        for recipe in recipes:
            subprocess.run(
                [program, "--own-stacks", "--jobs", "3", "--no-check", "-o", output, recipe],
                check=True,
                env=dict(os.environ, HEDDLE_SPREAD_AFTER="0"),
            )
            if not filecmp.cmp(output, traces / (recipe.stem + ".htrace"), shallow=False):
                different.append(recipe.stem)
    if different:
        sys.exit(
            "other traces than with threads that leave frames at barriers, in one process: " + ", ".join(different)
        )


main()
