"""Plans as `heddle capture --plan` writes them, as far as Python needs to know them."""

import dataclasses
import pathlib


@dataclasses.dataclass
class Buffer:
    name: str
    before: str  # hexadecimal SHA-256 of the contents before the first launch
    after: str  # the same, after the last launch of a capture


@dataclasses.dataclass
class Launch:
    function: str  # mangled
    name: str  # demangled
    grid: tuple
    block: tuple
    shared_bytes: int


@dataclasses.dataclass
class Check:
    buffer: str
    program: str  # "" if the expected contents are given
    expected: str  # hexadecimal SHA-256 of those
    tolerance: float


@dataclasses.dataclass
class Plan:
    folder: pathlib.Path
    source: str
    recipe: str  # hexadecimal SHA-256 of the recipe
    ptx: str  # the same of the PTX that the trace was read from
    unroll: bool
    defines: list
    buffers: list
    launches: list  # repeated ones as often as they are repeated
    checks: list
    variables: list  # (name, digest), by `symbol-N.bin`


def read(folder):
    """The plan in a folder. Raises ValueError for what is none."""
    folder = pathlib.Path(folder)
    lines = (folder / "plan.txt").read_text().splitlines()
    if not lines or lines[0] != "heddle-plan 1":
        raise ValueError(f"{folder}/plan.txt: is no plan of version 1")
    plan = Plan(folder, "", "", "", True, [], [], [], [], [])
    repeats = []
    for number, line in enumerate(lines[1:], 2):
        word, _, rest = line.partition(" ")
        words = rest.split()
        if word in ("recipe", "ptx", "source"):
            setattr(plan, word, rest)
        elif word == "unroll":
            plan.unroll = rest != "0"
        elif word == "define":
            plan.defines.append(rest)
        elif word == "buffer":
            plan.buffers.append(Buffer(words[0], words[3], words[4]))
        elif word == "symbol":
            plan.variables.append((words[0], words[3]))
        elif word == "launch":
            sizes = [int(size) for size in words[1:9]]
            plan.launches.append(Launch(words[0], words[0], tuple(sizes[:3]), tuple(sizes[3:6]), sizes[6]))
            repeats.append(sizes[7])
        elif word == "name":
            plan.launches[-1].name = rest
        elif word == "check" and words[0] == "program":
            plan.checks.append(Check(words[1], " ".join(words[2:]), "", 0.0))
        elif word == "check":
            plan.checks.append(Check(words[1], "", words[3], float.fromhex(words[2])))
        elif word not in ("argument", "resident"):
            raise ValueError(f"{folder}/plan.txt:{number}: is no line of a plan: {line}")
    plan.launches = [launch for launch, count in zip(plan.launches, repeats) for _ in range(count)]
    return plan
