"""The pages from which MkDocs builds: documents, READMEs and the generated reference, with links that lead within the site.

Pages of docs/ keep their place, other Markdown files go to source/, the reference to reference/. A link to another file or to a
folder of the repository leads to a page that shows it. A link to a section of docs/reference/README.md that has the name of a
generated page leads to that page, and from the page of a policy to the policy's section there.
"""
import posixpath
import shutil

import markdown_text
import reference
import repository
import source_pages

ASSETS = (".svg", ".png")
REFERENCE_INDEX = "docs/reference/README.md"


class Staging:
    def __init__(self, root, reference_folder):
        self.documents = repository.Documents(root)
        self.generated = {
            f"docs/reference/{name}.md": (reference_folder / f"{name}.md").read_text(encoding="utf-8")
            for name in reference.PAGES
        }
        self.pages = {**self.documents.pages, **self.generated}
        self.shown = {}  # path of a file or folder that gets a page -> whether it is a folder
        self.assets = set()

    @staticmethod
    def place(page):
        """Where a page of the repository stands among the staged ones."""
        if page.startswith("docs/"):
            page = page[len("docs/") :]
        else:
            page = posixpath.join(source_pages.FOLDER, page)
        return page[: -len("README.md")] + "index.md" if posixpath.basename(page) == "README.md" else page

    def _place_of_target(self, page, path, anchor):
        """(place, anchor) of what a link of a page leads to; links are known to be alive."""
        if path == REFERENCE_INDEX and anchor in reference.PAGES:
            generated = f"docs/reference/{anchor}.md"
            policy = posixpath.basename(page)[: -len(".md")] if page.startswith("docs/policies/") else ""
            return self.place(generated), policy if f"{{#{policy}}}" in self.generated[generated] else ""
        readme = posixpath.join(path, "README.md")
        if path in self.documents.folders and readme in self.pages:
            return self.place(readme), anchor
        if path in self.pages:
            return self.place(path), anchor
        if path.startswith("docs/") and path.endswith(ASSETS):
            self.assets.add(path)
            return path[len("docs/") :], anchor
        is_folder = path in self.documents.folders
        self.shown[path] = is_folder
        return source_pages.place(path, is_folder), anchor

    def _link(self, page, link):
        if markdown_text.leads_elsewhere(link):
            return link
        path, anchor = repository.target(page, link)
        if path is None or not (path in self.pages or path in self.documents.known or path in self.documents.folders):
            raise ValueError(f"{page}: {link} leads nowhere")
        place, anchor = self._place_of_target(page, path, anchor)
        relative = (
            ""
            if place == self.place(page) and anchor
            else posixpath.relpath(place, posixpath.dirname(self.place(page)) or ".")
        )
        return relative + (f"#{anchor}" if anchor else "")

    def write(self, folder):
        """Writes all pages and what they lead to."""
        shutil.rmtree(folder, ignore_errors=True)
        for page, text in self.pages.items():
            self._put(
                folder,
                self.place(page),
                markdown_text.with_anchors(
                    markdown_text.rewritten(text, lambda link, page=page: self._link(page, link))
                ).encode(),
            )
        self._put(folder, source_pages.STYLE_PLACE, source_pages.style().encode())
        root = self.documents.root
        for path in self.assets:
            self._put(folder, path[len("docs/") :], (root / path).read_bytes())
        for path, is_folder in sorted(self.shown.items()):
            files = [name for name in self.documents.files if posixpath.dirname(name) == path] if is_folder else [path]
            places = {
                name: self.place(name)[: -len("md")] + "html" if name in self.pages else source_pages.place(name, False)
                for name in files
            }
            if is_folder:
                self._put(folder, source_pages.place(path, True), source_pages.of_folder(path, places).encode())
            for name in files:
                if name not in self.pages:
                    self._put(folder, places[name], source_pages.of_file(root, name, name in self.shown).encode())

    @staticmethod
    def _put(folder, path, data):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)

    def _matches(self, pattern, named):
        """The pages of a pattern of the navigation, without those that are named elsewhere."""
        folder = pattern[: -len("/*")]
        if folder == "generated":
            return list(self.generated)
        if folder == "rooms":
            found = [page for page in self.documents.pages if not page.startswith("docs/") and "/" in page]
        else:
            found = [page for page in self.documents.pages if posixpath.dirname(page) == folder]
        first = lambda page: (posixpath.basename(page) != "README.md" or folder == "rooms", page)
        return [page for page in sorted(found, key=first) if page not in named]

    def navigation(self, tree):
        """The navigation for MkDocs, from that of mkdocs.yml; every page is in it once."""
        named = set()

        def collect(entries):
            for entry in entries:
                if isinstance(entry, dict):
                    for inner in entry.values():
                        collect(inner)
                elif not entry.endswith("/*"):
                    named.add(entry)

        def expand(entries):
            found = []
            for entry in entries:
                if isinstance(entry, dict):
                    for title, inner in entry.items():
                        if inner := expand(inner):
                            found.append({title: inner})
                    continue
                for page in self._matches(entry, named) if entry.endswith("/*") else [entry]:
                    if page not in self.pages:
                        raise ValueError(f"mkdocs.yml: there is no page {page}")
                    used.append(page)
                    found.append({markdown_text.title(self.pages[page], page): self.place(page)})
            return found

        used = []
        collect(tree)
        expanded = expand(tree)
        lost = set(self.pages) - set(used)
        if lost or len(used) != len(set(used)):
            raise ValueError(
                f"mkdocs.yml: pages in no section, or in two: {sorted(lost) or sorted(page for page in used if used.count(page) > 1)}"
            )
        return expanded
