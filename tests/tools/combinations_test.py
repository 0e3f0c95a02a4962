"""The table of what does not go together in docs/policies/README.md is what `heddle policies` says.

HEDDLE_UPDATE_DOCUMENTS=1 writes it.
"""
import json
import os

from heddle_command import SOURCE, CommandTest, heddle, main

PAGE = SOURCE / "docs" / "policies" / "README.md"
BEGIN = "<!-- refused combinations: written by tests/tools/combinations_test.py -->\n"
END = "<!-- end -->\n"


def table(policies):
    """One row per policy and reason."""
    rows = {}
    for pair in policies["refused_pairs"]:
        option = "dispatch" if "dispatch" in pair else "scheduler"
        others = [pair[seam] for seam in ("divergence", "scheduler") if seam in pair and seam != option]
        reason = pair["reason"].split(": ", 1)[1]
        rows.setdefault((f"--{option} {pair[option]}", reason), []).extend(others)
    lines = ["| policy | not with | because |", "|---|---|---|"]
    for (policy, reason), others in rows.items():
        lines.append(f"| `{policy}` | {', '.join(f'`{other}`' for other in others)} | {reason} |")
    return "\n".join(lines) + "\n"


class Combinations(CommandTest):
    def test_the_documented_table_is_that_of_this_build(self):
        expected = table(json.loads(heddle("policies", "--json").stdout))
        page = PAGE.read_text()
        before, begin, rest = page.partition(BEGIN)
        documented, end, after = rest.partition(END)
        self.assertTrue(begin and end, "the page has both marks")
        if os.environ.get("HEDDLE_UPDATE_DOCUMENTS"):
            PAGE.write_text(before + begin + expected + end + after)
            return
        self.assertEqual(documented, expected, "run this test with HEDDLE_UPDATE_DOCUMENTS=1")


if __name__ == "__main__":
    main()
