"""The reference of commands and options, from what the commands print with --help."""
import subprocess

import help_text
from reference_text import block, cell, code, codes, joined, page, table

HELP = "-h,--help"
# What --help prints as the default of this is the number of processors of the machine, at most 4: the reference must not
# depend on where it is made.
PROCESSORS = ("heddle capture", "--threads")


def _default(command, option):
    if (" ".join(command.words), option.names) != PROCESSORS:
        return code(option.default)
    if option.default not in ("1", "2", "3", "4"):
        raise ValueError(f"{' '.join(PROCESSORS)}: {option.default} is no number of processors up to 4")
    return "processors, at most 4"


def _meaning(option):
    relations = [f"{'Needs' if kind == 'Needs' else 'Not with'} {codes(names)}." for kind, names in option.relations]
    required = "**Required.** " if option.required and option.names.startswith("-") else ""
    return required + joined(cell(option.description), *relations)


def _section(command, told):
    """A command's usage and options. `told` are the footers of the commands above, which are not printed again."""
    name = " ".join(command.words)
    parts = [
        f"{'##' if len(command.words) < 3 else '###'} {name}\n",
        cell(command.summary).rstrip(".") + ".\n",
        block(command.usage),
    ]
    if command.commands:
        rows = [(f"[`{word}`](#{name.replace(' ', '-')}-{word})", cell(summary)) for word, summary in command.commands]
        parts.append(table(("command", "what it does"), rows))
    for title, options in command.groups:
        rows = [
            (codes(option.names.split(",")), cell(option.value), _default(command, option), _meaning(option))
            for option in options
            if option.names != HELP
        ]
        if not rows:
            continue
        if title not in ("Options", "Positionals"):
            parts.append(f"{title}:\n")
        parts.append(table(("argument" if title == "Positionals" else "option", "value", "default", "meaning"), rows))
    if command.footer and command.footer not in told:
        parts.append(block(command.footer))
    return "\n".join(parts)


def commands(heddle, nvcc):
    tree = help_text.command_tree(heddle, ["heddle"])
    footers = {command.words: command.footer for command in tree}
    sections = [
        _section(command, [footers[command.words[:length]] for length in range(1, len(command.words))])
        for command in tree
    ]
    compiler = subprocess.run([nvcc, "--help"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return page(
        "Commands and options",
        "Each command prints the same with `--help`. Positional arguments come before the options in these tables, but may "
        "stand anywhere. Exit status: 0 success, 1 the run failed, 2 wrong usage.\n",
        *sections,
        "## heddle-nvcc\n",
        block(compiler.stdout.strip("\n")),
    )
