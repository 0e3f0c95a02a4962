#!/usr/bin/env python3
"""Programs whose recordings cannot stand for every order of threads: certificates, lockstep, and what a replay does."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ["HEDDLE_BIN"])
SOURCES = pathlib.Path(__file__).resolve().parent / "validity"


class Validity(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def run_program(self, *command, status=0):
        done = subprocess.run(
            [str(word) for word in command], cwd=self.work, capture_output=True, text=True, timeout=240, check=False
        )
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}{done.stderr}")
        return done

    def build(self, name):
        self.run_program(BIN / "heddle-nvcc", "-O1", SOURCES / f"{name}.cu", "-o", name)

    def capture(self, name, *options):
        trace = self.work / f"{name}{len(list(self.work.glob('*.htrace')))}.htrace"
        done = self.run_program(BIN / "heddle", "capture", "--quiet", *options, "-o", trace, "--", f"./{name}")
        self.run_program(BIN / "heddle", "trace", "check", trace)
        return trace, done

    def info(self, trace):
        return json.loads(self.run_program(BIN / "heddle", "trace", "info", "--json", trace).stdout)["launch"]

    def line(self, name, text):
        """Number of the one source line that holds the text."""
        lines = [i for i, line in enumerate((SOURCES / f"{name}.cu").read_text().splitlines(), 1) if text in line]
        self.assertEqual(len(lines), 1, text)
        return lines[0]

    def test_warp_synchronous_code_is_right_in_lockstep_and_told_without(self):
        self.build("warp_reduction")
        plain, done = self.capture("warp_reduction")
        self.assertEqual(done.stdout, "wrong\n")
        self.assertIn("--lockstep", done.stderr)
        self.assertIn(f"warp_reduction.cu:{self.line('warp_reduction', 's[t + 32]')}", done.stderr)
        together, done = self.capture("warp_reduction", "--lockstep")
        self.assertEqual(done.stdout, "right\n")
        self.assertNotIn("lockstep", done.stderr)
        again, _ = self.capture("warp_reduction", "--lockstep")
        self.assertEqual(together.read_bytes(), again.read_bytes())
        for trace in (plain, together):
            self.assertGreater(len(self.info(trace)[0]["certificate"]["hand_off"]), 0)
            refused = self.run_program(BIN / "heddle", "replay", trace, "--divergence", "dwf", status=1)
            self.assertIn("relies on the threads of a warp running in lockstep", refused.stderr)
            done = self.run_program(BIN / "heddle", "replay", trace, "--divergence", "pdom,dwf")
            self.assertIn("skipped dwf", done.stderr)
            self.assertNotIn("dwf", done.stdout)
            done = self.run_program(BIN / "heddle", "replay", trace, "--divergence", "pdom,dwf", "--force-regrouping")
            self.assertIn("dwf", done.stdout)
        self.assertIn("not recorded in lockstep", self.run_program(BIN / "heddle", "replay", plain).stdout)

    def test_a_fault_is_told_with_the_hand_offs_in_front_of_it(self):
        self.build("warp_scan_fault")
        done = self.run_program("./warp_scan_fault")
        self.assertEqual(done.stdout, "wrong\n")
        self.assertIn("`heddle capture` tells the source line, and whether threads of a warp share data", done.stderr)
        for ways in (["--jobs", "1"], ["--jobs", "3"], ["--own-stacks"]):
            done = self.run_program(
                BIN / "heddle", "capture", "--quiet", *ways, "-o", "fault.htrace", "--", "./warp_scan_fault", status=1
            )
            self.assertEqual(done.stdout, "wrong\n")
            self.assertIn(f"at warp_scan_fault.cu:{self.line('warp_scan_fault', 'if the scan is right')}", done.stderr)
            self.assertIn(
                "threads of a warp share data without synchronization: what is stored at "
                f"warp_scan_fault.cu:{self.line('warp_scan_fault', 's[i] = 0')}",
                done.stderr,
            )
            self.assertIn("capture it with --lockstep", done.stderr)
            self.assertNotIn("that no thread of the block has written", done.stderr)
        done = self.run_program(
            BIN / "heddle", "capture", "--quiet", "--lockstep", "-o", "right.htrace", "--", "./warp_scan_fault"
        )
        self.assertEqual(done.stdout, "right\n")

    def test_a_search_whose_frontiers_depend_on_the_order_is_flagged_where_it_does(self):
        self.build("racy_search")
        self.assertEqual(self.run_program("./racy_search").stdout, "all right\n")
        plain, _ = self.capture("racy_search")
        trace, done = self.capture("racy_search", "--certify", "3")
        self.assertEqual(done.stdout, "all right\n", "the program goes on with the recorded run's results")
        again, _ = self.capture("racy_search", "--certify", "3")
        self.assertEqual(trace.read_bytes(), again.read_bytes())
        self.run_program(BIN / "heddle", "trace", "diff", plain, trace)

        launches = self.info(trace)
        self.assertTrue(all(launch["certificate"]["runs"] == 3 for launch in launches))
        *search, scale = launches
        self.assertEqual(scale["certificate"].get("instruction", []), [], "the last kernel is unchanged")
        changed = [launch for launch in search if launch["certificate"].get("instruction")]
        self.assertGreater(len(changed), 2)
        text = self.run_program(BIN / "heddle", "trace", "info", trace).stdout
        self.assertIn(f"racy_search.cu:{self.line('racy_search', 'next[atomicAdd(next_size')}", text)
        self.assertNotIn(f"racy_search.cu:{self.line('racy_search', 'const int vertex =')}", text.split("changed")[-1])

        result = json.loads(self.run_program(BIN / "heddle", "replay", trace, "--json").stdout)
        notes = "\n".join(result["note"])
        self.assertIn("paths change under 3 other orders", notes)
        self.assertIn("certified unchanged under 3 other orders", notes)
        table = self.run_program(BIN / "heddle", "replay", trace).stdout
        self.assertIn("paths change under 3 other orders", table)
        self.assertIn("not certified", self.run_program(BIN / "heddle", "replay", plain).stdout)

    def test_reads_that_overtake_the_block_whose_data_they_read_are_counted(self):
        self.build("block_order")
        plain, done = self.capture("block_order")
        self.assertEqual(done.stdout, "right\n")
        refused = self.run_program(BIN / "heddle", "replay", plain, "--check-order", status=1)
        self.assertIn("capture it with --record-writers", refused.stderr)
        trace, _ = self.capture("block_order", "--record-writers")
        again, _ = self.capture("block_order", "--record-writers")
        self.assertEqual(trace.read_bytes(), again.read_bytes())
        self.run_program(BIN / "heddle", "trace", "diff", plain, trace)

        chain, exchange = self.info(trace)
        self.assertNotIn("last_writers", exchange, "behind barriers a block reads what its own threads wrote")
        (pair,) = chain["last_writers"]
        self.assertEqual(pair["source"], f"block_order.cu:{self.line('block_order', '// of the block before')}")
        self.assertEqual(pair["writer_source"], f"block_order.cu:{self.line('block_order', '// for the next block')}")
        self.assertEqual(pair["reads"], 23 * 64)
        self.assertEqual(pair["least_block_distance"], 1)
        dump = self.run_program(
            BIN / "heddle", "trace", "dump", trace, "--launches", "0", "--blocks", "5", "--threads", "7"
        )
        self.assertIn("written by block 4, thread 7", dump.stdout)

        def order(*options):
            lines = self.run_program(BIN / "heddle", "replay", trace, "--check-order", "--json", *options).stdout
            return [json.loads(line) for line in lines.splitlines()]

        (together,) = order()
        found = together["launch"][0]["read_order"]
        self.assertEqual((found["reads"], found["writer_absent"]), (23 * 64, 0))
        self.assertGreater(found["overtook"], 22 * 64, "all blocks begin at once")
        example = found["instruction"][0]["example"][0]
        self.assertEqual(example["written_by"]["block"], example["block"] - 1)
        self.assertIn("overtook their writer", "\n".join(together["note"]))
        self.assertIn(
            "overtook their writer", self.run_program(BIN / "heddle", "replay", trace, "--check-order").stdout
        )
        # Blocks one after the other keep the order, and a block's own barriers do under every policy.
        alone = order("--set", "sms=1", "--set", "core.max_blocks=1", "--divergence", "pdom,nrec,dwf,tbc")
        self.assertEqual([run["launch"][0]["read_order"]["overtook"] for run in alone], [0] * 4)
        everywhere = order("--divergence", "all", "--kernels", "Exchange")
        self.assertGreater(len(everywhere), 10)
        for run in everywhere:
            self.assertEqual(
                run["launch"][0]["read_order"], {"reads": 0, "overtook": 0, "writer_absent": 0, "instruction": []}
            )
        # What is checked changes nothing else.
        (unchecked,) = [json.loads(self.run_program(BIN / "heddle", "replay", trace, "--json").stdout)]
        for launch, checked in zip(unchecked["launch"], together["launch"]):
            del checked["read_order"]
            self.assertEqual(launch, checked)
        refused = self.run_program(
            BIN / "heddle",
            "capture",
            "--record-writers",
            "--resident-blocks",
            "4",
            "-o",
            "no.htrace",
            "--",
            "./block_order",
            status=2,
        )
        self.assertIn("--record-writers", refused.stderr)

    def test_a_header_that_must_become_newer_in_the_middle_of_a_run_loses_nothing(self):
        """Hand-offs are found when launches, copies and programs have been written under an older version."""
        (self.work / "late.cu").write_text(
            """
            #include <cstdio>
            __global__ void First(int* data) { data[threadIdx.x] = threadIdx.x; }
            __global__ void HandOff(int* data) {
              __shared__ volatile int words[32];
              words[threadIdx.x] = data[threadIdx.x];
              data[threadIdx.x] = words[31 - threadIdx.x];
            }
            int main() {
              int* data;
              int host[32];
              cudaMalloc(&data, sizeof(host));
              for (int round = 0; round < 2; ++round) {
                cudaMemset(data, 0, sizeof(host));
                First<<<3, 32>>>(data);
                HandOff<<<1, 32>>>(data);
                First<<<2, 32>>>(data);
                cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
              }
              std::printf("%d\\n", host[31]);
            }"""
        )
        self.run_program(BIN / "heddle-nvcc", "late.cu", "-o", "late")
        late, done = self.capture("late")
        self.assertEqual(done.stdout, "31\n")
        together, _ = self.capture("late", "--lockstep")  # has the newest version from the start
        self.run_program(BIN / "heddle", "trace", "diff", late, together)
        launches = self.info(late)
        self.assertEqual([launch["kernel"].split("(")[0] for launch in launches], ["First", "HandOff", "First"] * 2)
        self.assertEqual(
            [bool(launch.get("certificate", {}).get("hand_off")) for launch in launches], [False, True, False] * 2
        )
        header = json.loads(self.run_program(BIN / "heddle", "trace", "info", "--json", late).stdout)["header"]
        self.assertGreaterEqual(header["minor"], 2)


if __name__ == "__main__":
    unittest.main()
