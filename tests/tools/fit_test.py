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


def with_settings(settings):
    """A visit with benchmarks that have parameters: (name, parameters, values)."""
    content = with_benchmarks({})
    content["benchmark"] = [{"name": n, "parameter": p, "unit": "cycles", "value": v} for n, p, v in settings]
    return content


def products(instruction, latency, rate):
    """What a visit has of one kind of matrix product."""
    kind = {"instruction": instruction}
    return [
        ("latency_tensor", kind, [latency]),
        ("throughput_tensor", {**kind, "threads": "512", "blocks": "132"}, [rate]),
    ]


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
        # The peak is that bandwidth, or more by what the model loses of it.
        self.assertTrue(3.0e12 - 2.5e6 * width <= machine["clocks"]["dram_mhz"] * 1e6 * width <= 4.1e12)
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

    def test_products_of_matrices_take_what_they_took(self):
        settings = (
            # 2,048 multiply-adds in 6.15 cycles of each of four units: 6, and 342 of them per cycle make 6.
            products("m16n8k16.f32.f16.f16.f32", 24.4, 1332)
            # A shape that takes less than half the work, but not half the time.
            + products("m16n8k8.f32.f16.f16.f32", 17.3, 1004)
            + products("m16n8k16.f16.f16.f16.f16", 23.6, 1024)
            + products("m16n8k16.f32.bf16.bf16.f32", 25, 1365)
            + products("m16n8k8.f32.tf32.tf32.f32", 24, 665)
            + products("m16n8k32.s32.s8.s8.s32", 24, 2660)
            + products("m16n8k32.f32.e4m3.e4m3.f32", 66.6, 710)
            + products("m8n8k4.f64.f64.f64.f64", 26.2, 63.8)
            + products("m16n8k16.f64.f64.f64.f64", 82.1, 127.4)
            + products("m16n8k64.s32.s4.s4.s32", 30, 1000)
            + products("m16n8k16.f16.e5m2.e5m2.f16", 40, 710)[:1]
            + products("m0n8k16.f32.f16.f16.f32", 1, 1)
            + products("moon", 1, 1)
            + [("latency_tensor", {}, [5])]
        )
        machine, notes = self.fit(with_settings(settings), "--base", "hopper_h100")
        kinds = {one.pop("elements"): one for one in machine["core"]["units"]["tensor_timing"]}
        expected = {
            "F16_INTO_F32": (342, 18, [(16, 8, 8, 17, 4)]),
            "F16_INTO_F16": (256, 16, []),
            "BF16": (342, 19, []),
            "TF32": (171, 18, []),
            "INT8": (683, 18, []),
            "FP8_INTO_F32": (179, 44, []),
            "F64": (32, 18, [(8, 8, 4, 26, 16)]),
            "INT4": (249, 0, [(16, 8, 64, 30, 33)]),  # new: the base has none
            "FP8_INTO_F16": (342, 18, []),  # as in the base: without a rate there is nothing to fit
            "B1": (5464, 18, []),
        }
        found = {
            name: (
                one["multiply_adds"],
                one.get("pipeline_cycles", 0),
                [tuple(shape.values()) for shape in one.get("shape", [])],
            )
            for name, one in kinds.items()
        }
        self.assertEqual(found, expected)
        timing = {one["operation"]: one for one in machine["core"]["units"]["timing"]}
        self.assertEqual((timing["TENSOR"]["latency"], timing["TENSOR"]["initiation_interval"]), (24, 6))
        for words in (
            "latency_tensor of m16n8k16.f16.e5m2.e5m2.f16 40 cycles (1 times, 40 to 40): not fitted: its other half",
            "latency_tensor of moon 1 cycles (1 times, 1 to 1): not fitted: no product",
            "latency_tensor of m0n8k16.f32.f16.f16.f32 1 cycles (1 times, 1 to 1): not fitted: no product",
            "latency_tensor 5 cycles (1 times, 5 to 5): not fitted: no product",
        ):
            self.assertIn(words, notes)
        text = (self.folder / "mine.textproto").read_text()
        self.assertRegex(
            text,
            r"elements: F64 multiply_adds: 32 .*# Made-up card, 2026-01-01: throughput_tensor of "
            r"m16n8k16.f64.f64.f64.f64 127.4 .*; latency_tensor of m8n8k4",
        )
        # A base without kinds of elements would refuse all others if one was added.
        machine, notes = self.fit(
            with_settings(settings + [("latency_l1", {}, [40])]), "--base", "volta_80sm", name="plain"
        )
        self.assertEqual(machine["core"]["units"]["tensor_timing"], [])
        self.assertIn("products of matrices: measured, and the base has no rates by kind", notes)

    def test_a_launch_a_cluster_and_what_a_block_takes(self):
        settings = [
            ("launch_cycles", {"blocks": "132"}, [9000]),
            ("launch_cycles", {"blocks": "1"}, [3500, 3400, 3600]),
            ("latency_shared", {}, [25]),
            ("latency_shared_cluster", {}, [191]),
            ("latency_transaction_barrier", {}, [64]),
            ("latency_copy", {"bytes": "512", "kind": "cp.async"}, [374]),
        ]
        content = with_settings(settings)
        content["card"]["shared_bytes_reserved"] = 1024
        machine, notes = self.fit(content, "--base", "hopper_h100")
        # The replay of an empty kernel takes some cycles itself.
        self.assertTrue(3480 <= machine["dispatch"]["launch_cycles"] < 3500, machine["dispatch"])
        self.assertEqual(machine["dispatch"]["blocks_per_cycle"], 1, "131 blocks more take 5,500 cycles")
        # 25 cycles to shared memory, 2 into and out of the network, and the rest on two ways.
        self.assertEqual(machine["clusters"]["network_cycles"], (191 - 25 - 2) // 2)
        self.assertIn("latency_shared_cluster: 191.0 cycles on the machine, 175.0 before, 191.0 on the card", notes)
        self.assertEqual(machine["core"]["shared_bytes_per_block"], 1024)
        self.assertRegex(notes, r"latency_copy 374 .*: measured, and issue_latency and write_latency")
        self.assertRegex(notes, r"latency_transaction_barrier 64 .*: measured, and arrival_latency and wake_latency")
        text = (self.folder / "mine.textproto").read_text()
        self.assertRegex(text, r"launch_cycles: \d+ +# Made-up card, 2026-01-01: launch_cycles 3500 cycles")
        self.assertRegex(text, r"shared_bytes_per_block: 1024 +# Made-up card, 2026-01-01: the driver")

    def test_barriers_and_shuffles_take_what_they_took(self):
        settings = [
            ("latency_barrier", {"threads": "32"}, [14.3]),
            ("latency_barrier", {"threads": "256"}, [28.3]),
            ("latency_barrier", {"threads": "1024"}, [76.4]),
            ("latency_shuffle", {"threads": "32"}, [24.1]),
        ]
        machine, notes = self.fit(with_settings(settings))
        self.assertEqual(machine["core"]["block_barriers"]["arrival_interval"], 2)
        self.assertRegex(notes, r"latency_barrier of 1 warps: 14\.\d cycles on the machine, 14\.3 on the card")
        self.assertRegex(notes, r"latency_barrier of 32 warps: 7[5-8]\.\d cycles on the machine, 76\.4 on the card")
        shuffle = [one for one in machine["core"]["units"]["timing"] if one["operation"] == "SHUFFLE"]
        self.assertEqual([one["latency"] for one in shuffle], [24])

    def test_atomics_and_votes_take_what_they_took(self):
        settings = [
            ("latency_shared", {}, [23]),
            ("latency_l2", {}, [280]),
            ("latency_atomic_shared", {"threads": "1"}, [32.2]),
            ("latency_atomic_global", {"threads": "1"}, [483.2]),
            ("latency_atomic_global", {"threads": "32"}, [492.4]),
            ("latency_vote", {}, [21.3]),
        ]
        machine, notes = self.fit(with_settings(settings))
        self.assertRegex(
            notes, r"latency_atomic_shared: 32\.\d cycles on the machine, 23\.\d before, 32\.2 on the card"
        )
        self.assertRegex(notes, r"latency_atomic_global: 48[23]\.\d cycles on the machine, 2\d\d\.\d before, 483\.2 on")
        self.assertEqual(machine["memory"]["hierarchy"]["shared"]["atomic_cycles"], 9)
        vote = [one for one in machine["core"]["units"]["timing"] if one["operation"] == "VOTE"]
        self.assertEqual([one["latency"] for one in vote], [21])

    def test_what_one_sm_gets_has_to_be_on_its_way(self):
        settings = [
            ("sm_clock", {}, [2003.7]),
            ("bandwidth_l2", {}, [7.871e12]),
            ("bandwidth_dram_read", {}, [4.5678e12]),
            ("latency_l2", {}, [280]),
            ("latency_dram", {}, [700]),
            ("bandwidth_l2_of_sm", {"threads": "32"}, [8e9]),
            ("bandwidth_l2_of_sm", {"threads": "1024"}, [140e9]),
            ("bandwidth_dram_of_sm", {"threads": "1024"}, [104e9]),
        ]
        machine, _ = self.fit(with_settings(settings), "--base", "hopper_h100")
        clocks = machine["clocks"]
        # Clocks are multiples of 5 MHz, so that their edges meet.
        self.assertEqual((clocks["core_mhz"], clocks["network_mhz"]), (2005, 2005))
        # Peaks as measured are 1,535 and 3,570 MHz; the model loses some of them.
        self.assertTrue(1535 <= clocks["l2_mhz"] < 1800 and 3570 <= clocks["dram_mhz"] < 4300, clocks)
        self.assertEqual([mhz % 5 for mhz in clocks.values()], [0] * 4)
        lines = 104e9 / 2005e6 * 700 / 32
        self.assertEqual(machine["memory"]["hierarchy"]["l1_data"]["mshrs"], math.ceil(lines))
        text = (self.folder / "mine.textproto").read_text()
        self.assertRegex(
            text, r"mshrs: 1135 +# Made-up card, 2026-01-01: bandwidth_dram_of_sm 1.04e\+11 .*latency_dram"
        )
        # What the base has room for stays.
        machine, _ = self.fit(
            with_settings([one for one in settings if one[0].startswith("latency")]), "--base", "hopper_h100"
        )
        self.assertEqual(machine["memory"]["hierarchy"]["l1_data"]["mshrs"], 384)

    def test_where_the_l1_ends(self):
        def notes(rises_at, *arguments):
            curve = [
                ("latency_by_footprint", {"footprint_bytes": str(kib << 10)}, [33 if kib < rises_at else 280])
                for kib in (160, 192, 224, 240, 256, 320)
            ]
            return self.fit(with_settings(curve + [("latency_l1", {}, [33])]), "--base", "hopper_h100")[1]

        self.assertIn(
            "latency_by_footprint: the L1 holds 229376, not 245760 bytes; the machine's holds 229376, not 245760 bytes: "
            "they agree",
            notes(240),
        )
        self.assertIn(
            "holds 262144, not 327680 bytes; the machine's holds 229376, not 245760 bytes: they differ", notes(320)
        )
        self.assertIn(
            "holds 163840, not 196608 bytes; the machine's holds 229376, not 245760 bytes: they differ", notes(192)
        )
        self.assertIn("rises nowhere", notes(1000))

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
