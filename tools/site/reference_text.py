"""Tables and headings of the reference, as Markdown."""
import re

NOTICE = "<!-- Written by tools/make-reference: change what it is made of, not this page. -->\n"


def cell(text):
    """Text that stays in its cell, and in which < and | are what they are; code marks stay."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    plain = [part if part.startswith("`") else part.replace("<", "&lt;").replace("*", "\\*") for part in parts]
    return "".join(plain).replace("|", "\\|")


def table(headers, rows, right=()):
    """A table; `right` are the numbers of the columns that are aligned to the right. Columns without any text are left out."""
    kept = [number for number in range(len(headers)) if any(row[number] for row in rows)]
    lines = [
        "| " + " | ".join(headers[number] for number in kept) + " |",
        "|" + "|".join("--:" if number in right else "---" for number in kept) + "|",
    ]
    lines += ["| " + " | ".join(row[number] for number in kept) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def code(text):
    """A word in code marks; nothing stays nothing."""
    return f"`{text}`" if text else ""


def joined(meaning, *more):
    """A meaning with further sentences behind it."""
    more = [sentence for sentence in more if sentence]
    if more and meaning and meaning[-1] not in ".!?":
        meaning += "."
    return " ".join(filter(None, [meaning, *more]))


def codes(words):
    return ", ".join(code(word) for word in words)


def block(text):
    return f"```text\n{text}\n```\n"


def anchor(identifier):
    return f'<a id="{identifier}"></a>'


def page(title, *parts):
    return "\n".join([NOTICE + f"# {title}\n", *parts])
