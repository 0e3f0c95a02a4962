#!/usr/bin/env python3
"""Builds an application with heddle-nvcc, runs it natively and captured, and compares.

run_application.py --bin FOLDER --source FILE_OR_FOLDER --work FOLDER [--program NAME] [--arguments WORDS]

The program must end with 0 and print the same both ways; the trace must pass `heddle trace check` and hold at least one
launch; a second capture, with threads on stacks of their own and blocks spread over processes, must give the same bytes
and messages. FILE is a .cu file, whose lines
"// nvcc: OPTIONS" and "// module: OTHER.cu" say how to build it; FOLDER has a Makefile or a CMakeLists.txt, which makes
`--program`. The program is run with the words of `--arguments`. Further lines of the FILE:

// native: VARIABLE=VALUE          in the environment of the program when it runs natively
// capture: OPTIONS                of `heddle capture`
// marked: TEXT                    is in a note of a replay (with the options of the first "replay:", if there is one)
// replay: OPTIONS                 a replay that must succeed
// replay-refused: OPTIONS | TEXT  a replay that must be refused with this text
// faults: TEXT                    a kernel fails, which the program expects: captures end with 1, and say this
"""
import argparse
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys


def run(command, folder, env=None, status=0):
    result = subprocess.run(
        [str(word) for word in command], cwd=folder, env=env, capture_output=True, text=True, timeout=240
    )
    if result.returncode != status:
        sys.exit(f"{' '.join(map(str, command))}: ended with {result.returncode}\n{result.stdout}{result.stderr}")
    return result


def wishes(source, kind):
    """The lines of a source file that ask for something."""
    return re.findall(rf"^// {kind}: (.*)$", source.read_text(), re.M) if source.is_file() else []


def check_replays(source, heddle, trace, folder):
    marked, replays = wishes(source, "marked"), wishes(source, "replay")
    if marked and not replays:
        replays = [""]
    for number, options in enumerate(replays):
        told = run([heddle, "replay", trace, *options.split()], folder)
        for text in marked if number == 0 else []:
            if text not in told.stdout + told.stderr:
                sys.exit(f"a replay does not say '{text}'\n{told.stdout}{told.stderr}")
    for wish in wishes(source, "replay-refused"):
        options, text = wish.split(" | ")
        command = [str(heddle), "replay", str(trace), *options.split()]
        refused = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)
        if refused.returncode == 0 or text not in refused.stderr:
            sys.exit(f"{' '.join(command)}: is not refused with '{text}'\n{refused.stdout}{refused.stderr}")


def build_source(source, nvcc, work):
    text = source.read_text()
    options = " ".join(re.findall(r"^// nvcc: (.*)$", text, re.M)).split()
    for module in re.findall(r"^// module: (.*)$", text, re.M):
        path = source.parent / module
        for ending in ("cubin", "ptx"):
            run([nvcc, f"-{ending}", "-arch=sm_70", path, "-o", f"{path.stem}.{ending}"], work)
    run([nvcc, "-O1", *options, source, "-o", "program"], work)
    return work / "program"


def build_folder(source, nvcc, work, program):
    copy = work / "source" / source.name
    shutil.copytree(source, copy)
    shutil.copy(source.parent / "check.h", copy.parent)
    if (copy / "CMakeLists.txt").exists():
        run(["cmake", "-S", copy, "-B", copy / "build", f"-DCMAKE_CUDA_COMPILER={nvcc}"], work)
        run(["cmake", "--build", copy / "build", "--target", program], work)
        return copy / "build" / program
    # Makefiles take the compiler by name or from a toolkit's folder.
    setting = f"NVCC={nvcc}"
    if "CUDA_PATH" in (copy / "Makefile").read_text():
        setting = f"CUDA_PATH={run([nvcc, '--toolkit'], work).stdout.strip()}"
    run(["make", setting, program], copy)
    return copy / program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--program", default="program")
    parser.add_argument("--arguments", default="")
    parser.add_argument("--capture-options", default="")
    args = parser.parse_args()
    work = args.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    nvcc, heddle = args.bin.resolve() / "heddle-nvcc", args.bin.resolve() / "heddle"
    if args.source.is_dir():
        # A makefile's own options would be found under these names.
        for name in ("NVCC", "CUDA_PATH", "MAKEFLAGS"):
            os.environ.pop(name, None)
        program = build_folder(args.source.resolve(), nvcc, work, args.program)
    else:
        program = build_source(args.source.resolve(), nvcc, work)
    environment = dict(os.environ, **dict(wish.split("=", 1) for wish in wishes(args.source, "native")))
    command = [program, *args.arguments.split()]
    native = run(command, work, environment)
    print(native.stdout, end="")
    options = args.capture_options.split() + " ".join(wishes(args.source, "capture")).split()
    traces = [work / "first.htrace", work / "second.htrace"]
    # Blocks are spread at once, however short the launch.
    environment = dict(os.environ, HEDDLE_SPREAD_AFTER="0")
    messages = []
    faults = wishes(args.source, "faults")
    for trace, ways in zip(traces, (["--jobs", "1"], ["--jobs", "3", "--own-stacks"])):
        captured = run(
            [heddle, "capture", "--quiet", *options, *ways, "-o", trace, "--", *command],
            work,
            environment,
            status=1 if faults else 0,
        )
        if captured.stdout != native.stdout:
            sys.exit(f"natively it prints\n{native.stdout}\nand captured\n{captured.stdout}")
        messages.append(captured.stderr)
    if messages[0] != messages[1]:
        sys.exit(f"two captures say\n{messages[0]}\nand\n{messages[1]}")
    run([heddle, "trace", "check", traces[0]], work)
    if not filecmp.cmp(*traces, shallow=False):
        sys.exit("two captures are not the same bytes")
    for text in faults:
        if text not in messages[0]:
            sys.exit(f"a capture does not say '{text}'\n{messages[0]}")
    check_replays(args.source, heddle, traces[0], work)
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
