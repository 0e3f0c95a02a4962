"""The reference of machines and presets: their values side by side."""
import json
import subprocess

import field_pages
import proto_text
from reference_text import cell, code, page, table

DESCRIPTIONS = "replay/machine/descriptions"


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _flat(value, path=()):
    """[(path of the part, name of the field, value)] of a machine in JSON, in the order of its fields."""
    found = []
    for name, inner in value.items():
        if isinstance(inner, dict):
            found += _flat(inner, (*path, name))
        elif isinstance(inner, list) and not any(isinstance(entry, dict) for entry in inner):
            found.append((path, name, ", ".join(map(_text, inner))))
        elif isinstance(inner, list):
            for number, entry in enumerate(inner):
                key = entry.get("operation", number)
                values = [_text(part) for field, part in entry.items() if field != "operation"]
                found.append(((*path, name), f"{name}[{key}]", ", ".join(values)))
        else:
            found.append((path, name, _text(inner)))
    return found


def _parts(machines):
    """path of a part -> field -> machine -> value"""
    parts = {}
    for machine in machines:
        for path, name, value in _flat(
            {key: value for key, value in machine.items() if key not in ("name", "description")}
        ):
            parts.setdefault(path, {}).setdefault(name, {})[machine["name"]] = value
    return parts


def _part_table(path, fields, machines, messages):
    """The fields of a part, and the machines that have it. `messages` are the definitions of the parts, by path."""
    names = [machine["name"] for machine in machines if any(machine["name"] in values for values in fields.values())]
    message = messages.get(".".join(path))
    link = (
        lambda field: f"[{code(field)}](machine-fields.md#{field_pages.identifier(f'{message}.{field}')})"
        if message
        else code(field)
    )
    rows = [(link(field), *(cell(values.get(name, "")) for name in names)) for field, values in fields.items()]
    title = ".".join(path) or "The machine"
    note = "Latency, initiation interval and unit of each class of operations.\n\n" if path[-1:] == ("timing",) else ""
    return f"### {title}\n\n{note}" + table(("field", *(code(name) for name in names)), rows, range(1, len(names) + 1))


def _presets(root):
    rows = []
    for file in sorted((root / DESCRIPTIONS / "presets").glob("*.preset")):
        values = dict(
            line.split(": ", 1)
            for line in file.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")
        )
        rows.append(
            (
                f"[`{file.stem}`](../../{DESCRIPTIONS}/presets/{file.name})",
                cell(values["description"]),
                *(
                    code(values.get(key, ""))
                    for key in ("machine", "divergence", "scheduler", "dispatch", "fetch", "memory")
                ),
            )
        )
    return table(("`--preset`", "what", "machine", "divergence", "scheduler", "dispatch", "fetch", "memory"), rows)


def machines(root, heddle):
    printed = subprocess.run([heddle, "machines", "--json"], capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in printed.stdout.splitlines()]
    listed = [
        (f"[`{machine['name']}`](../../{DESCRIPTIONS}/{machine['name']}.textproto)", cell(machine["description"]))
        for machine in found
    ]
    definitions = proto_text.Definitions(root, "proto/machine.proto")
    messages = {path: message for message, paths in definitions.paths(field_pages.MACHINE).items() for path in paths}
    sections = [_part_table(path, fields, found, messages) for path, fields in _parts(found).items()]
    return page(
        "Machines and presets",
        "The file of a machine, or `heddle machines NAME`, has the source of every value. "
        "[Fields of a machine](machine-fields.md) says what the fields mean.\n",
        table(("machine", "what it is"), listed),
        "## Presets\n",
        "A preset is a paper's machine and policies in one word; options beside it go before it.\n",
        _presets(root),
        "## Values side by side\n",
        "A table has the machines that have this part.\n",
        *sections,
    )
