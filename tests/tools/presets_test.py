"""`heddle replay --preset`: a paper's machine and policies in one word."""
import json

from heddle_command import SAMPLE, SOURCE, CommandTest, heddle, main, results

PRESETS = sorted((SOURCE / "replay" / "machine" / "descriptions" / "presets").glob("*.preset"))


def parts_of(text):
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return dict((part.strip() for part in line.split(":", 1)) for line in lines if line)


class Presets(CommandTest):
    def test_there_are_those_of_the_papers(self):
        names = [file.stem for file in PRESETS]
        for name in ("baws", "baws_lrr", "vtw", "vlrr", "vgto", "dwf", "tbc", "capri", "harp"):
            self.assertIn(name, names)

    def test_each_has_a_source_and_runs_as_its_parts_would(self):
        for file in PRESETS:
            self.assertTrue(file.read_text().startswith("# "), f"{file.name} begins with its source")
            parts = parts_of(file.read_text())
            self.assertTrue(parts.pop("description"))
            options = [word for option, value in parts.items() for word in (f"--{option}", value)]
            (preset,) = results(SAMPLE, "--preset", file.stem)
            (spelled_out,) = results(SAMPLE, *options)
            self.assertEqual(preset, spelled_out, file.stem)

    def test_the_parts_are_told_and_options_go_before_them(self):
        done = heddle("replay", SAMPLE, "--preset", "baws", "--scheduler", "lrr,gto", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(
            "preset baws: --machine baws_gtx480 --divergence pdom --scheduler lrr,gto (as given)", done.stderr
        )
        runs = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([run["scheduler"]["name"] for run in runs], ["lrr", "gto"])
        self.assertEqual({run["fetch"]["name"] for run in runs}, {"cff"})
        self.assertNotIn("preset", heddle("replay", SAMPLE, "--preset", "baws", "--quiet").stderr)

    def test_a_file_of_ones_own(self):
        file = self.folder / "mine.preset"
        file.write_text("# mine\nscheduler: gto\n\nmachine: thesis_fixed  # small\n")
        (run,) = results(SAMPLE, "--preset", file)
        self.assertEqual((run["scheduler"]["name"], run["provenance"]["machine"]["name"]), ("gto", "thesis_fixed"))

    def test_what_is_wrong_is_told(self):
        self.assert_refused(2, "replay", SAMPLE, "--preset", "bawz", says=['did you mean "baws"?', "vtw"])
        self.assert_refused(2, "replay", SAMPLE, "--preset", self.folder / "none.preset", says=["cannot be read"])
        for text, says in (
            ("machine toy\n", "line 1"),
            ("\nmachines: toy\n", 'did you mean "machine"?'),
            ("machine:\n", "no value"),
            ("fetch: cff\nfetch: fef\n", "twice"),
        ):
            file = self.folder / "wrong.preset"
            file.write_text(text)
            self.assert_refused(2, "replay", SAMPLE, "--preset", file, says=[str(file), says])


if __name__ == "__main__":
    main()
