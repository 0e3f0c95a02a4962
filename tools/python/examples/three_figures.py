"""Three figures of results and a trace, as one would make them in a notebook.

    heddle replay traces/samples/*.htrace --machine baws_gtx480 --divergence nrec,pdom,dwf,tbc -o all.jsonl
    PYTHONPATH=build/release/python python3 tools/python/examples/three_figures.py all.jsonl traces/samples/bfs.htrace figures/

Writes speed_up.png, stalls.png (both of the results) and threads.png (of the trace).
"""
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy

from heddle import results, trace

results_file, trace_file, folder = sys.argv[1:4]
folder = pathlib.Path(folder)
folder.mkdir(parents=True, exist_ok=True)

# --- 1. Speed-up over pdom: one table of all runs, one line to turn it.
runs = results.read(results_file)
# `run` names all that distinguishes the runs; what is left to average are the seeds of --jitter.
cycles = runs.pivot_table(index="trace", columns="run", values="cycles", aggfunc="mean", sort=False).astype(float)
base = next((name for name in cycles.columns if name.startswith("pdom")), cycles.columns[0])
speed_up = cycles.rdiv(cycles[base], axis=0)
print(speed_up.round(2))
axes = speed_up.plot.bar(figsize=(7, 3), ylabel=f"speed-up over {base}", xlabel="", rot=0)
axes.axhline(1, color="black", linewidth=0.5)
axes.figure.savefig(folder / "speed_up.png", dpi=150, bbox_inches="tight")

# --- 2. Where the port cycles go. Machines with instruction buffers have `stalls`, the others `scheduler_cycles`.
if "stalls.issued" in runs:
    classes = [
        "issued",
        "structural",
        "data_memory",
        "data_arithmetic",
        "control",
        "fetch",
        "policy",
        "barrier",
        "exit",
        "empty",
    ]
    prefix = "stalls."
else:
    classes, prefix = ["issued", "stall", "memory", "idle"], "scheduler_cycles."
shares = runs.set_index(["trace", "run"])[[prefix + name for name in classes]].astype(float)
shares = 100 * shares.div(shares.sum(axis=1), axis=0)
axes = (
    shares.groupby("run", sort=False)
    .mean()
    .plot.barh(stacked=True, figsize=(7, 3), xlabel="% of port cycles, mean of the traces")
)
axes.legend(classes, ncol=5, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
axes.invert_yaxis()
axes.figure.savefig(folder / "stalls.png", dpi=150, bbox_inches="tight")

# --- 3. How unequal the threads are: instructions of each thread, and the memory that each touches.
instructions, touched = [], []
with trace.Trace(trace_file) as opened:
    for launch in opened.launches():
        sizes = numpy.array([block.instruction_count for block in opened.programs[launch.program].block])
        for chunk in opened.chunks(launch):
            per_path = numpy.array([sizes[path].sum() for path in chunk.path_basic_blocks])
            instructions.append(per_path[chunk.path_of_thread])
            touched.extend(
                len(numpy.unique(chunk.addresses(thread) >> numpy.uint64(7)))
                for thread in range(len(chunk.path_of_thread))
            )
instructions = numpy.concatenate(instructions)
print(
    f"{len(instructions)} threads, {instructions.sum()} thread-instructions, {instructions.min()} to {instructions.max()} each"
)
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), constrained_layout=True)
left.hist(instructions, bins=40)
left.set(xlabel="instructions of a thread", ylabel="threads", yscale="log")
right.hist(touched, bins=40)
right.set(xlabel="lines of 128 bytes that a thread touches", yscale="log")
figure.savefig(folder / "threads.png", dpi=150)
