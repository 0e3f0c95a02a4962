"""`heddle machines calibrate`: the micro-benchmarks on machines, beside a card's."""
import json
import math

import made_up_card
from heddle_command import SOURCE, CommandTest, heddle, main

CARD = SOURCE / "traces/hardware/nvidia_h200/2026-11-27-b.json.gz"


def calibrate(*arguments):
    done = heddle("machines", "calibrate", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Calibrate(CommandTest):
    def test_names_and_units_are_those_of_cards(self):
        listed = json.loads((SOURCE / "tools/hardware/benchmarks.json").read_text())["benchmarks"]
        known = {one["name"]: one for one in listed}
        rows = calibrate("toy")
        self.assertGreater(len(rows), 30)
        for row in rows:
            self.assertEqual(row["unit"], known[row["benchmark"]]["unit"], row)
            parameters = known[row["benchmark"]]["parameters"].replace(",", " ").split()
            self.assertLessEqual(set(row["parameter"]), set(parameters), row)
            # A value, or why there is none.
            self.assertNotEqual("machine" in row, bool(row.get("why")), row)
            self.assertTrue(math.isfinite(row.get("machine", 1)) and row.get("machine", 1) > 0, row)

    def test_a_fitted_machine_takes_what_its_card_took(self):
        wanted = (
            "latency_l1,latency_shared,latency_fp64,throughput_sfu,sectors_per_request,latency_barrier,latency_shuffle"
        )
        rows = calibrate("hopper_h200", "--hardware", CARD, "--only", wanted)
        self.assertEqual({row["benchmark"] for row in rows}, set(wanted.split(",")))
        for row in rows:
            self.assertLess(abs(row["machine"] / row["card"] - 1), 0.05, row)

    # Four units of 32 lanes, of which a special function takes the input for 8 cycles.
    def test_rates_are_what_units_and_intervals_say(self):
        wanted = "throughput_fp32,throughput_sfu"
        rows = {row["benchmark"]: row["machine"] for row in calibrate("hopper_h100", "--only", wanted)}
        self.assertAlmostEqual(rows["throughput_fp32"], 128, delta=1)
        self.assertAlmostEqual(rows["throughput_sfu"], 16, delta=0.1)

    # What nobody types in: where the memory is the narrowest part, half its clock is half the bandwidth.
    def test_bandwidth_follows_the_clock(self):
        whole, half = (
            calibrate("baws_gtx480", "--only", "bandwidth_dram_read", "--set", f"clocks.dram_mhz={mhz}")[0]["machine"]
            for mhz in (462, 231)
        )
        self.assertTrue(0.4 < half / whole < 0.6, (half, whole))

    def test_a_table_says_how_far_off(self):
        done = heddle("machines", "calibrate", "hopper_h200", "--hardware", CARD, "--only", "latency_l1,latency_dram")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0].split()[-4:], ["machine", "card", "off", "by"])
        self.assertRegex(done.stdout, r"latency_l1 +cycles +32\.0 +32\.0 +-0\.0 %")
        self.assertIn("The card: NVIDIA H200, 2026-11-27", done.stdout)

    def test_made_up_numbers_are_called_so(self):
        content = made_up_card.visit([])
        content["benchmark"] = [{"name": "latency_l1", "unit": "cycles", "value": [40]}]
        file = self.folder / "visit.json"
        file.write_text(json.dumps(content))
        done = heddle("machines", "calibrate", "hopper_h100", "--hardware", file, "--only", "latency_l1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("MADE UP", done.stdout)

    def test_what_a_machine_lacks_is_told(self):
        done = heddle("machines", "calibrate", "fermi_fixed", "--only", "latency_dram,latency_fp32")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"No latency_dram: machine fermi_fixed has no memory hierarchy")
        self.assertRegex(done.stdout, r"latency_fp32 +cycles +\d")

    def test_wrong_words_are_refused(self):
        cases = (
            (("nowhere",), "nowhere"),
            (
                ("toy", "--only", "latency_lunch"),
                "latency_lunch is no benchmark of the model; there are: bandwidth_dram_copy",
            ),
            (("toy", "--set", "core.lunch=1"), "lunch"),
            (("toy", "--hardware", self.folder / "absent.json"), "--hardware: "),
        )
        for words, message in cases:
            done = heddle("machines", "calibrate", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    main()
