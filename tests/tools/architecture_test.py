"""What docs/architecture.md and docs/glossary.md say is where they say: every link leads to a file, and a link whose
text is a name (`SmCore::Admit`) to a source file that has that name."""
import re
import unittest

from heddle_command import SOURCE, main

PAGES = ("architecture.md", "glossary.md")
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)#]+)(?:#[^)]*)?\)")


class Architecture(unittest.TestCase):
    def test_every_name_is_in_the_file_that_it_leads_to(self):
        for page in PAGES:
            path = SOURCE / "docs" / page
            links = [(m["text"], m["target"]) for m in LINK.finditer(path.read_text()) if "://" not in m["target"]]
            self.assertGreater(len(links), 10, page)
            for text, target in links:
                file = path.parent / target
                with self.subTest(f"{page}: {text}"):
                    self.assertTrue(file.exists(), f"there is no {target}")
                    name = re.fullmatch(r"`([\w:]+)`", text)
                    if name is None or file.is_dir():
                        continue
                    # Of Class::Function the function is enough: in a header the class stands elsewhere.
                    last = name[1].split("::")[-1]
                    self.assertRegex(file.read_text(), rf"\b{last}\b", f"{target} has no {name[1]}")

    def test_each_room_of_the_map_is_there(self):
        text = (SOURCE / "docs" / "architecture.md").read_text()
        for room in ("proto", "traces", "tracegen", "replay", "tools", "tests", "examples"):
            self.assertIn(f"[{room}/](../{room})", text)


if __name__ == "__main__":
    main()
