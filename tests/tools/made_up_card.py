"""A fixture: a visit to a card that does not exist. Every number in it is made up: those of our own replay, times a
factor that a test chooses, so that the test knows the error before heddle does."""
import json

from heddle_command import heddle, results

MADE_UP = "a fixture of the tests: our own counters times chosen factors"
CARD = "Made-up card"


def _profile(ours, ops, field):
    """The sum of a memory field over instructions whose opcode begins like one of `ops`."""
    return sum(
        one["memory"].get(field, 0)
        for one in ours["instruction_profile"]["instruction"]
        if "memory" in one and one["text"].startswith(ops)
    )


# Metrics of the fixture, and what of ours they are.
METRICS = {
    "smsp__inst_executed.sum": lambda ours: ours["warp_instructions"],
    "smsp__thread_inst_executed.sum": lambda ours: ours["thread_instructions"],
    "smsp__thread_inst_executed_pred_on.sum": lambda ours: ours["thread_instructions"],
    "launch__registers_per_thread": lambda ours: ours["registers_per_thread"],
    "launch__occupancy_limit_blocks": lambda ours: 32,
    "launch__occupancy_limit_registers": lambda ours: ours["blocks_per_sm"],
    "launch__occupancy_limit_shared_mem": lambda ours: 32,
    "launch__occupancy_limit_warps": lambda ours: 64,
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": lambda ours: _profile(ours, "ld", "data_accesses"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": lambda ours: _profile(ours, "ld", "transactions"),
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum": lambda ours: 0,
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum": lambda ours: 0,
    "dram__bytes_read.sum": lambda ours: 32 * ours["dram"]["reads"],
    "dram__bytes_write.sum": lambda ours: 32 * ours["dram"]["writes"],
    "sm__cycles_elapsed.max": lambda ours: ours["cycles"],
    "smsp__issue_active.sum": lambda ours: ours["stalls"]["issued"],
    "smsp__cycles_active.sum": lambda ours: ours["stalls"]["total"],
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": lambda ours: (
        ours["warp_cycles"]["data_arithmetic"] / ours["warp_cycles"]["issue"]
    ),
}


def kernel(trace, factors=None, microseconds=50.0, workload=None):
    """A kernel of a visit for a trace; `factors` by metric: what ours is multiplied with."""
    factors = factors or {}
    done = heddle("trace", "info", "--json", trace)
    assert done.returncode == 0, done.stderr
    info = {launch["launch"]: launch for launch in json.loads(done.stdout)["launch"]}
    (result,) = results(trace, "--machine", "volta_v100", "--scheduler", "gto", "--per-instruction")
    launches = []
    for ours in result["launch"]:
        of_trace = info[ours["launch"]]
        launches.append(
            {
                "launch": ours["launch"],
                "kernel": of_trace["kernel"],
                "grid": dict(zip("xyz", of_trace["grid"])),
                "block": dict(zip("xyz", of_trace["block"])),
                "microseconds": [microseconds, 2 * microseconds, microseconds],
                "passes": 9,
                "counter": [
                    {"name": name, "unit": "", "value": [of(ours) * factors.get(name, 1)]}
                    for name, of in METRICS.items()
                ],
            }
        )
    return {
        "workload": workload or trace.stem,
        "size": "",
        "source": "TRACE_PTX",
        "output": [{"buffer": "out", "right": True}],
        "launch": launches,
    }


def visit(kernels, **other):
    """A visit with these kernels."""
    return {
        "schema": 1,
        "made_up": MADE_UP,
        "card": {"name": CARD, "compute_major": 9, "compute_minor": 0, "sms": 80, "warp_size": 32},
        "tools": {"driver": "0.0", "ncu": "0.0"},
        "conditions": {"date": "2026-01-01", "clock_control": "none", "complete": True},
        "kernel": kernels,
        **other,
    }


def write(folder, content, name="2026-01-01.json"):
    """Writes a visit into the folder of its card; returns the folder."""
    card = folder / "made_up_card"
    card.mkdir(exist_ok=True)
    (card / name).write_text(json.dumps(content))
    return card
