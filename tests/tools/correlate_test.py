"""`heddle correlate`: replays beside the numbers of a card. No card is needed: all of its numbers are made up here
(made_up_card.py), by factors that the tests know."""
import copy
import json
import math

import made_up_card
from heddle_command import SAMPLES, SOURCE, CommandTest, heddle, main

NAMES = ("bfs", "mandelbrot", "nqueens", "reduction", "spmv")
TRACES = [SAMPLES / f"{name}.htrace" for name in NAMES]
CYCLES = "sm__cycles_elapsed.max"
# Our cycles are these parts of the card's, so that the errors are +25, 0, -20, -50, +100 %.
CARD_BY_OURS = {"bfs": 0.8, "mandelbrot": 1, "nqueens": 1.25, "reduction": 2, "spmv": 0.5}


class Correlate(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.kernels = {
            name: made_up_card.kernel(SAMPLES / f"{name}.htrace", {CYCLES: CARD_BY_OURS[name]}) for name in NAMES
        }

    def visit(self, **other):
        return made_up_card.visit([copy.deepcopy(self.kernels[name]) for name in NAMES], **other)

    def correlate(self, content, *arguments, traces=TRACES):
        folder = made_up_card.write(self.folder, content)
        done = heddle("correlate", "--hardware", folder, *traces, "--json", "-", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("NaN", done.stdout)
        self.assertNotIn("Infinity", done.stdout)
        return json.loads(done.stdout)

    def summary(self, data, name):
        return next(one for one in data["comparisons"] if one["name"] == name)

    def test_errors_are_those_that_were_put_in(self):
        data = self.correlate(self.visit())
        errors = {kernel["name"]: kernel["compared"]["cycles"]["error"] for kernel in data["kernels"]}
        for name, factor in CARD_BY_OURS.items():
            self.assertAlmostEqual(errors[name], 100 * (1 / factor - 1), 9, name)
        cycles = self.summary(data, "cycles")
        self.assertEqual((cycles["kernels"], cycles["judged"], cycles["within"]), (5, 5, 2))
        self.assertAlmostEqual(cycles["mean_absolute"], (25 + 0 + 20 + 50 + 100) / 5, 9)
        self.assertAlmostEqual(cycles["bias"], (25 + 0 - 20 - 50 + 100) / 5, 9)
        # What was copied as it is has no error anywhere.
        for name in ("thread_instructions", "active_threads", "sectors_per_load", "dram_bytes", "issue_slots"):
            summary = self.summary(data, name)
            self.assertEqual((summary["mean_absolute"], summary["bias"]), (0, 0), name)
            self.assertGreater(summary["kernels"], 3, name)
        self.assertAlmostEqual(self.summary(data, "waits_arithmetic")["mean_absolute"], 0, 9)
        outputs = self.summary(data, "wrong_outputs")
        self.assertEqual((outputs["kernels"], outputs["within"]), (5, 5))
        beyond = {kernel["name"]: kernel.get("first_beyond") for kernel in data["kernels"]}
        self.assertEqual(
            beyond, {"bfs": "time", "mandelbrot": None, "nqueens": None, "reduction": "time", "spmv": "time"}
        )

    def test_the_table_says_what_is_made_up_and_what_was_held_out(self):
        folder = made_up_card.write(self.folder, self.visit())
        done = heddle("correlate", "--hardware", folder, *TRACES)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in (
            "THE NUMBERS OF THE CARD ARE MADE UP: " + made_up_card.MADE_UP,
            "Made-up card (compute capability 9.0, 80 SMs), visit of 2026-01-01",
            "Machine volta_v100, which was not fitted to a card: all kernels are held out.",
            "Replayed with pdom and gto.",
        ):
            self.assertIn(words, done.stdout)
        rows = [line.split() for line in done.stdout.split("first beyond its bar")[1].splitlines()]
        names = [row[0] for row in rows if row and row[0] in NAMES]
        self.assertEqual(names, ["spmv", "reduction", "bfs", "nqueens", "mandelbrot"], "the worst first")

    def test_programs_and_what_was_left_out_are_told(self):
        visit = self.visit(
            application=[
                {"name": "vector_add", "compiled": True, "equal": True},
                {"name": "spin_lock", "argument": ["4"], "equal": False, "difference": "line 3 \x1b[31mdiffers"},
            ],
            skipped=[{"what": "kernel sha1 small", "why": "no time was left"}, {"what": "more", "why": "x"}],
        )
        folder = made_up_card.write(self.folder, visit)
        done = heddle("correlate", "--hardware", folder, *TRACES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Programs whose output is the same with and without the card: 1 of 2.", done.stdout)
        self.assertIn("  spin_lock 4: line 3 \\u001b[31mdiffers", done.stdout)
        self.assertIn("The visit left out 2 things, first of all: kernel sha1 small: no time was left.", done.stdout)
        self.assertEqual(self.correlate(visit)["applications"]["equal"], 1)

    def test_a_rung_with_the_same_errors_explains_a_higher_one(self):
        visit = self.visit()
        sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
        for kernel in visit["kernel"]:
            for launch in kernel["launch"]:
                for counter in launch["counter"]:
                    if counter["name"] == sectors:
                        counter["value"] = [v * CARD_BY_OURS[kernel["workload"]] for v in counter["value"]]
        data = self.correlate(visit)
        found = next(one for one in data["explanations"] if (one["rung"], one["by"]) == ("time", "coalescing"))
        self.assertAlmostEqual(found["rank_correlation"], 1, 9)
        self.assertEqual((found["kernels"], found["beyond_chance"]), (5, True))
        rungs = {rung["name"]: rung for rung in data["rungs"]}
        self.assertEqual(rungs["time"]["explained_best_by"], "coalescing")
        self.assertNotIn("explained_best_by", rungs["coalescing"])
        beyond = {kernel["name"]: kernel.get("first_beyond") for kernel in data["kernels"]}
        self.assertEqual(beyond["spmv"], "coalescing", "the lowest rung whose error is beyond its bar")

    def test_short_kernels_are_marked_and_left_out_of_the_rung_time(self):
        visit = self.visit()
        for launch in visit["kernel"][4]["launch"]:
            launch["microseconds"] = [19.0, 19.5, 400.0]  # the median counts
        data = self.correlate(visit)
        kernel = data["kernels"][4]
        self.assertEqual((kernel["name"], kernel["short"], kernel["microseconds"]), ("spmv", True, 19.5))
        self.assertNotIn("within", kernel["compared"]["cycles"])
        self.assertNotIn("log_ratio", kernel)
        cycles = self.summary(data, "cycles")
        self.assertEqual((cycles["kernels"], cycles["left_out"], cycles["judged"]), (4, 1, 4))
        self.assertEqual(self.summary(data, "sectors_per_load")["left_out"], 0, "counts do not depend on the time")

    def test_zeros_missing_counters_and_missing_kernels_are_told_and_make_no_number(self):
        visit = self.visit()
        for launch in visit["kernel"][0]["launch"]:
            launch["counter"] = [one for one in launch["counter"] if one["name"] != "dram__bytes_write.sum"]
            for counter in launch["counter"]:
                if counter["name"] == CYCLES:
                    counter["value"] = [0]
                if counter["name"] == "smsp__inst_executed.sum":
                    counter["value"] = []
        visit["kernel"].append({**copy.deepcopy(visit["kernel"][1]), "workload": "not_recorded"})
        del visit["kernel"][4]
        data = self.correlate(visit)
        bfs = data["kernels"][0]["compared"]
        self.assertEqual(bfs["cycles"]["why"], "the card's is 0")
        self.assertEqual(bfs["dram_bytes"]["why"], "dram__bytes_write.sum was not measured")
        self.assertEqual(bfs["active_threads"]["why"], "smsp__inst_executed.sum was not measured")
        self.assertEqual(
            bfs["sectors_per_store"]["why"], "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum was not measured"
        )
        for one in ("cycles", "dram_bytes", "active_threads"):
            self.assertNotIn("error", bfs[one])
        self.assertEqual((data["without_trace"], data["without_kernel"]), (["not_recorded"], ["spmv.htrace"]))

    def test_another_launch_than_that_of_the_trace_is_not_compared(self):
        visit = self.visit()
        visit["kernel"][1]["launch"][0]["grid"]["x"] += 1
        visit["kernel"][2]["launch"][0]["kernel"] = "somebody_else(int)"
        data = self.correlate(visit)
        self.assertIn("threads in the trace", data["kernels"][1]["problem"])
        self.assertIn("is of somebody_else(int) on the card, of nqueens", data["kernels"][2]["problem"])
        self.assertEqual(self.summary(data, "cycles")["kernels"], 3)

    def test_a_wrong_output_is_beyond_the_lowest_bar(self):
        visit = self.visit()
        visit["kernel"][3]["output"] = [{"buffer": "a", "right": True}, {"buffer": "b", "right": False}]
        data = self.correlate(visit)
        self.assertEqual(data["kernels"][3]["compared"]["wrong_outputs"]["card"], 1)
        self.assertEqual(data["kernels"][3]["first_beyond"], "outputs")

    def test_of_two_visits_the_later_one_counts(self):
        earlier = self.visit()
        earlier["conditions"]["date"] = "2025-12-31"
        for launch in earlier["kernel"][0]["launch"]:
            for counter in launch["counter"]:
                counter["value"] = [7 * v for v in counter["value"]]
        made_up_card.write(self.folder, earlier, "2025-12-31.json")
        later = self.visit()
        later["kernel"] = later["kernel"][:1]
        data = self.correlate(later)
        self.assertEqual([visit["date"] for visit in data["visits"]], ["2026-01-01", "2025-12-31"])
        self.assertEqual(len(data["kernels"]), 5, "those of the earlier one count where the later has none")
        self.assertAlmostEqual(data["kernels"][0]["compared"]["cycles"]["error"], 25, 9)

    def test_launches_begin_cold_where_the_profiler_emptied_the_caches(self):
        visit = self.visit()
        warm = self.correlate(visit)
        visit["conditions"]["cache_control"] = "all"
        cold = self.correlate(visit)
        self.assertNotIn("empty caches", warm["sentences"][2])
        self.assertIn("every launch begins with empty caches", cold["sentences"][2])
        for before, after in zip(warm["kernels"], cold["kernels"]):
            one, other = (data["compared"]["dram_bytes"]["ours"] for data in (before, after))
            # bfs and reduction have several launches, which find in the L2 what those before them left.
            (self.assertLess if before["card_launches"] > 1 else self.assertEqual)(one, other, before["name"])

    def test_wrong_usage_and_broken_files(self):
        visit = self.visit()
        folder = made_up_card.write(self.folder, visit)
        file = folder / "2026-01-01.json"
        base = ("correlate", TRACES[0], "--hardware")
        self.assert_refused(2, *base, self.folder / "none", says=("--hardware", "no such file or folder"))
        empty = self.folder / "empty"
        empty.mkdir()
        self.assert_refused(2, *base, empty, says=("no visit to a card is here",))
        self.assert_refused(2, *base, folder, "--code", "cubin", says=("no kernel with code from cubin", "ptx"))
        self.assert_refused(2, *base, folder, "--code", "sass", says=("unknown source of code",))
        self.assert_refused(2, *base, folder, "--divergence", "pdom,nrec", says=("one policy each",))
        self.assert_refused(2, *base, folder, "--json", file, says=("one of the inputs",))
        self.assert_refused(2, *base, folder, "--set", "core.sch=1", says=("core",))
        other = self.visit()
        other["card"]["name"] = "Another card"
        made_up_card.write(self.folder, other, "other.json")
        self.assert_refused(2, *base, folder, says=("Made-up card", "Another card", "name the folder of one card"))
        (folder / "other.json").unlink()

        def broken(change, *says):
            content = copy.deepcopy(visit)
            change(content)
            file.write_text(content if isinstance(content, str) else json.dumps(content))
            line = self.assert_refused(2, *base, folder, says=says)
            self.assertNotIn("\x1b", line)

        def counters(content):
            return content["kernel"][0]["launch"][0]["counter"]

        broken(lambda c: counters(c)[0].update(value=["NaN"]), "value has a number that is negative or not finite")
        broken(lambda c: counters(c)[0].update(value=["Infinity"]), "not finite")
        broken(lambda c: counters(c)[0].update(value=[-1]), "negative")
        broken(lambda c: counters(c)[0].update(value=["a lot"]), "is not what a visit to a card measured")
        broken(lambda c: counters(c).append(counters(c)[0]), "smsp__inst_executed.sum twice")
        broken(lambda c: c["kernel"].append(c["kernel"][0]), "kernel bfs twice")
        broken(lambda c: c.update(schema=2), "schema 2", "reads schema 1")
        broken(lambda c: c.update({"sch\x1b[31mema": 1}), "is not what a visit to a card measured")
        broken(lambda c: c["card"].update(name=""), "names no card")
        broken(lambda c: c["kernel"][0].update(source="CODE_SOURCE_UNSPECIFIED"), "has no source")
        broken(lambda c: c["kernel"][0].update(trace_digest="xyz"), "trace_digest is no SHA-256")
        broken(lambda c: c["kernel"][0]["launch"].append(c["kernel"][0]["launch"][0]), "twice")
        for text in ("", "[]", "{", '{"schema": 1e400}', "\x00" * 50, "[" * 100_000, "\x28\xb5\x2f\xfd"):
            file.write_text(text)
            self.assert_refused(2, *base, folder, says=("is not what a visit to a card measured",))
        # A name that acts on a terminal is shown as what it is.
        content = self.visit()
        content["card"]["name"] = "evil\x1b[2J"
        file.write_text(json.dumps(content))
        done = heddle("correlate", "--hardware", folder, *TRACES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", done.stdout + done.stderr)

    def test_a_list_of_counters_that_is_whole(self):
        listed = json.loads((SOURCE / "tools" / "hardware" / "counters.json").read_text())
        names = [metric["name"] for metric in listed["metrics"]]
        self.assertEqual(len(names), len(set(names)))
        rungs = [rung["name"] for rung in listed["rungs"]]
        for rung in rungs:
            self.assertEqual(
                sum(1 for one in listed["comparisons"] if one["rung"] == rung and one.get("headline")), 1, rung
            )
        opcodes = [opcode for group in listed["sass_classes"].values() for opcode in group]
        self.assertEqual(len(opcodes), len(set(opcodes)), "an opcode of two classes")


class Intervals(CommandTest):
    """What `heddle replay` tells of a machine that was measured."""

    @classmethod
    def setUpClass(cls):
        cls.kernels = [made_up_card.kernel(SAMPLES / f"{name}.htrace", {CYCLES: CARD_BY_OURS[name]}) for name in NAMES]

    def measured(self):
        """A machine of the test with the errors of the made-up card beside it."""
        machine = self.folder / "mine.textproto"
        machine.write_text(heddle("machines", "volta_v100").stdout)
        folder = made_up_card.write(self.folder, made_up_card.visit(self.kernels))
        done = heddle("correlate", "--hardware", folder, *TRACES, "--machine", machine, "--keep-errors")
        self.assertEqual(done.returncode, 0, done.stderr)
        return machine

    def test_a_replay_tells_the_interval_of_the_other_programs(self):
        machine = self.measured()
        record = json.loads((self.folder / "mine.hardware.json").read_text())
        self.assertEqual(len(record["errors"]["program"]), 5)
        done = heddle("replay", SAMPLES / "spmv.htrace", "--machine", machine, "--scheduler", "gto", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        interval = json.loads(done.stdout)["hardware_interval"]
        # By hand: Student's t of four errors, without spmv's own.
        errors = [-math.log(CARD_BY_OURS[name]) for name in NAMES if name != "spmv"]
        mean = sum(errors) / 4
        deviation = math.sqrt(sum((error - mean) ** 2 for error in errors) / 3)
        half = 2.353363 * deviation * math.sqrt(1 + 1 / 4)
        self.assertAlmostEqual(interval["cycles_factor"]["low"], math.exp(-mean - half), 5)
        self.assertAlmostEqual(interval["cycles_factor"]["high"], math.exp(-mean + half), 5)
        cycles = json.loads(done.stdout)["total"]["cycles"]
        self.assertEqual(interval["cycles"][0], round(cycles * interval["cycles_factor"]["low"]))
        self.assertAlmostEqual(interval["ratio_factor"]["high"], math.exp(2.353363 * deviation * math.sqrt(2)), 4)
        self.assertEqual(interval["made_up"], made_up_card.MADE_UP)
        self.assertEqual((interval["cycles_factor"]["programs"], interval["cycles_factor"]["left_out"]), (4, 4))

    def test_the_table_has_width_and_coverage_and_other_policies_have_only_ratios(self):
        machine = self.measured()
        done = heddle("replay", SAMPLES / "spmv.htrace", "--machine", machine, "--scheduler", "gto,lrr")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in (
            "THE NUMBERS OF THE CARD ARE MADE UP",
            "On Made-up card (visit of 2026-01-01), with 90 % confidence, by the errors of other programs",
            "cycles of pdom with gto:",
            "programs that were left out (",
            "speed-ups: x",
        ):
            self.assertIn(words, done.stdout)
        self.assertNotIn("cycles of pdom with lrr: ", done.stdout, "the card was compared under gto")

    def test_a_machine_that_was_not_measured_says_nothing(self):
        machine = self.measured()
        plain = heddle("replay", SAMPLES / "spmv.htrace", "--machine", "volta_v100", "--scheduler", "gto")
        self.assertNotIn("confidence", plain.stdout)
        done = heddle(
            "replay", SAMPLES / "spmv.htrace", "--machine", machine, "--scheduler", "gto", "--set", "core.schedulers=2"
        )
        self.assertNotIn("confidence", done.stdout)
        self.assertIn("was measured with another value of some field", done.stderr)
        (self.folder / "mine.hardware.json").unlink()
        alone = heddle("replay", SAMPLES / "spmv.htrace", "--machine", machine, "--scheduler", "gto")
        self.assertEqual((alone.stdout, alone.stderr), (plain.stdout, ""), "to the byte")

    def test_a_damaged_record_is_a_note_and_no_failure(self):
        machine = self.measured()
        plain = heddle("replay", SAMPLES / "spmv.htrace", "--machine", "volta_v100", "--scheduler", "gto")
        for text in ("", "{", '{"schema": 7}', '{"schema": 1, "errors": {"program": [{"log_ratio": "NaN"}]}}'):
            (self.folder / "mine.hardware.json").write_text(text)
            done = heddle("replay", SAMPLES / "spmv.htrace", "--machine", machine, "--scheduler", "gto")
            self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), text)
            self.assertIn("note", done.stderr)

    def test_errors_are_not_kept_of_a_machine_that_was_changed_on_the_command_line(self):
        folder = made_up_card.write(self.folder, made_up_card.visit(self.kernels))
        machine = self.folder / "mine.textproto"
        machine.write_text(heddle("machines", "volta_v100").stdout)
        self.assert_refused(
            2,
            "correlate",
            "--hardware",
            folder,
            TRACES[0],
            "--machine",
            machine,
            "--keep-errors",
            "--set",
            "core.schedulers=2",
            says=("--keep-errors", "another machine"),
        )


if __name__ == "__main__":
    main()
