"""Documents are in short sentences: tools/count-words holds the mean and the longest of each page to a limit."""
import subprocess
import sys

from heddle_command import SOURCE, CommandTest, main

MOST, LONGEST = 16, 40  # words a sentence, in the mean; words of one sentence
# What is not held to the limits: what was noted at one time.
EXEMPT = ("docs/lab/20",)

SAMPLE = """# A heading of a good many words that do not count at all

One two three. Four `five six
seven` eight! Is this [a link](with/a/target.md) of 3.5 words, e.g. of Fung et al.?

| a table | does not. Count |
* an item
  of five words
* `code` *first*. Then **more**.

```
Code. Is. Not. Counted.
```
<!-- Nor is
a comment. -->
"""


def count(*arguments):
    return subprocess.run(
        [sys.executable, SOURCE / "tools" / "count-words", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


class Prose(CommandTest):
    def test_sentences_and_their_words(self):
        page = self.folder / "page.md"
        page.write_text(SAMPLE)
        done = count("--show", 0, page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = [line.split(": ", 2)[:2] for line in done.stdout.splitlines() if "page.md:" in line]
        self.assertEqual(
            [(int(place.rsplit(":", 1)[1]), int(words)) for place, words in shown],
            [(3, 3), (3, 3), (3, 12), (7, 5), (9, 2), (9, 2)],
        )

    def test_too_long_a_sentence_or_mean_is_named(self):
        page = self.folder / "page.md"
        page.write_text("One two three four. Five.\n")
        self.assertEqual(count("--most", 2.5, "--longest", 4, page).returncode, 0)
        done = count("--most", 2, "--longest", 3, page)
        self.assertEqual(done.returncode, 1)
        self.assertIn("page.md: 2.5 words a sentence in the mean, more than 2", done.stderr)
        self.assertIn("page.md:1: a sentence of 4 words, more than 3", done.stderr)

    def test_documents_are_in_short_sentences(self):
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=SOURCE, capture_output=True, text=True, check=False)
        if listed.returncode != 0:
            self.skipTest("not in a clone")
        pages = [SOURCE / name for name in listed.stdout.splitlines() if not name.startswith(EXEMPT)]
        done = count("--most", MOST, "--longest", LONGEST, *[page for page in pages if page.exists()])
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    main()
