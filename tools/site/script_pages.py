"""The reference of the scripts in tools/, from the comment or docstring at the beginning of each."""
import ast
import os

from reference_text import block, page


def _words(text):
    """What a script says of itself: a Python module's docstring, or the comment behind the first line."""
    if "python" in text.split("\n", 1)[0]:
        return ast.get_docstring(ast.parse(text)) or ""
    lines = []
    for line in text.splitlines()[1:]:
        if not line.startswith("#"):
            break
        lines.append(line[2:])
    return "\n".join(lines).strip("\n")


def scripts(root):
    sections = []
    for file in sorted((root / "tools").iterdir()):
        if not file.is_file() or not os.access(file, os.X_OK):
            continue
        words = _words(file.read_text(encoding="utf-8"))
        if not words:
            raise ValueError(f"{file.relative_to(root)} does not say what it is for: begin it with a comment")
        sections += [f"## tools/{file.name} {{#{file.name}}}\n", block(words)]
    return page(
        "Scripts of the source tree",
        "They are run from anywhere in a clone. Each prints the same with `--help`.\n",
        *sections,
    )
