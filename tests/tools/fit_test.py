"""`heddle machines fit`: a machine from micro-benchmarks, all of them made up here, and judged by kernels that it never
saw. And what `heddle machines interval` says of two machines."""
import copy
import gzip
import hashlib
import json
import math
import re

import made_up_card
from heddle_command import SAMPLES, CommandTest, heddle, main

BENCHMARKS = {
    "latency_l1": ("cycles", [41, 40, 42]),
    "latency_l2": ("cycles", [273, 270, 281]),
    "latency_dram": ("cycles", [600, 590, 640]),
    "latency_shared": ("cycles", [33, 33, 33]),
    "latency_int_mul": ("cycles", [4.1]),
    "latency_fp64_div": ("cycles", [400]),
    "throughput_fp32": ("threads/cycle/SM", [127.5]),
    "throughput_fp64": ("threads/cycle/SM", [63.8]),
    "throughput_sfu": ("threads/cycle/SM", [15.9]),
    "bandwidth_l1": ("bytes/cycle/SM", [126]),
    "bandwidth_dram_read": ("bytes/second", [3.0e12, 2.9e12, 3.1e12]),
    "sm_clock": ("MHz", [1755]),
    "launch_overhead": ("microseconds", [2.3]),
}
CYCLES = "sm__cycles_elapsed.max"


def with_benchmarks(benchmarks, kernels=()):
    content = made_up_card.visit(list(kernels))
    content["card"].update(sms=132, max_threads_per_sm=2048, registers_per_sm=65536, l2_bytes=50 << 20)
    content["benchmark"] = [{"name": n, "unit": u, "value": v} for n, (u, v) in benchmarks.items()]
    return content


