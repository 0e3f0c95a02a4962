"""`heddle replay --registers`: whose number of registers per thread counts, and that results say so."""
import json
import re

from heddle_command import SAMPLE, SAMPLES, SOURCE, CommandTest, heddle, main, results

TABLE = (SOURCE / "traces" / "kernels" / "registers.textproto").read_text()
LEVEL = "bfs_level(int const*, int const*, int*, int, int)"


def assembled(kernel, architecture):
    row = next(line for line in TABLE.splitlines() if f'name: "{kernel}"' in line)
    return int(re.search(rf'key: "{architecture}" value: (\d+)', row)[1])


def counts(result):
    return {launch["registers_per_thread"] for launch in result["launch"] if launch["kernel"] == LEVEL}


class Registers(CommandTest):
    def test_the_assembler_counts_for_the_machines_architecture(self):
        for machine, architecture in (("volta_v100", "sm_75"), ("hopper_h100", "sm_90")):
            (result,) = results(SAMPLE, "--machine", machine, "--registers", "assembler")
            count = assembled(LEVEL, architecture)
            self.assertEqual(counts(result), {count})
            self.assertIn(f"registers=assembler:{architecture}", result["provenance"]["override"])
            (note,) = [note for note in result["note"] if note.startswith("registers per thread by the assembler")]
            self.assertRegex(note, rf"\(ptxas V[\d.]+, \d+-\d+-\d+\) for {architecture}: bfs_level\(.*\) {count}")
        (usual,) = results(SAMPLE, "--machine", "volta_v100")
        self.assertNotEqual(counts(usual), {count})

    def test_an_architecture_can_be_named(self):
        (result,) = results(SAMPLE, "--registers", "assembler:sm_80")
        self.assertEqual(counts(result), {assembled(LEVEL, "sm_80")})
        text = heddle("replay", SAMPLE, "--registers", "assembler:sm_80").stdout
        self.assertRegex(text, r"Blocks of bfs_level: .*; 18 registers per thread by the assembler for sm_80\)\.")
        self.assertNotIn("8 registers more", text)

    def test_a_kernels_number_goes_first_and_bounds_the_blocks(self):
        one_sm = ("--set", "sms=1")
        (usual,) = results(SAMPLE, *one_sm)
        (result,) = results(SAMPLE, *one_sm, "--registers", "assembler:sm_80", "--registers", "bfs_level=100")
        self.assertEqual(counts(result), {100})
        self.assertIn("registers=bfs_level=100", result["provenance"]["override"])
        self.assertLess(result["launch"][0]["blocks_per_sm"], usual["launch"][0]["blocks_per_sm"])
        self.assertEqual(result["launch"][0]["residency_limit"], "registers")
        text = heddle("replay", SAMPLE, "--registers", f"{LEVEL}=100").stdout
        self.assertIn("100 registers per thread by the command line)", text)

    def test_machine_code_has_the_assemblers_count(self):
        trace = self.folder / "machine.htrace"
        seed = (SOURCE / "tests" / "fuzz" / "corpus" / "seed-machine-sample-file").read_bytes()
        trace.write_bytes(seed[1:])  # behind the kind of input
        for options in ((), ("--registers", "assembler:sm_90")):
            text = heddle("replay", trace, "--machine", "baws_gtx480", *options).stdout
            self.assertRegex(text, r"; \d+ registers per thread by the assembler\)")
            self.assertNotIn("8 registers more", text)
        (plain,) = results(trace, "--machine", "baws_gtx480")
        (asked,) = results(trace, "--machine", "baws_gtx480", "--registers", "assembler:sm_90")
        self.assertEqual(asked["launch"], plain["launch"])

    def test_sweeps_take_the_same_words(self):
        spec = self.folder / "study.textproto"
        keys = []
        for registers in ("assembler:sm_80", "bfs_level=20"):
            spec.write_text(f'name: "registers" trace: "{SAMPLE}" registers: "{registers}"')
            folder = self.folder / registers.partition("=")[0].partition(":")[0]
            for command in (("plan", spec, "-o", folder), ("run", folder)):
                done = heddle("sweep", *command)
                self.assertEqual(done.returncode, 0, done.stderr)
            (file,) = (folder / "results").glob("*/*.json")
            keys.append(file.stem)
            result = json.loads(file.read_text())
            self.assertEqual(counts(result), {20 if "=" in registers else assembled(LEVEL, "sm_80")})
            self.assertIn(f"registers={registers}", result["provenance"]["override"])
        self.assertEqual(len(set(keys)), 2)
        spec.write_text(f'name: "registers" trace: "{SAMPLE}" registers: "nobody=20"')
        self.assert_refused(
            2, "sweep", "plan", spec, "-o", self.folder / "new", says=["no trace has a kernel 'nobody'"]
        )

    def test_what_is_not_known_is_refused(self):
        self.assert_refused(
            2, "replay", SAMPLE, "--machine", "baws_gtx480", "--registers", "assembler", says=["assembler:sm_80"]
        )
        self.assert_refused(
            2, "replay", SAMPLE, "--registers", "assembler:sm_70", says=["sm_75, sm_80, sm_86 or sm_90"]
        )
        self.assert_refused(2, "replay", SAMPLE, "--registers", "nobody=9", says=["no trace has a kernel 'nobody'"])
        for wrong in ("bfs_level=0", "bfs_level=256", "bfs_level=x", "=9", "paper"):
            self.assert_refused(2, "replay", SAMPLE, "--registers", wrong, says=[f"--registers {wrong}: is n"])
        worked = SAMPLES.parent / "worked" / "fung_4_1.htrace"
        self.assert_refused(
            1, "replay", worked, "--registers", "assembler:sm_80", says=["are not known; give them: --registers"]
        )


if __name__ == "__main__":
    main()
