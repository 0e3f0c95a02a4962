"""Reads what `heddle COMMAND --help` prints (the layout of CLI11) into commands, groups and options."""
import dataclasses
import re
import subprocess

COLUMN = 30  # where descriptions begin
NAMES = r"(?:-{1,2}[\w-]+(?:,-{1,2}[\w-]+)*)"
LEFT = re.compile(
    rf"(?P<names>{NAMES}|[A-Z][A-Z_]*)"
    r"(?: (?P<type>[A-Z]+)(?::(?P<check>\{[^}]*\}|from \S+ to [^\s=]+|[A-Z]+))?(?:=(?P<default>\S+(?: \S+)*?))?)?"
    r"(?P<many> \.\.\.)?(?P<required> REQUIRED)?"
    r"(?P<relations>(?: (?:Needs|Excludes):(?: --[\w-]+)+)*)"
)
MORE = re.compile(r"(?:Needs|Excludes): |REQUIRED\b")  # still of the left side
TYPES = {"TEXT": "text", "UINT": "whole number", "INT": "whole number", "FLOAT": "number", "ENUM": "word"}


@dataclasses.dataclass
class Option:
    names: str  # "-o,--output", or a positional's name
    value: str  # what it takes, in words; empty for a flag
    default: str  # as printed; empty if there is none
    required: bool
    relations: list  # of ("Needs" or "Excludes", [names])
    description: str


@dataclasses.dataclass
class Command:
    words: tuple  # ("heddle", "trace", "info")
    summary: str
    usage: str
    groups: list  # of (title, [Option])
    commands: list  # of (word, summary)
    footer: str  # what is printed behind everything


def _option(left, description):
    match = LEFT.fullmatch(left)
    if match is None:
        raise ValueError(f"not the help of an option: '{left}'")
    value = ""
    if match["type"]:
        value = TYPES[match["type"]]
        check = match["check"] or ""
        if check.startswith("{"):
            value = "one of " + ", ".join(check[1:-1].split(","))
        elif check.startswith("from"):
            value += ", " + re.sub(r"^from (\S+) to (\S+)$", r"\1 to \2", check)
    if match["many"]:
        value += ", repeat"
    relations = [
        (kind, names.split()) for kind, names in re.findall(r"(Needs|Excludes):((?: --[\w-]+)+)", match["relations"])
    ]
    return Option(
        match["names"], value.strip(", "), match["default"] or "", bool(match["required"]), relations, description
    )


def _options(lines):
    """The options of a group's lines, whose descriptions stand in a column, on the same line or below."""
    entries = []  # [left, [lines of the description]]
    for line in lines:
        if not line.startswith(" " * COLUMN):
            # A left side that is too long for its column has the description below it.
            if (
                len(line) > COLUMN
                and line[COLUMN - 1] == " "
                and LEFT.fullmatch(line[:COLUMN].strip())
                and not MORE.match(line[COLUMN:])
            ):
                entries.append([line[:COLUMN].strip(), [line[COLUMN:].strip()]])
            else:
                entries.append([line.strip(), []])
        else:
            entries[-1][1].append(line.strip())
    return [_option(left, " ".join(description)) for left, description in entries]


def parse(words, text):
    """The command whose help is `text`."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Usage: "))
    command = Command(tuple(words), " ".join(lines[:start]).strip(), "", [], [], "")
    end = start + 1
    while end < len(lines) and lines[end].startswith("       "):
        end += 1
    command.usage = "\n".join(line[7:] for line in lines[start:end])
    number, engine = end, ""
    while number < len(lines):
        line = lines[number]
        number += 1
        if match := re.fullmatch(r"\[Option Group: (.*)\]", line):
            engine = match[1]
        elif engine and (match := re.fullmatch(r"  \[(.*)\]", line)):
            engine = match[1]
        elif (
            re.fullmatch(r"(?:  )?[A-Z][\w ]*:", line) and number < len(lines) and re.match(r" {2,4}\S", lines[number])
        ):
            body, indent = [], len(line) - len(line.lstrip())
            while number < len(lines) and lines[number].startswith("  " + " " * indent):
                body.append(lines[number][indent:])
                number += 1
            if line == "Subcommands:":
                command.commands = [(entry.split(None, 1)[0], entry.split(None, 1)[1]) for entry in body]
            elif line == "Examples:":
                command.footer = "\n".join(lines[number - len(body) - 1 :]).strip("\n")
                return command
            else:
                title = line.strip()[:-1] if not engine else engine
                command.groups.append((title, _options(body)))
        elif line.strip():
            command.footer = "\n".join(lines[number - 1 :]).strip("\n")
            return command
    return command


def command_tree(program, words):
    """The command and all below it, depth first. `program` is started with the words behind the first."""
    done = subprocess.run(
        [program, *words[1:], "--help"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise ValueError(f"{' '.join(words)} --help: {done.stderr.strip() or f'exit status {done.returncode}'}")
    command = parse(words, done.stdout)
    return [command] + [below for word, _ in command.commands for below in command_tree(program, [*words, word])]
