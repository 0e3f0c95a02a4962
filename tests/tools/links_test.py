"""Every link of the documents leads somewhere, and tools/check-links sees those that do not."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("HEDDLE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "tools" / "site"))
import built_site  # pylint: disable=wrong-import-position
import markdown_text  # pylint: disable=wrong-import-position


def check(*arguments):
    return subprocess.run(
        [sys.executable, str(SOURCE / "tools/check-links"), *arguments], capture_output=True, text=True, check=False
    )


class Links(unittest.TestCase):
    def faults(self, files):
        """What the check says of a folder of these files, without its last line."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                file = pathlib.Path(folder) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            done = check("--root", folder)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1 if len(lines) > 1 else 0, done.stdout + done.stderr)
        return lines[:-1]

    def test_the_documents_have_no_dead_link(self):
        done = check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_files_and_folders_that_are_there(self):
        self.assertEqual(
            self.faults(
                {
                    "docs/a.md": "[b](b.md) [code](../src/x.cc#L2) [folder](../src) [web](https://example.org/no) "
                    "![p](p%20q.svg)\n\n[c]: b.md\n",
                    "docs/b.md": "",
                    "src/x.cc": "1\n2\n",
                    "docs/p q.svg": "",
                }
            ),
            [],
        )

    def test_what_is_not_there(self):
        faults = self.faults(
            {
                "docs/a.md": 'one\n[b](b.md), [out](../../x), [slash](/docs/a.md)\n\n[c]: gone.md\n<img src="no.svg">\n',
                "src/x.cc": "1\n",
            }
        )
        self.assertEqual(
            [fault.split(": ")[0] for fault in faults], ["docs/a.md:2"] * 3 + ["docs/a.md:4", "docs/a.md:5"]
        )

    def test_anchors(self):
        page = '# A `b`: *c*\n\n## Twice\n\n## Twice\n\n```\n# no heading\n```\n<a id="own"></a>\n'
        links = "[1](a.md#a-b-c) [2](a.md#twice-1) [3](a.md#own) "
        self.assertEqual(self.faults({"a.md": page, "b.md": links}), [])
        faults = self.faults(
            {
                "a.md": page + "[here](#twice-2)\n",
                "b.md": "[1](a.md#no-heading) [2](x.cc#L2) [3](x.cc#name)",
                "x.cc": "1\n",
            }
        )
        self.assertEqual(len(faults), 4, faults)

    def test_code_holds_no_links(self):
        self.assertEqual(
            self.faults({"a.md": "`[a](no.md)` ``b ` [](no.md)``\n\n```\n[c](no.md)\n```\n\n<!-- [d](no.md) -->\n"}), []
        )

    def test_mentions_of_documents(self):
        files = {
            "docs/here.md": "",
            "x.cc": "// docs/here.md, docs/gone.md\n",
            "CHANGELOG.md": "docs/gone.md",
            "y.cc": "mydocs/gone.md",
        }
        self.assertEqual(self.faults(files), ["x.cc:1: names docs/gone.md, which is not there"])

    def test_the_index_leads_to_every_document(self):
        files = {
            "docs/README.md": "[a](a.md)",
            "docs/a.md": "[folder](more)",
            "docs/more/README.md": "",
            "docs/lost.md": "",
            "other.md": "",
        }
        self.assertEqual([fault.split(":")[0] for fault in self.faults(files)], ["docs/lost.md"])

    def test_texts_can_be_rewritten(self):
        text = '# A b\n\n[x](y.md "t") `[z](y.md)` ![p](y.md)\n\n## A b ##\n'
        self.assertEqual(
            markdown_text.rewritten(text, str.upper),
            text.replace('(y.md "', '(Y.MD "').replace("![p](y.md)", "![p](Y.MD)"),
        )
        self.assertEqual(
            markdown_text.with_anchors("# A b\n\n## A b ##\ntext\n"), "# A b {#a-b}\n\n## A b {#a-b-1}\ntext\n"
        )


class BuiltSite(unittest.TestCase):
    def faults(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                file = pathlib.Path(folder) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return built_site.faults(pathlib.Path(folder))

    def test_links_within_and_addresses_that_are_only_linked(self):
        self.assertEqual(
            self.faults(
                {
                    "index.html": '<a href="a/b.html#x">b</a> <a href="#here" id="here"></a> <a href="https://example.org">e</a>',
                    "a/b.html": '<p id="x"></p><a href="../a/">a</a><img src="../p.svg">',
                    "a/index.html": "",
                    "p.svg": "",
                }
            ),
            [],
        )

    def test_dead_links_and_loads_from_elsewhere(self):
        faults = self.faults(
            {
                "index.html": '<a href="no.html"></a><a href="#no"></a><script src="https://example.org/x.js"></script>'
                '<link rel="stylesheet" href="//example.org/x.css"><pre class="mermaid"></pre>',
                "a.css": "@font-face{src:url(https://example.org/font)}",
            }
        )
        self.assertEqual(len(faults), 6, faults)


if __name__ == "__main__":
    unittest.main()
