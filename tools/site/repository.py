"""The files of the repository, and what links between its documents lead to."""
import os
import pathlib
import posixpath
import subprocess
import urllib.parse

import markdown_text


def files(root):
    """The files of a folder that git knows or would take, as relative paths; of a folder without git, all but build/."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.splitlines()
    else:
        names = []
        for folder, folders, inside in os.walk(root):
            folders[:] = [
                name
                for name in folders
                if not name.startswith(".") and name not in ("build", "node_modules", "__pycache__")
            ]
            names += [str((pathlib.Path(folder) / name).relative_to(root)) for name in inside]
    return sorted(name for name in names if (root / name).is_file())


def folders(names):
    """All folders that hold one of the files."""
    found = {"."}
    for name in names:
        while name := posixpath.dirname(name):
            found.add(name)
    return found


def target(page, link):
    """(path, anchor) of a relative link of a page, both of them in the repository; the anchor may be empty.

    The path is None if it leads out of the repository, or begins with a slash."""
    path, _, anchor = link.partition("#")
    path = urllib.parse.unquote(path)
    if not path:
        return page, anchor
    if path.startswith("/"):
        return None, anchor
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    return (None if path.startswith("..") else path), anchor


class Documents:
    """The Markdown pages of a folder, with their anchors."""

    def __init__(self, root):
        self.root = root
        self.files = files(root)
        self.known = set(self.files)
        self.folders = folders(self.files)
        self.pages = {name: (root / name).read_text(encoding="utf-8") for name in self.files if name.endswith(".md")}
        self._anchors = {}

    def anchors(self, page):
        if page not in self._anchors:
            self._anchors[page] = markdown_text.anchors(self.pages[page])
        return self._anchors[page]
