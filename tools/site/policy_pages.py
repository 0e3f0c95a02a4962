"""The reference of policies: parameters, counters, storage and refused pairs, as `heddle policies` tells them."""
import json
import re
import subprocess

from reference_text import cell, code, codes, joined, page, table

SEAMS = {
    "divergence": ("divergence", "Divergence policies", "How warps are formed, split and rejoined."),
    "scheduler": ("scheduler", "Schedulers", "Which warp issues."),
    "fetch": ("fetch", "Fetch policies", "Which warp is fetched for, on machines with instruction buffers."),
    "dispatch": ("dispatch", "Dispatchers", "Which thread block enters which SM."),
    "memory": ("memory", "Memory policies", "What the L1 data cache keeps, on machines that have one."),
}


def _run(heddle, *arguments):
    return subprocess.run([heddle, "policies", *arguments], capture_output=True, text=True, check=True).stdout


class Pages:
    def __init__(self, root, heddle):
        self.heddle = heddle
        self.policies = json.loads(_run(heddle, "--json"))
        self.explained = {}  # policy -> link to the page that explains it
        self._find_explanations(root)

    def _find_explanations(self, root):
        """A page of the policy's own, else the page of its row in the index."""
        folder = root / "docs" / "policies"
        for page, names in re.findall(
            r"^\| \[[^\]]*\]\((\w+\.md)\) \| (.*)", (folder / "README.md").read_text(encoding="utf-8"), re.M
        ):
            for name in re.findall(r"`(?:--\w+ )?([a-z_]+)`", names):
                self.explained[name] = f"../../docs/policies/{page}"
        for file in folder.glob("*.md"):
            self.explained[file.stem] = f"../../docs/policies/{file.name}"

    @staticmethod
    def _values(parameter):
        if parameter["type"] == "bool":
            return "`true`, `false`"
        if parameter["type"] == "choice":
            return codes(parameter["choices"])
        return f"{parameter['minimum']} to {parameter['maximum']}"

    @staticmethod
    def _default(parameter):
        value = parameter["default"]
        return code(str(value).lower() if isinstance(value, bool) else str(value))

    def _parameters(self, policy):
        rows = []
        for parameter in policy["parameters"]:
            meaning = joined(
                cell(parameter["description"]),
                f"Only if {code(parameter['only_if'])}." if parameter["only_if"] else "",
                f"Divides {code(parameter['ways_of'])}." if parameter["ways_of"] else "",
            )
            rows.append(
                (
                    code(parameter["name"]),
                    self._values(parameter),
                    self._default(parameter),
                    parameter["unit"],
                    meaning,
                    cell(parameter["source"]),
                )
            )
        return (
            "Parameters:\n\n" + table(("parameter", "values", "default", "unit", "meaning", "source"), rows)
            if rows
            else ""
        )

    @staticmethod
    def _counters(policy):
        rows = [
            (code(counter["name"]), counter["unit"], counter["combine"], cell(counter["description"]))
            for counter in policy["counters"]
        ]
        return "Counters:\n\n" + table(("counter", "unit", "over SMs", "meaning"), rows) if rows else ""

    def _storage(self, name):
        told = json.loads(_run(self.heddle, name, "--cost", "--json"))
        policy = told["policies"][0]
        if not policy["tabulated"]:
            return ""
        rows = [
            (
                cell(item["structure"]),
                str(item["entries"]) if item["bounded"] else "no bound",
                str(item["bits_per_entry"]),
                str(item["entries"] * item["bits_per_entry"]) if item["bounded"] else "",
                cell(item["contents"]),
            )
            for item in policy["structures"]
        ]
        notes = re.findall(r"^  Note: (.*)$", _run(self.heddle, name, "--cost"), re.M)
        total = f" In all {policy['total_bits']:,} bits." if policy["total_bits"] else ""
        return (
            f"Storage per SM of `{told['machine']}`, with the parameters' defaults:\n\n"
            + table(("structure", "entries", "bits each", "bits", "contents"), rows, (1, 2, 3))
            + f"\n{cell(policy['source'])}.{total}"
            + "".join(f" {cell(note[0].upper() + note[1:])}." for note in notes)
            + "\n"
        )

    def _refused(self, seam, name):
        others = {}
        for pair in self.policies["refused_pairs"]:
            if pair.get(seam) == name:
                other = next(key for key in pair if key not in (seam, "reason"))
                others.setdefault(pair["reason"].split(": ", 1)[-1], []).append(f"{pair[other]}")
        return "".join(f"Does not go with {codes(names)}: {cell(reason)}.\n" for reason, names in others.items())

    def seam(self, seam):
        option, title, what = SEAMS[seam]
        policies = self.policies[seam]
        listed = [
            (f"[`{policy['name']}`](#{policy['name']})", cell(policy["summary"]), cell(policy["source"]))
            for policy in policies
        ]
        sections = []
        for policy in policies:
            name = policy["name"]
            more = f" [What it does, and why]({self.explained[name]})." if name in self.explained else ""
            sections.append(
                "\n".join(
                    filter(
                        None,
                        [
                            f"## `{name}` {{#{name}}}\n",
                            f"{cell(policy['summary'])}. Source: {cell(policy['source'])}.{more}\n",
                            self._parameters(policy),
                            self._counters(policy),
                            self._storage(name),
                            self._refused(seam, name),
                        ],
                    )
                )
            )
        return page(
            title,
            f"{what} On the command line: `--{option} NAME:PARAMETER=VALUE,...`. `heddle policies NAME` prints the same.\n",
            table(("policy", "what it does", "source"), listed),
            *sections,
        )
