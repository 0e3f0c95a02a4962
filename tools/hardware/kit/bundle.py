"""Makes a bundle: a folder with all that a visit to a card needs, made on a machine without one."""

import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from kit import build, files, plans, processes, tools_found

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
SIZES = ("small", "large", "paper")
SOURCES = [
    "tools/hardware/programs",
    "tools/hardware/benchmarks",
    "tracegen/contents",
    "traces/base/random.h",
    "traces/kernels/check.h",
    "traces/kernels/check_support.h",
]
SAMPLE_ARCH = "sm_90"


def say(text):
    print(text, file=sys.stderr, flush=True)


def recipes(sizes, pattern):
    """The recipes of traces/kernels as (workload, size, path)."""
    found = []
    for path in sorted((ROOT / "traces/kernels").glob("*/*.textproto")):
        workload = path.parent.name
        size = path.name[len(workload) : -len(".textproto")].lstrip(".") or "small"
        if size in sizes and re.fullmatch(pattern, workload):
            found.append((workload, size, path))
    return found


def capture(heddle, recipe, plan, trace):
    """Records a recipe, and writes its plan. Gives digest and thread-instructions of the trace; raises RuntimeError."""
    ended = processes.run([heddle, "capture", "--fast", "-o", trace, "--plan", plan, recipe], 3600)
    if not ended.ok:
        raise RuntimeError(f"{recipe}: {ended.why()}")
    told = processes.run([heddle, "trace", "info", trace], 600)
    digest = re.search(r"^Digest\s+([0-9a-f]{64})$", told.output, re.M)
    instructions = re.search(r"([\d,]+) thread-instructions", told.output)
    if not told.ok or not digest or not instructions:
        raise RuntimeError(f"{trace}: heddle trace info says no digest: {told.why()}")
    return digest.group(1), int(instructions.group(1).replace(",", ""))


