#!/usr/bin/env python3
"""Exports the trace of every small recipe for Accel-Sim and imports it again: under `pdom` the replay has the same
counters, cycles included. Instructions that Accel-Sim's traces have no form for are refused by name.

accelsim_round_trip_test.py HEDDLE KERNELS_FOLDER TRACES_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile


# Kernels with an instruction that Accel-Sim's traces have no form for.
REFUSED = {
    "flash_attention_2": "'cp.async.cg.shared.global' has no form",
    "gemm_mma_pipeline": "'cp.async.cg.shared.global' has no form",
}


def is_refused(heddle, trace, folder, why):
    command = [heddle, "trace", "export", trace, "--accelsim", folder]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.returncode != 0 and why in done.stderr


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done


def launches(heddle, trace):
    """Counters of every launch; launches that were not recorded are left out by an export, so numbers may differ."""
    done = run(
        heddle, "replay", trace, "--machine", "baws_gtx480", "--divergence", "pdom", "--scheduler", "lrr", "--json"
    )
    return [{**launch, "launch": 0} for launch in json.loads(done.stdout.splitlines()[0])["launch"]]


def work(launch):
    """What a launch does, whatever it waits for."""
    memory = launch["memory_instructions"]
    counted = ("data_loads", "data_stores", "data_atomics", "transactions", "shared_accesses", "shared_parts")
    instructions = {name: launch[name] for name in ("warp_instructions", "thread_instructions")}
    return instructions | {name: memory[name] for name in counted}


def main():
    heddle, kernels, traces = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    recipes = sorted(kernels.glob("*/*.tiny.textproto"))
    if len(recipes) < 40:
        sys.exit(f"{kernels} has only {len(recipes)} small recipes")
    different = []
    for recipe in recipes:
        original = traces / (recipe.stem + ".htrace")
        with tempfile.TemporaryDirectory() as folder:
            exported, imported = pathlib.Path(folder) / "exported", pathlib.Path(folder) / "imported.htrace"
            why = REFUSED.get(recipe.parent.name)
            if why is not None:
                if not is_refused(heddle, original, exported, why):
                    different.append(f"{recipe.stem} (not refused: {why})")
                continue
            notes = run(heddle, "trace", "export", original, "--accelsim", exported).stderr
            run(heddle, "trace", "import", "--accelsim", exported, "-o", imported)
            run(heddle, "trace", "check", imported)
            old, new = launches(heddle, original), launches(heddle, imported)
        # The format has room for one destination and four sources: where others are left out, who waits for what differs.
        if "operands are left out" in notes:
            old, new = [work(launch) for launch in old], [work(launch) for launch in new]
        names = sorted({name for a, b in zip(old, new) for name in a.keys() | b.keys() if a.get(name) != b.get(name)})
        if len(old) != len(new) or names:
            different.append(f"{recipe.stem} ({len(old)} and {len(new)} launches; {', '.join(names)})")
    if different:
        sys.exit("not the same counters after export and import: " + "; ".join(different))


main()
