"""The reference of results, machines, recipes, sweeps and visits: the fields of the .proto files, with units and meanings."""
import proto_text
from reference_text import anchor, cell, code, codes, joined, page, table

MACHINE = "heddle.machine.v1.Machine"


def identifier(name):
    """The anchor of a message or field."""
    return name.split(".v1.", 1)[-1].lower()


class Pages:
    def __init__(self, root):
        self.root = root

    def _value(self, field, elsewhere):
        """What a field holds: its unit, or the values or fields that it may have."""
        if field.is_number:
            kind = field.unit or "number"
        elif field.message:
            name = field.message.split(".v1.", 1)[-1]
            kind = f"[{name}]({elsewhere.get(field.message, '')}#{identifier(field.message)})"
        elif field.enumeration:
            kind = f"[{field.kind}](#{identifier(field.enumeration)})"
        else:
            kind = {"bool": "true, false", "string": "text", "bytes": "bytes"}[field.kind]
        if field.keys:
            return f"{kind}, by name"
        return f"{kind}, list" if field.repeated else kind

    def _message(self, definitions, message, paths, elsewhere, needs_units):
        name = message.name.split(".v1.", 1)[-1]
        parts = [f"## {name} {{#{identifier(message.name)}}}\n"]
        places = [path for path in paths if path]
        if places:
            parts.append(f"At {codes(places)}.\n")
        if message.comment:
            parts.append(cell(message.comment) + "\n")
        rows = []
        for field in message.fields:
            if needs_units and field.is_number and not field.unit:
                raise ValueError(f"{message.name}.{field.name} has no unit: begin its comment with [UNIT]")
            meaning = joined(cell(field.comment), f"One of the fields of `{field.choice}`." if field.choice else "")
            rows.append(
                (
                    anchor(identifier(f"{message.name}.{field.name}")) + code(field.name),
                    self._value(field, elsewhere),
                    meaning,
                )
            )
        parts.append(table(("field", "unit, or what it holds", "meaning"), rows))
        for enumeration in sorted({field.enumeration for field in message.fields if field.enumeration}):
            found = definitions.enumerations[enumeration]
            rows = [
                (code(value), cell(comment)) for value, comment in found.values if not value.endswith("UNSPECIFIED")
            ]
            parts.append(
                f"{anchor(identifier(enumeration))}Values of `{found.short}`:"
                + (f" {cell(found.comment)}" if found.comment else "")
                + "\n"
            )
            parts.append(table(("value", "meaning"), rows))
        return "\n".join(parts)

    def _fields(self, file, root, title, introduction, elsewhere=None, needs_units=False):
        definitions = proto_text.Definitions(self.root, file)
        elsewhere = elsewhere or {}
        paths = definitions.paths(root)
        names = [name for name in definitions.below(root) if not self._is_elsewhere(name, elsewhere)]
        sections = [
            self._message(definitions, definitions.messages[name], paths[name], elsewhere, needs_units)
            for name in names
        ]
        return page(title, introduction + "\n", *sections)

    @staticmethod
    def _is_elsewhere(name, elsewhere):
        packages = {other.rsplit(".", 1)[0] + "." for other in elsewhere}
        return any(name.startswith(package) for package in packages)

    def counters(self):
        return self._fields(
            "proto/result.proto",
            "heddle.result.v1.Result",
            "Results and counters",
            "A result is one line of JSON, and these are its fields. Numbers are integers unless their unit says otherwise; ratios "
            "are formed from sums. What a run does not have is absent. Cycles are those of the cores unless the unit names others; "
            "counters are sums over all SMs. [Metrics](../../docs/reference/metrics.md) says how papers define what is counted, and "
            "how to read it. Policies declare further counters: [divergence](divergence-policies.md), [schedulers](schedulers.md), "
            "[fetch](fetch-policies.md), [dispatch](dispatchers.md), [memory](memory-policies.md).",
            {MACHINE: "machine-fields.md"},
            needs_units=True,
        )

    def machine_fields(self):
        return self._fields(
            "proto/machine.proto",
            MACHINE,
            "Fields of a machine",
            "A machine is a text file of these fields; `--set PATH=VALUE` of `heddle replay` sets one of them. "
            "[Machines](machines.md) has the values of those that come with Heddle, "
            "[timing](../../docs/reference/timing.md) the rules in which they take part.",
            needs_units=True,
        )

    def recipes(self):
        return self._fields(
            "proto/recipe.proto",
            "heddle.recipe.v1.Recipe",
            "Fields of a recipe",
            "A recipe says how `heddle capture` builds and launches one kernel. It is a text file, NAME.textproto; "
            "[the workloads](../../traces/kernels/README.md) are examples.",
        )

    def sweeps(self):
        return self._fields(
            "proto/sweep.proto",
            "heddle.sweep.v1.Sweep",
            "Fields of a sweep",
            "A sweep is the plan of a study: a text file, NAME.textproto, for `heddle sweep plan`. "
            "[A study from plan to table](../../docs/tutorial/study.md) shows one.",
        )

    def suites(self):
        return self._fields(
            "proto/suite.proto",
            "heddle.suite.v1.Suite",
            "Fields of a suite",
            "A suite says how programs of others are built, run and checked: a text file, NAME.textproto, for `heddle suite`. "
            "[Suites of programs](../../docs/how-to/suites.md) shows one.",
        )

    def hardware(self):
        return self._fields(
            "proto/hardware.proto",
            "heddle.hardware.v1.Visit",
            "Fields of a visit to a card",
            "What one visit to a graphics card measured: a JSON file, which `heddle correlate` and `heddle machines fit` read. "
            "[Beside a graphics card](../../docs/how-to/correlating.md) shows how.",
        )
