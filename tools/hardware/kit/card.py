"""The card of this machine, and the programs that find it."""

import json
import platform

from kit import build, kernels, processes, tools_found

STAND_IN = "stand-in"


class NoCard(Exception):
    """Why nothing can be measured here."""


class NoDriver(NoCard):
    """The programs run here, and say why."""


def make_programs(builder, jobs):
    """Paths of the programs by name. Raises NoCard if one cannot be made."""
    made = build.in_parallel({name: (lambda name=name: builder.program(name)) for name in build.PROGRAMS}, jobs)
    for name, thing in made.items():
        if thing.why:
            raise NoCard(f"{name}: {thing.why}")
    return {name: thing.path for name, thing in made.items()}


def ask(programs, seconds):
    """What the driver says of the card, by names of heddle.hardware.v1.Card. Raises NoCard."""
    ended = processes.run([programs["plan_card"], "card"], seconds)
    lines = kernels.read_lines(ended.output)
    if ended.ok and lines and "name" in lines[0]:
        return lines[0]
    if lines and "error" in lines[0]:
        raise NoDriver(lines[0]["error"])
    raise NoCard(f"plan_card {ended.why()}")


def find(bundle, work, tools, args, budget):
    """Programs, what the driver says of the card, and what makes device code for it. Raises NoCard."""
    stand_in = STAND_IN in tools_found.version(tools["nvcc"])
    prebuilt = bundle / "prebuilt"
    prebuilt = prebuilt if prebuilt.exists() and not stand_in else None

    def make_builder(arch, prebuilt, programs_run=True):
        builder = build.Builder(bundle, work / "built", tools, arch, stand_in, prebuilt, programs_run)
        builder.limit = lambda seconds: budget.limit(args.compile_seconds)
        return builder

    for path in prebuilt.glob("*") if prebuilt else ():
        # Some ways to copy a folder lose it.
        if not path.suffix:
            path.chmod(0o755)
    programs_run = True
    try:
        programs = make_programs(make_builder(args.arch, prebuilt), args.jobs)
        card = ask(programs, budget.limit(60))
    except NoCard as error:
        if not prebuilt or isinstance(error, NoDriver):
            raise
        # Programs that were compiled elsewhere need not run here.
        programs_run = False
        programs = make_programs(make_builder(args.arch, None), args.jobs)
        card = ask(programs, budget.limit(60))
    arch = args.arch or f"sm_{card['compute_major']}{card['compute_minor']}"
    if prebuilt and json.loads((prebuilt / "prebuilt.json").read_text())["arch"] != arch:
        prebuilt = None
    return programs, card, make_builder(arch, prebuilt, programs_run)


def describe(card, tools, smi, state):
    """Writes card and tools down. `smi`: what nvidia-smi has read."""
    card = dict(card)
    version = card.pop("cuda_driver")
    stand_ins = {"the card"} if card.pop("stand_in", False) else set()
    versions = {name: tools_found.version(tools[name]) for name in ("nvcc", "ptxas", "ncu", "nvdisasm")}
    if not versions["nvdisasm"]:
        versions["nvdisasm"] = tools_found.version(tools["cuobjdump"])
    stand_ins |= {name for name, text in versions.items() if STAND_IN in text}
    state.set("card", card)
    state.set("stand_ins", sorted(stand_ins | set(state.get("stand_ins"))))
    state.set(
        "tools",
        {
            "driver": smi.get("driver_version", ""),
            "cuda_driver": f"{version // 1000}.{version % 1000 // 10}",
            **versions,
            "python": platform.python_version(),
        },
    )
    return f"{card['name']}, {', '.join(f'{name} {text}' for name, text in versions.items() if text)}"
