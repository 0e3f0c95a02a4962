"""What commands on traces tell of machine code."""
import json

from heddle_command import SAMPLE, SOURCE, CommandTest, heddle, main, results


def trace(*arguments):
    """Runs `heddle trace` and returns what it printed; it must succeed in silence."""
    done = heddle("trace", *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def info(path):
    return json.loads(trace("info", path, "--json"))


class MachineCode(CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out.htrace"
        seed = (SOURCE / "tests" / "fuzz" / "corpus" / "seed-machine-sample-file").read_bytes()
        self.out.write_bytes(seed[1:])  # behind the kind of input

    def test_registers_have_the_architectures_names(self):
        text = trace("dump", self.out, "--program")
        self.assertIn("machine code by ptxas 13.0 for sm_80", text)
        self.assertRegex(text, r" BSSY B0 <-( \w+)* to meet at block 5\n")
        self.assertRegex(text, r" BSYNC <-( \w+)* B0\n")
        self.assertIn(" BMOV.32 R20 <- B0\n", text)
        for prefix in ("R", "P", "UR", "UP"):
            self.assertRegex(text, rf" {prefix}\d+\b")
        self.assertNotIn("%", text)
        self.assertNotRegex(text, r":S\d\d")
        self.assertRegex(trace("dump", self.out), r" LDG\.E \w+ <- \w+ +0x")

    def test_control_bits_are_a_column(self):
        text = trace("dump", self.out, "--program", "--control")
        bits = [
            line.split()[2] for line in text.splitlines() if line.startswith("  ") and "block" not in line.split()[0]
        ]
        self.assertEqual(len(bits), 23)
        for one in bits:
            self.assertRegex(one, r"^B[0-5-]{6}:R[0-5-]:W[0-5-]:[Y-]:S\d\d(:U\d+)?$")
        (program,) = [
            json.loads(line) for line in trace("dump", self.out, "--program", "--control", "--json").splitlines()
        ]
        self.assertEqual(len(program["control"]), 23)
        for shown, control in zip(bits, program["control"]):
            self.assertIn(f":S{control['stall']:02}", shown)
            self.assertEqual(":Y:" in shown, control["yield"])
            write = "-" if control["write_barrier"] is None else control["write_barrier"]
            self.assertIn(f":W{write}:", shown)
        thread = json.loads(trace("dump", self.out, "--blocks", 0, "--threads", 0, "--control", "--json"))
        for step in thread["instructions"]:
            self.assertEqual(step["control"], program["control"][step["pc"] // 8])
        self.assertIn("  -  ", trace("dump", SAMPLE, "--launches", 5, "--blocks", 0, "--threads", 0, "--control"))

    def test_info_and_characterise_tell_registers_and_convergence(self):
        launch = info(self.out)["launch"][0]
        told = launch["machine_code"]
        self.assertEqual(told["registers"]["convergence"], 1)
        steps = [
            step["mnemonic"]
            for line in trace("dump", self.out, "--json").splitlines()
            for step in json.loads(line)["instructions"]
        ]
        for key, opcode in (
            ("set", "BSSY"),
            ("sync", "BSYNC"),
            ("break", "BREAK"),
            ("warp_sync", "WARPSYNC"),
            ("yield", "YIELD"),
        ):
            self.assertEqual(told["convergence"][key], steps.count(opcode), key)
            self.assertGreater(told["convergence"][key], 0, key)
        self.assertEqual(told["control"]["instructions"], launch["thread_instructions"])
        self.assertGreater(told["control"]["stall_cycles"], 0)
        text = trace("info", self.out)
        self.assertIn("level machine", text)
        self.assertIn("Code         machine code by ptxas 13.0 for sm_80: walk\n", text)
        row = text.split("\nMachine code (")[1].split("\n\n")[0].splitlines()[-1].split()
        self.assertEqual(row[0], "walk")
        self.assertEqual([int(cell) for cell in row[1:6]], list(told["registers"].values()))
        self.assertEqual([int(cell) for cell in row[6:11]], list(told["convergence"].values()))
        self.assertNotIn("Machine code", trace("info", SAMPLE))
        for options in ([], ["--no-timing"]):
            done = heddle("characterise", self.out, SAMPLE, *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("* out: machine code by ptxas 13.0 for sm_80\n", done.stdout)
            self.assertEqual(done.stdout.count("| out |"), 1)
        self.assertNotIn("Machine code", heddle("characterise", SAMPLE, "--no-timing").stdout)
        numbers = heddle("characterise", "--compare", "--no-timing", self.out, self.out, "--json").stdout
        compared = {key: number["a"] for key, number in json.loads(numbers)["kernel"][0]["number"].items()}
        self.assertEqual(compared["convergence.sync"], told["convergence"]["sync"])
        self.assertEqual(compared["registers.general"], told["registers"]["general"])
        self.assertEqual(compared["stall_cycles"], told["control"]["stall_cycles"])

    def test_copies_are_the_same(self):
        copy = self.folder / "copy.htrace"
        for command in (["repack"], ["repack", "--encode"], ["repack", "--recover"], ["extract", "--blocks", "0-2"]):
            trace(*command, self.out, "-o", copy)
            self.assertIn("equal: ", trace("diff", self.out, copy))
            self.assertIn(": ok (", trace("check", copy))
            self.assertEqual(info(copy)["header"]["minor"], 9)
        trace("merge", self.out, self.out, "-o", copy)
        self.assertIn(": ok (", trace("check", copy))
        self.assertEqual(info(copy)["launch"][1]["machine_code"], info(self.out)["launch"][0]["machine_code"])
        self.assert_refused(2, "trace", "merge", self.out, SAMPLE, "-o", copy, says=["abstraction_level"])

    def test_other_levels_are_compared_by_kernel(self):
        done = heddle("trace", "diff", self.out, SAMPLE)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("the abstraction level is machine in ", done.stdout)
        self.assertIn("\nKernel walk\n  is in A only\n", done.stdout)
        done = heddle("trace", "diff", SAMPLE, self.out, "--json")
        self.assertEqual(done.returncode, 1)
        found = json.loads(done.stdout)
        self.assertIn("the abstraction level is ptx in ", found["difference"]["what"])
        sums = {kernel["kernel"]: kernel["thread_instructions"] for kernel in found["kernel"]}
        self.assertEqual(sums["walk"], [0, info(self.out)["thread_instructions"]])
        self.assertEqual(sum(a for a, _ in sums.values()), info(SAMPLE)["thread_instructions"])
        for kernel in found["kernel"]:
            lines = [line["thread_instructions"] for line in kernel["lines"]]
            self.assertEqual([sum(side) for side in zip(*lines)], kernel["thread_instructions"])

    def test_accel_sim_gets_the_opcodes_of_convergence_barriers(self):
        folder = self.folder / "exported"
        done = heddle("trace", "export", self.out, "--accelsim", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = "".join(file.read_text() for file in folder.glob("kernel-*"))
        for opcode in ("BSSY", "BSYNC", "BREAK", "WARPSYNC", "YIELD"):
            self.assertIn(f" {opcode} ", text)

    def test_every_instruction_is_replayed(self):
        (run,) = results(self.out, "--per-instruction")
        self.assertEqual(run["total"]["thread_instructions"], info(self.out)["thread_instructions"])
        self.assertEqual(run["launch"][0]["code"], "machine code by ptxas 13.0 for sm_80")
        texts = [one["text"] for one in run["launch"][0]["instruction_profile"]["instruction"]]
        self.assertTrue(any(text.startswith("BSYNC ") and text.endswith("B0") for text in texts), texts)


if __name__ == "__main__":
    main()