def compress(folder):
    """Files with contents become smaller; the same bytes each time."""
    for path in sorted(folder.glob("*.bin")):
        with open(f"{path}.gz", "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as zipped:
            zipped.write(path.read_bytes())
        path.unlink()


def add_workload(bundle, heddle, scratch, most_bytes, workload, size, recipe):
    """Adds one recipe; gives its entry in bundle.json, or None if its files are larger than `most_bytes`."""
    name = f"{workload}-{size}"
    folder = bundle / "plans" / name
    digest, instructions = capture(heddle, recipe, folder, scratch / f"{name}.htrace")
    (scratch / f"{name}.htrace").unlink()
    compress(folder)
    file_bytes = sum(path.stat().st_size for path in folder.iterdir())
    if file_bytes > most_bytes:
        # Contents that the machine with the card cannot generate are files: normal distributions.
        say(f"bundle: {name} is left out: its buffers take {file_bytes / 1e6:.0f} MB; see --most-megabytes")
        shutil.rmtree(folder)
        return None
    plan = plans.read(folder)
    target = bundle / "kernels" / workload
    target.mkdir(parents=True, exist_ok=True)
    needed = {plan.source, *(check.program for check in plan.checks if check.program)}
    for file in needed:
        shutil.copyfile(recipe.parent / file, target / file)
    return {
        "name": name,
        "workload": workload,
        "size": size,
        "trace_digest": digest,
        "thread_instructions": instructions,
        "launches": len(plan.launches),
    }


def add_sources(bundle):
    for source in SOURCES:
        path, target = ROOT / source, bundle / "src" / source
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target, ignore=shutil.ignore_patterns("*.md", "CMakeLists.txt"))
        else:
            shutil.copyfile(path, target)
    (bundle / "kernels").mkdir(exist_ok=True)
    for header in sorted((ROOT / "traces/kernels").glob("*.h")):
        shutil.copyfile(header, bundle / "kernels" / header.name)
    here = ROOT / "tools/hardware"
    shutil.copytree(here / "kit", bundle / "kit", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("visit", "counters.json", "benchmarks.json"):
        shutil.copy(here / name, bundle / name)


def wishes(text, kind):
    return re.findall(rf"^// {kind}: (.*)$", text, re.M)


def add_application(bundle, nvcc, scratch, source):
    """Adds a program of tests/apps/cuda with the output that it has here; gives its entry, or None if it does not
    run."""
    text = source.read_text()
    entry = {
        "name": source.stem,
        "options": " ".join(wishes(text, "nvcc")),
        "modules": wishes(text, "module"),
        "expected_digest": "",
    }
    work = scratch / source.stem
    work.mkdir()
    for module in entry["modules"]:
        for ending in ("cubin", "ptx"):
            out = work / f"{pathlib.Path(module).stem}.{ending}"
            processes.run([nvcc, f"-{ending}", "-arch=sm_70", source.parent / module, "-o", out], 300)
        shutil.copyfile(source.parent / module, bundle / "applications" / module)
    made = processes.run([nvcc, "-O1", *entry["options"].split(), source, "-o", work / "program"], 300)
    if not made.ok:
        say(f"bundle: {source.name} is left out: {made.why()}")
        return None
    environment = dict(os.environ, **dict(wish.split("=", 1) for wish in wishes(text, "native")))
    ran = processes.run([work / "program"], 300, work, environment)
    if not ran.ok:
        say(f"bundle: {source.name} is left out: {ran.why()}")
        return None
    shutil.copyfile(source, bundle / "applications" / source.name)
    expected = bundle / "applications" / f"{source.stem}.expected"
    expected.write_text(ran.output)
    entry["expected_digest"] = files.digest(expected)
    return entry


def add_applications(bundle, nvcc, scratch, pattern, jobs):
    folder = bundle / "applications"
    folder.mkdir()
    shutil.copyfile(ROOT / "tests/apps/cuda/check.h", folder / "check.h")
    sources = [
        path
        for path in sorted((ROOT / "tests/apps/cuda").glob("*.cu"))
        if not path.stem.endswith("_module") and re.fullmatch(pattern, path.stem)
    ]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        entries = pool.map(lambda source: add_application(bundle, nvcc, scratch, source), sources)
    return [entry for entry in entries if entry]


def prebuild(bundle, manifest, tools, jobs):
    """Compiles everything here, so that a visit need not. Says what cannot be compiled."""
    builder = build.Builder(bundle, bundle / "prebuilt", tools, SAMPLE_ARCH)
    tasks = {name: (lambda name=name: builder.program(name)) for name in build.PROGRAMS}
    tasks.update({name: (lambda name=name: builder.benchmark(name)) for name in (*build.BENCHMARKS, build.SECTORS)})
    for entry in manifest["workloads"]:
        plan = plans.read(bundle / "plans" / entry["name"])
        workload = entry["workload"]
        tasks[f"{workload} check"] = lambda w=workload, p=plan: builder.check(w, p)
        for source in (build.CUDA, build.TRACE_PTX):
            key = f"{entry['name']} {source}"
            tasks[key] = lambda w=workload, p=plan, s=source: builder.image(w, p, s)
    for key, made in build.in_parallel(tasks, jobs).items():
        if made.why:
            say(f"bundle: {key}: {made.why}")
    for path in (bundle / "prebuilt").glob("*"):
        if path.suffix in (".ptx", ".cu"):
            path.unlink()
    files.write_json(
        bundle / "prebuilt" / "prebuilt.json", {"arch": SAMPLE_ARCH, "nvcc": tools_found.version(tools["nvcc"])}
    )


def parse(words):
    parser = argparse.ArgumentParser(
        prog="tools/hardware/bundle",
        description="Makes a folder with all that tools/hardware/visit needs on a machine with a card: kernels as "
        "CUDA source and as the PTX of their traces, what makes and checks their buffers, and programs.",
    )
    parser.add_argument("folder", type=pathlib.Path, help="to be made; it must not be there")
    parser.add_argument("--kernels", default=".*", metavar="REGEX", help="workloads of traces/kernels (default: all)")
    parser.add_argument("--sizes", default=",".join(SIZES), help="of the recipes (default: %(default)s)")
    parser.add_argument(
        "--applications", default=".*", metavar="REGEX", help="programs of tests/apps/cuda (default: all)"
    )
    parser.add_argument(
        "--prebuild", action="store_true", help=f"also compile everything, with nvcc, for {SAMPLE_ARCH}"
    )
    parser.add_argument(
        "--most-megabytes",
        type=float,
        default=8,
        help="of one workload's files; larger ones are left out (default: %(default)s)",
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder of Heddle's build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at once (default: processors)")
    return parser.parse_args(words)


def main(words):
    args = parse(words)
    args.folder = args.folder.resolve()  # compilers run in folders of their own
    heddle, nvcc = args.build.resolve() / "bin/heddle", args.build.resolve() / "bin/heddle-nvcc"
    for program in (heddle, nvcc):
        if not program.exists():
            say(f"bundle: {program} is not there: build it, with capture, or name another folder with --build")
            return 1
    tools = tools_found.find({})
    if args.prebuild and not tools["nvcc"]:
        say("bundle: nvcc is not there, which --prebuild needs")
        return 1
    if args.folder.exists():
        say(f"bundle: {args.folder} is there already: remove it, or name another folder")
        return 1
    wanted = recipes(args.sizes.split(","), args.kernels)
    if not wanted:
        say("bundle: --kernels and --sizes name no recipe")
        return 2
    bundle = args.folder.with_name(f".{args.folder.name}.{os.getpid()}")
    bundle.mkdir(parents=True)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            make(bundle, heddle, nvcc, pathlib.Path(scratch), wanted, args, tools)
        os.replace(bundle, args.folder)
    except RuntimeError as error:
        say(f"bundle: {error}")
        return 1
    finally:
        shutil.rmtree(bundle, ignore_errors=True)
    size = sum(path.stat().st_size for path in args.folder.rglob("*") if path.is_file())
    manifest = json.loads((args.folder / "bundle.json").read_text())
    print(
        f"{args.folder}: {len(manifest['workloads'])} workloads, {len(manifest['applications'])} programs, "
        f"{size / 1e6:.1f} MB, digest {manifest['digest']}"
    )
    return 0


def make(bundle, heddle, nvcc, scratch, wanted, args, tools):
    version = subprocess.run([heddle, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    add_sources(bundle)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        most_bytes = 1e6 * args.most_megabytes
        entries = pool.map(lambda recipe: add_workload(bundle, heddle, scratch, most_bytes, *recipe), wanted)
        entries = [entry for entry in entries if entry]
    manifest = {
        "version": 1,
        "heddle": version,
        "counters_digest": files.digest(bundle / "counters.json"),
        "workloads": sorted(
            entries, key=lambda entry: (SIZES.index(entry["size"]) if entry["size"] in SIZES else 9, entry["name"])
        ),
        "applications": add_applications(bundle, nvcc, scratch, args.applications, args.jobs),
        "digest": files.digest_of_folder(bundle),
    }
    files.write_json(bundle / "bundle.json", manifest)
    if args.prebuild:
        prebuild(bundle, manifest, tools, args.jobs)
