#!/usr/bin/env python3
"""Has the user's own nvcc make PTX of the kernels of traces/kernels, once for all tests that look at it.

make_nvcc_ptx.py KERNELS_FOLDER OUTPUT

OUTPUT gets a folder for each small recipe of CUDA kernels, with its PTX and a recipe that captures it. Without an nvcc in
PATH, or at CUDA_PATH or /usr/local/cuda, it stays empty, and the tests are skipped.
"""
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import nvcc_ptx  # noqa: E402


def main():
    kernels, output = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    nvcc = nvcc_ptx.find_nvcc()
    if nvcc is None:
        print("no nvcc: nothing to compile with")
        return
    failures = []
    for recipe in sorted(kernels.glob("*/*.tiny.textproto")):
        if not nvcc_ptx.is_cuda(recipe):
            continue
        made, problem = nvcc_ptx.recipe_of_ptx(nvcc, recipe, output)
        if made is None:
            failures.append(f"{recipe.stem}: {problem}")
    if failures:
        sys.exit("\n".join(failures))


main()
