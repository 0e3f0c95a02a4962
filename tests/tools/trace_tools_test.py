"""`heddle trace dump, diff, repack, extract, merge`: right results, clear refusals, nothing half-written."""
import json
import pathlib
import resource
import signal
import subprocess

from heddle_command import HEDDLE, SAMPLE, SAMPLES, SOURCE, CommandTest, heddle, main

OTHER = str(SAMPLES / "reduction.htrace")


def trace(*arguments):
    """Runs `heddle trace` and returns what it printed; it must succeed in silence."""
    done = heddle("trace", *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def info(path):
    return json.loads(trace("info", path, "--json"))


class TraceTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out.htrace"

    def assert_equal(self, a, b):
        self.assertIn("equal: ", trace("diff", a, b))

    def assert_sound(self, path):
        self.assertIn(": ok (", trace("check", path))


class Check(TraceTest):
    def test_several_traces_are_checked_each_by_itself(self):
        self.assertEqual(trace("check", SAMPLE, OTHER), trace("check", SAMPLE) + trace("check", OTHER))
        damaged = self.folder / "damaged.htrace"
        content = bytearray(pathlib.Path(SAMPLE).read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        done = heddle("trace", "check", damaged, OTHER)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{damaged}: not ok (", done.stdout)
        self.assertIn(f"{OTHER}: ok (", done.stdout)
        done = heddle("trace", "check", "--json", OTHER, self.folder / "none.htrace", damaged)
        self.assertEqual(done.returncode, 2)
        self.assertEqual([json.loads(line)["ok"] for line in done.stdout.splitlines()], [True, False])


class Info(TraceTest):
    def test_many_launches_are_summed_up_by_kernel(self):
        few = info(SAMPLE)["launch"]
        times = 20 // len(few) + 1
        trace("merge", *[SAMPLE] * times, OTHER, "-o", self.out)
        launches = info(self.out)["launch"]
        self.assertGreater(len(launches), 20)
        text = trace("info", self.out)
        kernels = text.split("\nKernels\n")[1].split("\n\n")[0].splitlines()[2:]
        names = sorted({launch["kernel"].split("(")[0] for launch in launches})
        self.assertGreater(len(names), 1)
        self.assertEqual(sorted(line.split()[0] for line in kernels), names)
        for line in kernels:
            name, count, recorded, blocks, instructions, accesses = line.split()[:6]
            of_kernel = [launch for launch in launches if launch["kernel"].split("(")[0] == name]
            number = sum(launch["recorded"] for launch in of_kernel)
            self.assertEqual(
                (int(count), recorded), (len(of_kernel), "all" if number == len(of_kernel) else str(number))
            )
            for cell, field in ((blocks, "blocks"), (instructions, "thread_instructions"), (accesses, "accesses")):
                self.assertEqual(int(cell.replace(",", "")), sum(launch[field] for launch in of_kernel), field)
        self.assertNotIn("\nLaunches\n", text)
        self.assertIn(
            f"\n{len(launches)} launches, summed up by kernel here and below; --per-launch lists them\n", text
        )
        # A sum over the same launches several times has the same lane activity.
        divergence = text.split("\nDivergence in ")[1].split("\n\n")[0].splitlines()[4:]
        executed = {
            name: [l for l in launches if l["kernel"].split("(")[0] == name and l["recorded"]] for name in names
        }
        self.assertEqual(sorted(line.split()[1] for line in divergence), [name for name in names if executed[name]])
        for line in divergence:
            count, name, activity = line.split()[:3]
            instructions = sum(l["thread_instructions"] for l in executed[name])
            lanes = sum(l["thread_instructions"] / l["divergence"]["lane_activity_bound"] for l in executed[name])
            self.assertEqual(int(count), len(executed[name]))
            self.assertAlmostEqual(float(activity), instructions / lanes, delta=0.051)
        listed = trace("info", "--per-launch", self.out).split("\nLaunches\n")[1].split("\n\n")[0].splitlines()[2:]
        self.assertEqual([int(line.split()[0]) for line in listed], list(range(len(launches))))

    def test_few_launches_are_listed(self):
        text = trace("info", OTHER)
        self.assertIn("\nLaunches\n", text)
        self.assertEqual(
            "\nKernels\n" in text, len({l["kernel"] for l in info(OTHER)["launch"]}) < len(info(OTHER)["launch"])
        )


class Repack(TraceTest):
    def test_another_level_keeps_the_digest(self):
        before = info(SAMPLE)
        for option in (["--fast"], ["--small"], ["--level", "12"], []):
            text = trace("repack", SAMPLE, "-o", self.out, *option)
            self.assertIn(f"digest {before['digest']}", text)
            self.assertEqual(info(self.out)["digest"], before["digest"])
            self.assert_sound(self.out)
        self.assert_folder_has("out.htrace")
        trace("repack", SAMPLE, "-o", self.folder / "small.htrace", "--small")
        trace("repack", SAMPLE, "-o", self.folder / "fast.htrace", "--fast")
        self.assertLess((self.folder / "small.htrace").stat().st_size, (self.folder / "fast.htrace").stat().st_size)

    def test_other_chunks_keep_what_threads_did(self):
        trace("repack", SAMPLE, "-o", self.out, "--chunk", 20000)
        self.assert_sound(self.out)
        self.assert_equal(SAMPLE, self.out)
        chunks = [sum(launch["chunks"] for launch in info(path)["launch"]) for path in (SAMPLE, self.out)]
        self.assertGreater(chunks[1], chunks[0])

    def test_recover(self):
        whole = pathlib.Path(SAMPLE).read_bytes()
        cut = self.folder / "cut.htrace"
        cut.write_bytes(whole[: len(whole) * 2 // 3])
        self.assert_refused(1, "trace", "repack", cut, "-o", self.out, says=["cut off"])
        text = trace("repack", "--recover", cut, "-o", self.out)
        self.assertIn("the file was cut off there", text)
        self.assertIn("recorded blocks are missing", text)
        missing = text.splitlines()[1:-1]
        noted = info(self.out)["annotation"]
        self.assertEqual([note["key"] for note in noted], ["heddle.recover"])
        self.assertEqual(noted[0]["value"].splitlines(), [line.strip() for line in missing])
        shown = trace("info", self.out)
        for line in missing:
            self.assertIn(line.strip(), shown)
        self.assertIn("Note: recovered from a damaged trace: ", heddle("replay", self.out).stdout)
        self.assert_sound(self.out)
        self.assertGreater(info(self.out)["thread_instructions"], 0)
        self.assertLess(info(self.out)["thread_instructions"], info(SAMPLE)["thread_instructions"])
        self.assertIn("nothing is missing", trace("repack", "--recover", SAMPLE, "-o", self.out))
        self.assert_equal(SAMPLE, self.out)
        cut.write_bytes(b"no trace at all")
        self.assert_refused(1, "trace", "repack", "--recover", cut, "-o", self.folder / "x", says=["cut.htrace"])
        self.assert_refused(
            2, "trace", "repack", "--recover", self.folder / "none", "-o", self.folder / "x", says=["No such file"]
        )
        self.assert_folder_has("cut.htrace", "out.htrace")

    def test_wrong_words(self):
        for options, says in (
            (["--level", "0"], "0"),
            (["--level", "23"], "23"),
            (["--level", "much"], "much"),
            (["--fast", "--small"], "--small"),
            (["--chunk", "0"], "0"),
            (["--recover", "--chunk", "5"], "--chunk"),
            (["--chunks", "5"], "--chunks"),
        ):
            self.assert_refused(2, "trace", "repack", SAMPLE, "-o", self.out, *options, says=[says])
        self.assert_refused(2, "trace", "repack", SAMPLE, says=["--output", "heddle trace repack --help"])
        self.assert_folder_has()


class Outputs(TraceTest):
    COMMANDS = (["repack"], ["repack", "--recover"], ["repack", "--encode"], ["extract"], ["merge", OTHER])

    def test_the_trace_itself_is_never_written_over(self):
        copy = self.folder / "copy.htrace"
        copy.write_bytes(pathlib.Path(SAMPLE).read_bytes())
        (self.folder / "link").symlink_to(copy)
        for command in self.COMMANDS:
            self.assert_refused(2, "trace", *command, copy, "-o", self.folder / "link", says=["is the trace itself"])
        self.assert_refused(2, "trace", "dump", copy, "-o", copy, says=["is the trace itself"])
        self.assertEqual(copy.read_bytes(), pathlib.Path(SAMPLE).read_bytes())

    def test_a_link_stays_one(self):
        for command in self.COMMANDS:
            (self.folder / "link").symlink_to("real.htrace")
            for _ in range(2):  # to nothing, and to a file
                done = heddle("trace", *command, SAMPLE, "-o", self.folder / "link")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue((self.folder / "link").is_symlink())
                self.assertGreater((self.folder / "real.htrace").stat().st_size, 1000)
            self.assert_folder_has("link", "real.htrace")
            (self.folder / "link").unlink()
            (self.folder / "real.htrace").unlink()

    def test_outputs_that_cannot_be(self):
        for command in self.COMMANDS:
            self.assert_refused(2, "trace", *command, SAMPLE, "-o", self.folder, says=["is a folder"])
            self.assert_refused(2, "trace", *command, SAMPLE, "-o", "-", says=["standard output"])
            self.assert_refused(1, "trace", *command, SAMPLE, "-o", self.folder / "no" / "x", says=["No such file"])
            self.assert_refused(2, "trace", *command, SAMPLE, "-o", "/dev/null", says=["not a regular file"])
        self.assert_folder_has()

    def test_a_full_disk_leaves_what_was_there(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

        old = pathlib.Path(SAMPLE).read_bytes()
        self.out.write_bytes(old)
        for command in self.COMMANDS:
            self.assert_refused(1, "trace", *command, SAMPLE, "-o", self.out, says=["File too large"], preexec_fn=limit)
            self.assertEqual(self.out.read_bytes(), old)
        self.assert_folder_has("out.htrace")

    def test_a_file_that_is_no_trace_is_not_replaced(self):
        notes = self.folder / "notes.txt"
        notes.write_text("weeks of work\n")
        (self.folder / "link").symlink_to(notes)
        for command in self.COMMANDS:
            for output in (notes, self.folder / "link"):
                self.assert_refused(
                    2,
                    "trace",
                    *command,
                    SAMPLE,
                    "-o",
                    output,
                    says=["14 bytes", "no Heddle trace", "choose another name"],
                )
        self.assertEqual(notes.read_text(), "weeks of work\n")
        self.assert_folder_has("link", "notes.txt")

    def test_missing_and_broken_traces(self):
        bad = self.folder / "bad.htrace"
        bad.write_bytes(pathlib.Path(SAMPLE).read_bytes()[:-1])
        for command in (["repack"], ["extract"], ["merge", OTHER], ["dump"], ["diff", OTHER]):
            output = [] if command[0] in ("dump", "diff") else ["-o", self.out]
            self.assert_refused(2, "trace", *command, self.folder / "none.htrace", *output, says=["No such file"])
            self.assert_refused(1, "trace", *command, bad, *output, says=["bad.htrace", "cut off"])
        self.assert_folder_has("bad.htrace")


class Extract(TraceTest):
    def test_launches_and_kernels(self):
        before = info(SAMPLE)["launch"]
        last = len(before) - 1
        trace("extract", SAMPLE, "-o", self.out, "--launches", last)
        self.assert_sound(self.out)
        after = info(self.out)["launch"]
        self.assertEqual(len(after), 1)
        for field in ("kernel", "grid", "blocks", "thread_instructions", "accesses"):
            self.assertEqual(after[0][field], before[last][field])
        trace("extract", SAMPLE, "-o", self.out, "--kernels", "bfs")
        self.assert_equal(SAMPLE, self.out)
        trace("extract", SAMPLE, "-o", self.out, "--kernels", "_start")
        self.assertEqual([launch["recorded"] for launch in info(self.out)["launch"]], [False])

    def test_blocks(self):
        launch = max(info(SAMPLE)["launch"], key=lambda one: one["thread_instructions"])
        number = launch["launch"]
        self.assertGreaterEqual(launch["blocks"], 3)
        trace("extract", SAMPLE, "-o", self.out, "--launches", number, "--blocks", "0,2")
        self.assert_sound(self.out)
        self.assertEqual(info(self.out)["launch"][0]["blocks"], 2)
        dumps = [
            trace("dump", path, "--launches", at, "--blocks", 2, "--threads", "5", "--json")
            for path, at in ((SAMPLE, number), (self.out, 0))
        ]
        threads = [json.loads(dump) for dump in dumps]
        threads[0]["launch"] = threads[1]["launch"] = 0
        self.assertEqual(*threads)

    def test_what_is_not_there(self):
        launches = len(info(SAMPLE)["launch"])
        extract = ("trace", "extract", SAMPLE, "-o", self.out)
        self.assert_refused(2, *extract, "--launches", launches, says=["--launches", str(launches - 1)])
        self.assert_refused(2, *extract, "--launches", "3-1", says=["3-1", "ends before it begins"])
        self.assert_refused(2, *extract, "--blocks", "x", says=["--blocks", '"x"', "is no number"])
        self.assert_refused(2, *extract, "--blocks", "", says=["--blocks"])
        self.assert_refused(2, *extract, "--blocks", "1000000-", says=["none of these blocks"])
        self.assert_refused(2, *extract, "--kernels", "nothing_like_it", says=["nothing_like_it", "bfs"])
        self.assert_refused(2, *extract, "--kernels", "bfs[", says=["not a regular expression"])
        self.assert_folder_has()


class Merge(TraceTest):
    def test_two_traces(self):
        trace("merge", SAMPLE, OTHER, "-o", self.out)
        self.assert_sound(self.out)
        merged, one, other = info(self.out), info(SAMPLE), info(OTHER)
        self.assertEqual(merged["thread_instructions"], one["thread_instructions"] + other["thread_instructions"])
        count = len(one["launch"])
        self.assertEqual(len(merged["launch"]), count + len(other["launch"]))
        # Taken apart again, they are what they were.
        for trace_file, launches in ((SAMPLE, f"0-{count - 1}"), (OTHER, f"{count}-")):
            again = self.folder / "again.htrace"
            trace("extract", self.out, "-o", again, "--launches", launches)
            self.assert_equal(trace_file, again)

    def test_wrong_words(self):
        self.assert_refused(2, "trace", "merge", SAMPLE, "-o", self.out, says=["two traces"])
        self.assert_refused(2, "trace", "merge", "-o", self.out, says=["TRACE"])


class Diff(TraceTest):
    def test_equal_traces(self):
        self.assert_equal(SAMPLE, SAMPLE)
        self.assertEqual(json.loads(trace("diff", SAMPLE, SAMPLE, "--json"))["equal"], True)

    def test_traces_of_earlier_versions_say_what_those_of_today_say(self):
        earlier = sorted((SOURCE / "tests" / "traces" / "fixtures" / "1.0").glob("*.htrace"))
        self.assertEqual([file.name for file in earlier], sorted(file.name for file in SAMPLES.glob("*.htrace")))
        for file in earlier:
            self.assert_equal(file, SAMPLES / file.name)
            # Old chunks are taken over into a file of today, or encoded anew.
            for option in ([], ["--encode"]):
                trace("repack", file, "-o", self.out, *option)
                self.assert_sound(self.out)
                self.assert_equal(file, self.out)
            trace("extract", file, "-o", self.out)
            self.assert_equal(file, self.out)

    def test_different_traces(self):
        done = heddle("trace", "diff", SAMPLE, OTHER)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        trace("extract", SAMPLE, "-o", self.out, "--launches", "5", "--blocks", "0")
        trace("extract", SAMPLE, "-o", self.folder / "more.htrace", "--launches", "5", "--blocks", "0-1")
        done = heddle("trace", "diff", self.folder / "more.htrace", self.out, "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        difference = json.loads(done.stdout)["difference"]
        self.assertEqual((difference["launch"], difference["block"]), (0, 1))
        self.assertIn("more.htrace only", difference["what"])


class Dump(TraceTest):
    def test_a_thread_is_printed_with_sources_paths_and_addresses(self):
        launch = max(info(SAMPLE)["launch"], key=lambda one: one["accesses"])
        text = trace("dump", SAMPLE, "--launches", launch["launch"], "--blocks", 0, "--threads", 0)
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^launch \d+ bfs\w*, block 0, thread 0: [\d,]+ instructions, [\d,]+ access(es)?$")
        self.assertEqual(len(lines) - 1, int(lines[0].split(": ")[1].split()[0].replace(",", "")))
        self.assertTrue(lines[-1].endswith("exit"), lines[-1])
        self.assertRegex(text, r"\n +\d+ +\d+  bfs\.cu:\d+ +ld\.global\S*( %\d+)* <- %\d+ +0x[0-9a-f]+\n")
        self.assertRegex(text, r"\n +\d+ +\d+  bfs\.cu:\d+ +\S*bra\S*.* -> \d+\n")

    def test_json_has_the_same(self):
        arguments = ("dump", SAMPLE, "--launches", 5, "--blocks", "1", "--threads", "3,7-8")
        threads = [json.loads(line) for line in trace(*arguments, "--json").splitlines()]
        text = trace(*arguments)
        self.assertEqual([one["thread"] for one in threads], [3, 7, 8])
        for one in threads:
            self.assertEqual(len(one["instructions"]), one["thread_instructions"])
            self.assertEqual(sum("address" in step for step in one["instructions"]), one["accesses"])
            self.assertTrue(one["instructions"][-1]["exits"])
        self.assertEqual(text.count("0x"), sum(one["accesses"] for one in threads))
        # A PC that is told is where the next instruction is.
        for one in threads:
            for step, after in zip(one["instructions"], one["instructions"][1:]):
                if "next_pc" in step:
                    self.assertEqual(after["pc"], step["next_pc"])
                self.assertEqual(after["number"], step["number"] + 1)

    def test_collective_instructions_have_all_that_they_recorded(self):
        seed = (SOURCE / "tests" / "fuzz" / "corpus" / "seed-collective-file").read_bytes()
        self.out.write_bytes(seed[1:])  # behind the kind of input
        text = trace("dump", self.out)
        threads = [json.loads(line) for line in trace("dump", self.out, "--json").splitlines()]
        steps = [step for one in threads for step in one["instructions"]]
        operands = [operand for step in steps for operand in step.get("operands", [])]
        numbers = len(operands) + sum("address" in step for step in steps)
        self.assertEqual(numbers, sum(one["accesses"] for one in threads))
        copies = [step["operands"] for step in steps if step["mnemonic"].startswith("cp.async.cg")]
        self.assertGreater(len(copies), 0)
        for source, destination in copies:
            self.assertIn(f" 0x{source['value']:x} to 0x{destination['value']:x}", text)
        self.assertLessEqual({"address", "barrier", "count"}, {operand["kind"] for operand in operands})
        counted = info(self.out)["launch"][0]["collectives"]
        runs = [one["run_by_threads"] for one in counted if one["mnemonic"].startswith("cp.async.cg")]
        self.assertEqual(sum(runs), len(copies))
        for run in runs:
            self.assertRegex(trace("info", self.out), rf"\n +\S+ +cp\.async\.cg\.\S+ +- +{run} +{4 * run}\n")

    def test_a_range_of_instructions(self):
        lines = trace(
            "dump", SAMPLE, "--launches", 5, "--blocks", 0, "--threads", 0, "--instructions", "2-4"
        ).splitlines()
        self.assertEqual([int(line.split()[0]) for line in lines[1:]], [2, 3, 4])

    def test_programs(self):
        text = trace("dump", SAMPLE, "--program")
        self.assertIn("program 0 ", text)
        self.assertIn("paths meet again at", text)
        programs = [json.loads(line)["program"] for line in trace("dump", SAMPLE, "--program", "--json").splitlines()]
        self.assertEqual(sum(len(program["block"]) for program in programs), text.count("\n  block "))

    def test_a_file(self):
        output = self.folder / "threads.txt"
        self.assertEqual(trace("dump", SAMPLE, "--launches", 5, "--blocks", 0, "-o", output), "")
        self.assertEqual(output.read_text(), trace("dump", SAMPLE, "--launches", 5, "--blocks", 0))
        self.assert_folder_has("threads.txt")

    def test_a_reader_that_goes_away_ends_it(self):
        done = subprocess.run(
            f"'{HEDDLE}' trace dump '{SAMPLES / 'nqueens.htrace'}' | head -n 2; " "echo ${PIPESTATUS[0]}",
            shell=True,
            executable="/bin/bash",
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
        )
        self.assertEqual(done.stdout.splitlines()[-1], "0")
        self.assertEqual(done.stderr, "")

    def test_what_is_not_there(self):
        dump = ("trace", "dump", SAMPLE)
        self.assert_refused(2, *dump, "--threads", "2000", says=["--threads 2000", "threads, 0 to"])
        self.assert_refused(2, *dump, "--blocks", "1000000", says=["nothing was recorded", "--blocks"])
        self.assert_refused(2, *dump, "--instructions", "7-2", says=["7-2", "ends before it begins"])
        self.assert_refused(2, *dump, "--launches", "900-", says=["--launches 900-"])


if __name__ == "__main__":
    main()