class Fit(CommandTest):
    def fit(self, content, *arguments, name="mine"):
        file = self.folder / "visit.json"
        file.write_text(json.dumps(content))
        done = heddle("machines", "fit", "--hardware", file, "-o", self.folder / f"{name}.textproto", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = heddle("machines", self.folder / f"{name}.textproto", "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return json.loads(shown.stdout), done.stderr

    def test_the_model_takes_what_the_card_took(self):
        machine, notes = self.fit(with_benchmarks(BENCHMARKS))
        # The second number is what the model takes now, measured by the same chain of instructions.
        after = {name: float(cycles) for name, cycles in re.findall(r"(latency_\w+): ([\d.]+) cycles on", notes)}
        for name in ("latency_l1", "latency_l2", "latency_shared", "latency_int_mul", "latency_fp64_div"):
            self.assertAlmostEqual(after[name], sorted(BENCHMARKS[name][1])[len(BENCHMARKS[name][1]) // 2], delta=0.5)
        self.assertAlmostEqual(after["latency_dram"], 600, delta=3, msg="its rows and banks are not all alike")
        timing = {one["operation"]: one for one in machine["core"]["units"]["timing"]}
        intervals = {name: timing[name]["initiation_interval"] for name in ("FP32", "FP64", "SFU")}
        self.assertEqual(intervals, {"FP32": 1, "FP64": 2, "SFU": 8}, "4 units of 32 lanes by the threads per cycle")
        memory = machine["memory"]["hierarchy"]
        self.assertEqual((memory["l1_data"]["banks"], memory["returns_per_cycle"]), (4, 4))
        self.assertEqual(
            (machine["sms"], machine["clocks"]["core_mhz"], machine["clocks"]["network_mhz"]), (132, 1755, 1755)
        )
        dram = memory["dram"]
        width = dram["controllers"] * dram["chips_per_controller"] * dram["bus_bytes"] * dram["data_rate"]
        self.assertAlmostEqual(machine["clocks"]["dram_mhz"] * 1e6 * width, 3.0e12, delta=1e6 * width)
        l2 = memory["l2"]["cache"]
        slices = memory["l2"]["slices_per_controller"] * dram["controllers"]
        bytes_ = l2["sets"] * l2["ways"] * l2["line_bytes"] * slices
        self.assertLessEqual(bytes_, 50 << 20)
        self.assertGreater(bytes_, 48 << 20)
        self.assertIn("launch_overhead 2.3 microseconds", notes)

    def test_every_value_that_was_set_has_its_source_and_the_rest_is_the_base(self):
        machine, _ = self.fit(with_benchmarks({"latency_l1": BENCHMARKS["latency_l1"]}))
        text = (self.folder / "mine.textproto").read_text()
        self.assertIn("# THE NUMBERS OF THE CARD ARE MADE UP: " + made_up_card.MADE_UP, text)
        self.assertRegex(
            text, r"hit_cycles: \d+ +# Made-up card, 2026-01-01: latency_l1 41 cycles \(3 times, 40 to 42\)"
        )
        base = json.loads(heddle("machines", "volta_v100", "--json").stdout)
        changed = copy.deepcopy(machine)
        changed["memory"]["hierarchy"]["l1_data"]["hit_cycles"] = base["memory"]["hierarchy"]["l1_data"]["hit_cycles"]
        changed["memory"]["hierarchy"]["l2"]["cache"] = base["memory"]["hierarchy"]["l2"]["cache"]
        changed.update(name=base["name"], description=base["description"], sms=base["sms"])
        self.assertEqual(changed, base)
        record = json.loads((self.folder / "mine.hardware.json").read_text())
        self.assertEqual((record["fit"]["benchmark"], record["fit"]["kernel"]), (["latency_l1"], []))

    def test_shared_memory_is_the_cards_and_a_split_that_cannot_hold_it_is_left_out(self):
        content = with_benchmarks({"latency_l1": BENCHMARKS["latency_l1"]})
        content["card"].update(shared_bytes_per_sm=233472, shared_bytes_reserved=1024)
        machine, notes = self.fit(content)
        self.assertEqual(
            (machine["core"]["shared_memory_bytes"], machine["core"]["shared_bytes_per_block"]), (233472, 1024)
        )
        memory = machine["memory"]["hierarchy"]
        self.assertNotIn("l1_split", memory)
        self.assertEqual(memory["l1_data"]["ways"], 16, "32 KB, what 96 KB of shared memory leave on the base")
        self.assertIn("memory.hierarchy.l1_split of the base is smaller than the shared memory", notes)
        machine, notes = self.fit(content, "--base", "hopper_h100")
        memory = machine["memory"]["hierarchy"]
        self.assertEqual((memory["l1_split"]["bytes"], memory["l1_data"]["ways"]), (262144, 128))
        self.assertNotIn("l1_split", notes)

    def test_correlate_says_that_all_kernels_are_held_out(self):
        kernel = made_up_card.kernel(SAMPLES / "spmv.htrace")
        self.fit(with_benchmarks(BENCHMARKS, [kernel]))
        done = heddle(
            "correlate",
            "--hardware",
            self.folder / "visit.json",
            SAMPLES / "spmv.htrace",
            "--machine",
            self.folder / "mine.textproto",
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(
            "Machine mine, fitted to 12 micro-benchmarks on Made-up card of 2026-01-01 and to no kernel: all kernels are "
            "held out.",
            " ".join(done.stdout.split()),
        )
        done = heddle(
            "correlate",
            "--hardware",
            self.folder / "visit.json",
            SAMPLES / "spmv.htrace",
            "--machine",
            self.folder / "mine.textproto",
            "--set",
            "core.schedulers=2",
        )
        self.assertIn("not fitted to a card", done.stdout)
        self.assertIn("is not as it was fitted or measured", done.stderr)

    def test_what_cannot_be_fitted_is_told(self):
        file = self.folder / "visit.json"
        base = ("machines", "fit", "--hardware", file, "-o", self.folder / "mine.textproto")
        for benchmarks in ({}, {"latency_l1": ("cycles", [])}, {"latency_l1": ("cycles", [0])}, {"moon": ("m", [1])}):
            file.write_text(json.dumps(with_benchmarks(benchmarks)))
            self.assert_refused(1, *base, says=("no micro-benchmark that a machine could be fitted to",))
        file.write_text("{")
        self.assert_refused(2, *base, says=("--hardware", "is not what a visit to a card measured"))
        file.write_text(json.dumps(with_benchmarks(BENCHMARKS)))
        self.assert_refused(2, *base, "--base", "no_such", says=("--base", "no_such"))
        self.assert_refused(2, *base[:-1], self.folder / "mine.json", says=("ends in .textproto",))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["visit.json"], "nothing is left behind")
        # A machine without caches: what it has is fitted, the rest is told.
        machine, notes = self.fit(with_benchmarks(BENCHMARKS), "--base", "fermi_buffer_fixed")
        self.assertEqual(machine["sms"], 132)
        self.assertNotIn("latency_l2:", notes)
        # A latency below what the model's pipeline takes: the nearest there is, and how near that is.
        _, notes = self.fit(with_benchmarks({"latency_l1": ("cycles", [2])}))
        self.assertRegex(notes, r"latency_l1: [\d.]+ cycles on the machine, 28.0 before, 2.0 on the card")


class Packed(CommandTest):
    """What visits leave packed, DATE.json.gz."""

    def command(self, file, output="mine"):
        return ("machines", "fit", "--hardware", file, "-o", self.folder / f"{output}.textproto")

    def test_is_read_as_what_was_packed(self):
        text = json.dumps(with_benchmarks(BENCHMARKS)).encode()
        (self.folder / "plain.json").write_bytes(text)
        (self.folder / "packed.json.gz").write_bytes(gzip.compress(text))
        for name in ("plain.json", "packed.json.gz"):
            done = heddle(*self.command(self.folder / name, name[:5]))
            self.assertEqual(done.returncode, 0, done.stderr)
        plain, packed = (
            re.sub("SHA-256 .*|^name: .*", "", (self.folder / f"{name}.textproto").read_text(), flags=re.MULTILINE)
            for name in ("plain", "packe")
        )
        self.assertEqual(plain, packed)
        record = json.loads((self.folder / "packe.hardware.json").read_text())
        digest = hashlib.sha256((self.folder / "packed.json.gz").read_bytes()).hexdigest()
        self.assertEqual(record["fit"]["visit_digest"], digest, "of the file as it lies there")

    def test_folders_have_both_kinds(self):
        text = json.dumps(made_up_card.visit([made_up_card.kernel(SAMPLES / "spmv.htrace")])).encode()
        folder = self.folder / "card"
        folder.mkdir()
        (folder / "2026-01-01.json.gz").write_bytes(gzip.compress(text))
        (folder / "mine.hardware.json.gz").write_bytes(b"not a visit")
        command = ("correlate", "--hardware", folder, SAMPLES / "spmv.htrace")
        done = heddle(*command)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("visit of 2026-01-01", done.stdout)
        # The same file unpacked beside it is the same visit, not another one.
        (folder / "2026-01-01.json").write_bytes(text)
        done = heddle(*command)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("measured again later", done.stdout)

    def test_what_is_damaged_is_refused(self):
        text = json.dumps(with_benchmarks(BENCHMARKS)).encode()
        packed = gzip.compress(text)
        damaged = bytearray(packed)
        damaged[len(packed) // 2] ^= 0x55
        other_sum = bytearray(packed)
        other_sum[-6] ^= 1
        file = self.folder / "visit.json.gz"
        for content, says in (
            (b"", "is not compressed by gzip"),
            (text, "is not compressed by gzip"),
            (packed[:10], "no file of gzip"),
            (packed[: len(packed) // 2], "damaged or cut short"),
            (packed[:-8], "damaged or cut short"),
            (packed[:-4], "damaged or cut short"),
            (packed[:-1], "damaged or cut short"),
            (bytes(damaged), "damaged or cut short"),
            (bytes(other_sum), "damaged or cut short"),
            (packed + b"more", "damaged or cut short"),
            (gzip.compress(b"{}"), "has schema 0"),
            (gzip.compress(b"\0" * ((256 << 20) + 1), 9), "unpacks to more than the 268435456 bytes"),
        ):
            file.write_bytes(content)
            self.assert_refused(2, *self.command(file), says=("--hardware", "visit.json.gz", says))


class Interval(CommandTest):
    NAMES = ("bfs", "mandelbrot", "nqueens", "reduction", "spmv")

    def measured(self, name, factors):
        machine = self.folder / f"{name}.textproto"
        machine.write_text(heddle("machines", "volta_v100").stdout)
        kernels = [
            made_up_card.kernel(SAMPLES / f"{one}.htrace", {CYCLES: factor}) for one, factor in zip(self.NAMES, factors)
        ]
        visit = self.folder / f"{name}.json"
        visit.write_text(json.dumps(made_up_card.visit(kernels)))
        traces = [SAMPLES / f"{one}.htrace" for one in self.NAMES]
        done = heddle("correlate", "--hardware", visit, *traces, "--machine", machine, "--keep-errors")
        self.assertEqual(done.returncode, 0, done.stderr)
        return machine

    def test_errors_that_two_machines_share_do_not_count_for_their_ratio(self):
        factors = (0.5, 1, 1.5, 2, 3)
        a = self.measured("a", factors)
        b = self.measured("b", [1.1 * factor for factor in factors])
        done = heddle("machines", "interval", a, b)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # Ours are the same on both; the second card takes 1.1 times as long for each program.
        line = next(one for one in done.stdout.splitlines() if "ratio of cycles on the cards" in one)
        self.assertIn("x 0.909 to 0.909", line)
        cycles = re.findall(r"cycles on the card by ours: x ([\d.]+) to ([\d.]+)", done.stdout)
        errors = [-math.log(factor) for factor in factors]
        mean = sum(errors) / 5
        deviation = math.sqrt(sum((error - mean) ** 2 for error in errors) / 4)
        half = 2.131847 * deviation * math.sqrt(1 + 1 / 5)
        self.assertAlmostEqual(float(cycles[0][0]), math.exp(-mean - half), delta=0.006)
        self.assertAlmostEqual(float(cycles[0][1]), math.exp(-mean + half), delta=0.006)

    def test_a_machine_that_was_not_measured_has_none(self):
        self.assert_refused(2, "machines", "interval", "volta_v100", says=("was not measured beside a card",))
        self.assert_refused(2, "machines", "interval", "no_such", says=("no_such",))


if __name__ == "__main__":
    main()
