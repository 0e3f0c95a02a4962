#!/usr/bin/env python3
"""Runs golden cases: commands and what they print, in one file.

    tests/golden/run.py [--heddle PROGRAM] [--update] [CASE.golden ...]

A case is a text file. Lines that start with '#' explain; a line "$ heddle ..." is a command ($SAMPLES stands for the
folder of the sample traces); what follows, up to the next command, is its expected output. Lines of standard error
start with "! ", an exit status other than 0 is the line "[exit status N]", and JSON is written with one value per line,
so that a difference can be read.
"""
import argparse
import difflib
import json
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


def readable(output):
    """JSON lines spread over several lines; other text as it is."""
    lines = output.splitlines()
    if not lines or not all(line.startswith("{") for line in lines):
        return lines
    results = [json.loads(line) for line in lines]
    for result in results:
        if "model_version" in result.get("provenance", {}):
            result["provenance"]["model_version"] = "of this build"  # any change of a source gives another one
    return [part for result in results for part in json.dumps(result, indent=1).splitlines()]


def run(heddle, command):
    words = [word.replace("$SAMPLES", "traces/samples") for word in shlex.split(command)]
    assert words[0] == "heddle", f"not a heddle command: {command}"
    done = subprocess.run([heddle, *words[1:]], cwd=SOURCE, capture_output=True, text=True, check=False)
    lines = readable(done.stdout) + ["! " + line for line in done.stderr.splitlines()]
    return lines + ([f"[exit status {done.returncode}]"] if done.returncode else [])


def actual(heddle, expected):
    """The case with the output that its commands give now."""
    lines = []
    for line in expected:
        if line.startswith("#") or (not line and not any(l.startswith("$ ") for l in lines)):
            lines.append(line)
        elif line.startswith("$ "):
            if any(l.startswith("$ ") for l in lines) and lines[-1]:
                lines.append("")
            lines += [line, *run(heddle, line[2:])]
    return lines


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--heddle", default=str(SOURCE / "build" / "release" / "bin" / "heddle"))
    arguments.add_argument("--update", action="store_true", help="write what is printed now into the cases")
    arguments.add_argument("cases", nargs="*", type=pathlib.Path)
    options = arguments.parse_args()
    different = 0
    for case in options.cases or sorted(HERE.glob("*.golden")):
        expected = case.read_text().splitlines()
        now = actual(options.heddle, expected)
        if now == expected:
            continue
        if options.update:
            case.write_text("\n".join(now) + "\n")
            continue
        different += 1
        print("\n".join(difflib.unified_diff(expected, now, f"{case} (expected)", "now", lineterm="")))
    if different:
        print(
            f"{different} of the cases printed something else. If that is meant: tests/golden/run.py --update, and say why in the commit."
        )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
