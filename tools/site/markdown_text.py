"""Headings, anchors and links of Markdown text, as far as our documents use them.

Anchors are those of GitHub and its relatives: the heading in lower case, without punctuation, with hyphens for spaces.
"""
import re

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.S | re.M)
SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n[ \t]*\n).)+?)(?<!`)\1(?!`)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$", re.M)
INLINE_LINK = re.compile(r"\]\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
DEFINED_LINK = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*<?([^\s<>]+)", re.M)
HTML_LINK = re.compile(r"<[a-z][^<>]*?\b(?:src|href)=[\"']([^\"'\n]+)[\"']", re.I)
HTML_ANCHOR = re.compile(r"<[a-z][^<>]*?\b(?:id|name)=[\"']([^\"'\n]+)[\"']", re.I)


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def without_code(text):
    """The text with fenced code, code spans and comments as blanks: every other character stays where it is."""
    text = FENCE.sub(_blank, text)
    text = COMMENT.sub(_blank, text)
    return SPAN.sub(_blank, text)


def _plain(heading):
    """A heading as it is read: without links, emphasis and code marks."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r"<[^<>]+>", "", heading)
    heading = re.sub(r"(?<![\w*])(\*{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2", heading)
    return heading.replace("`", "")


def slug(heading):
    """The anchor of a heading's text."""
    return re.sub(r"[^\w\- ]", "", _plain(heading).strip().lower()).replace(" ", "-")


def headings(text):
    """[(position of the line's end, level, plain text, anchor)]: a second heading of the same text has -1 behind its anchor."""
    fenced = COMMENT.sub(_blank, FENCE.sub(_blank, text))
    found, seen = [], {}
    for match in HEADING.finditer(fenced):
        name = slug(match.group(2))
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.append((match.end(), len(match.group(1)), _plain(match.group(2)), f"{name}-{count}" if count else name))
    return found


def anchors(text):
    """All that a link to this text may name behind '#'."""
    return {anchor for _, _, _, anchor in headings(text)} | set(HTML_ANCHOR.findall(without_code(text)))


def title(text, otherwise):
    """The first heading of the text."""
    found = headings(text)
    return found[0][2] if found else otherwise


def links(text):
    """[(start, end, target)] of every link and image, in the order of the text; `start` and `end` enclose the target."""
    plain = without_code(text)
    found = [
        (match.start(1), match.end(1), text[match.start(1) : match.end(1)])
        for pattern in (INLINE_LINK, DEFINED_LINK, HTML_LINK)
        for match in pattern.finditer(plain)
    ]
    return sorted(found)


def leads_elsewhere(target):
    """Whether a link's target is an address of the network, or of mail."""
    return re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", target) is not None


def with_anchors(text):
    """The text with the anchor of every heading written behind it, for a generator that would make others."""
    parts, last = [], 0
    for end, _, _, anchor in headings(text):
        if not text[last:end].rstrip().endswith("}"):
            parts.append(text[last:end].rstrip("# \t") + f" {{#{anchor}}}")
            last = end
    return "".join(parts) + text[last:]


def rewritten(text, target_of):
    """The text with every link's target replaced by target_of(target)."""
    parts, last = [], 0
    for start, end, target in links(text):
        parts += [text[last:start], target_of(target)]
        last = end
    return "".join(parts) + text[last:]
