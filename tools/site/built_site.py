"""Holds a built site against two rules: every link within it leads to a file and a place in it, and nothing loads from elsewhere."""
import html.parser
import posixpath
import re
import urllib.parse

LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "link": "href",
    "source": "src",
    "object": "data",
    "video": "src",
    "audio": "src",
}
STYLE_LOAD = re.compile(r"(?:url\(\s*[\"']?|@import\s+[\"'])(https?:)?//")
NO_PAGE = ("404.html",)  # it is shown in place of any page, so that its links begin at the root


class _Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.classes = set(), [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids.update(filter(None, (values.get("id"), values.get("name"))))
        self.classes.update((values.get("class") or "").split())
        if tag == "a" and values.get("href") is not None:
            self.links.append(values["href"])
        elif tag in LOADS and values.get(LOADS[tag]):
            if not (tag == "link" and values.get("rel") in ("canonical", "prev", "next", "alternate")):
                self.loads.append(values[LOADS[tag]])


def faults(folder):
    """What is wrong with the site in a folder."""
    files = {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}
    pages = {
        name: _Page(file.read_text(encoding="utf-8"))
        for name, file in files.items()
        if name.endswith(".html") and name not in NO_PAGE
    }
    found = []
    for name, page in sorted(pages.items()):
        if "mermaid" in page.classes:
            found.append(f"{name}: has a drawing of Mermaid, whose script comes from elsewhere")
        for link in page.loads + page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme in ("data", "mailto", "javascript"):
                continue
            if parts.scheme or parts.netloc:
                if link in page.loads:
                    found.append(f"{name}: loads {link}")
                continue
            target = (
                posixpath.normpath(posixpath.join(posixpath.dirname(name), urllib.parse.unquote(parts.path)))
                if parts.path
                else name
            )
            if target not in files and posixpath.join(target, "index.html") in files:
                target = posixpath.join(target, "index.html")
            if target not in files:
                found.append(f"{name}: {link} leads to no file")
            elif (
                parts.fragment
                and target in pages
                and urllib.parse.unquote(parts.fragment) not in pages[target].ids | {"__tabbed", "top"}
            ):
                found.append(f"{name}: {link} leads to no place of that page")
    for name, file in sorted(files.items()):
        if name.endswith(".css") and STYLE_LOAD.search(file.read_text(encoding="utf-8")):
            found.append(f"{name}: loads from elsewhere")
    return found
