"""Runs a test program through the ordinary OpenCL loader: natively, and captured twice, once
with threads on stacks of their own and blocks spread over processes. All runs end well and print the
same (FILE.expected, if there is one); both traces are sound and have the same bytes.

Usage: run_app.py PROGRAM [EXPECTED]. The environment names heddle, heddle-capture and the driver, how many
work-groups are live at once (HEDDLE_RESIDENT_BLOCKS), and whether a kernel fails, so that captures end with 1
(HEDDLE_FAULT).
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def run(command, environment, status=0):
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=250)
    if result.returncode != status:
        sys.exit(
            "%s\nends with %d\n%s%s"
            % (
                " ".join(map(str, command)),
                result.returncode,
                result.stdout.decode(errors="replace"),
                result.stderr.decode(errors="replace"),
            )
        )
    return result.stdout


def main():
    program = sys.argv[1]
    heddle, capture = os.environ["HEDDLE"], os.environ["HEDDLE_CAPTURE_PROGRAM"]
    resident = os.environ.get("HEDDLE_RESIDENT_BLOCKS", "1")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("HEDDLE", "OCL_ICD"))}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        vendors = folder / "vendors"
        vendors.mkdir()
        (vendors / "heddle.icd").write_text(os.environ["HEDDLE_OPENCL_DRIVER"] + "\n")
        native = run(
            [program],
            dict(
                plain,
                OCL_ICD_VENDORS=str(vendors) + "/",
                HEDDLE_DEVICE_PROGRAM=capture,
                HEDDLE_RESIDENT_BLOCKS=resident,
            ),
        )
        if len(sys.argv) > 2 and native != pathlib.Path(sys.argv[2]).read_bytes():
            sys.exit("the program prints\n" + native.decode(errors="replace"))
        traces = [folder / "first.htrace", folder / "second.htrace"]
        # Blocks are spread at once, however short the launch.
        plain["HEDDLE_SPREAD_AFTER"] = "0"
        for trace, ways in zip(traces, (["--jobs", "1"], ["--jobs", "3", "--own-stacks"])):
            captured = run(
                [capture, "-o", trace, "--resident-blocks", resident, *ways, "--", program],
                plain,
                status=int(os.environ.get("HEDDLE_FAULT", "0")),
            )
            if captured != native:
                sys.exit(
                    "captured, the program prints\n%s\nbut natively\n%s"
                    % (captured.decode(errors="replace"), native.decode(errors="replace"))
                )
        run([heddle, "trace", "check", traces[0]], plain)
        if traces[0].read_bytes() != traces[1].read_bytes():
            sys.exit("two captures differ")


main()
