"""`heddle sweep`: what is planned, that every point is run once however runs end, and what is collected."""
import csv
import hashlib
import io
import json
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import time

from heddle_command import HEDDLE, SAMPLES, heddle, main, results
from sweep_command import SweepTest

SMALL = f"""
name: "small"
trace: "{SAMPLES}/bfs.htrace"
trace: "{SAMPLES}/nqueens.htrace"
divergence: "pdom" divergence: "dwf" divergence: "nrec"
scheduler: "lrr" scheduler: "gto"
parameter {{ name: "core.schedulers" value: "1" value: "2" }}
"""


class Links(SweepTest):
    def test_results_stay_in_the_folder(self):
        for link in ("results", "failed", "results/00"):
            folder = self.plan(SMALL, name=link.replace("/", "_"))
            outside = self.folder / f"outside_{link.replace('/', '_')}"
            outside.mkdir()
            (folder / link).parent.mkdir(exist_ok=True)
            (folder / link).symlink_to(outside)
            self.assert_refused(1, "sweep", "run", folder, says=[f"{folder / link}: is a link to {outside}"])
            self.assertEqual(list(outside.iterdir()), [])

    def test_the_folder_itself_may_be_a_link(self):
        folder = self.plan(SMALL)
        link = self.folder / "link"
        link.symlink_to(folder)
        self.sweep("run", link)
        self.assertEqual(len(self.results(folder)), len(self.points(folder)))


class Planning(SweepTest):
    def test_the_product_of_all_lists(self):
        folder = self.plan(SMALL)
        points = self.points(folder)
        self.assertEqual(len(points), 2 * 3 * 2 * 2)
        self.assertEqual(len({p["key"] for p in points}), len(points))
        self.assertEqual([p["trace"] for p in points], ["bfs"] * 12 + ["nqueens"] * 12)
        self.assertEqual(points[0]["set"], ["core.schedulers=1"])
        self.assertEqual(points[6]["parameters"], {"core.schedulers": "2"})
        plan = json.loads((folder / "plan.json").read_text())
        self.assertEqual(plan["points_digest"], hashlib.sha256((folder / "points.jsonl").read_bytes()).hexdigest())

    def test_a_key_depends_on_what_is_run_and_not_on_how_it_is_written(self):
        plain = self.points(self.plan(f'name: "a" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf"', "a"))
        default = self.points(
            self.plan(f'name: "b" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf:lane_aware=true"', "b")
        )
        other = self.points(
            self.plan(f'name: "c" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf:lane_aware=false"', "c")
        )
        self.assertEqual(plain[0]["key"], default[0]["key"])
        self.assertNotEqual(plain[0]["key"], other[0]["key"])
        copy = self.folder / "elsewhere.htrace"
        copy.write_bytes((SAMPLES / "bfs.htrace").read_bytes())
        moved = self.points(self.plan('name: "d" trace: "elsewhere.htrace" divergence: "dwf"', "d"))
        self.assertEqual(plain[0]["key"], moved[0]["key"])

    def test_policies_that_do_not_go_together_are_left_out_and_told(self):
        folder = self.plan(
            f'name: "a" trace: "{SAMPLES}/bfs.htrace" divergence: "pdom" divergence: "dwf" scheduler: "dmaj"'
        )
        self.assertEqual([p["divergence"] for p in self.points(folder)], ["dwf"])
        left_out = json.loads((folder / "plan.json").read_text())["left_out"]
        self.assertEqual(left_out[0]["points"], 1)
        self.assertIn("pdom", left_out[0]["reason"])

    def test_policies_that_differ_where_a_swept_parameter_is_read_are_two(self):
        two = f'name: "a" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf:pool_entries=8" divergence: "dwf:pool_entries=128" '
        self.refused(two, ["same"])
        folder = self.plan(two + 'parameter { name: "divergence.resources" value: "limited" }')
        self.assertEqual(len({p["key"] for p in self.points(folder)}), 2)

    def test_entries_and_ways_of_a_table_are_swept_together(self):
        # Each alone does not go with the other's default, lut_entries=64 and lut_ways=4.
        head = f'name: "a" trace: "{SAMPLES}/bfs.htrace" divergence: "dwf:resources=limited" '
        self.refused(
            head
            + """parameter { name: "divergence.lut_entries" value: "4" value: "6" }
                               parameter { name: "divergence.lut_ways" value: "2" value: "4" }""",
            [
                "divergence with divergence.lut_entries=6, divergence.lut_ways=4 is impossible",
                "lut_ways=4 does not divide lut_entries=6",
            ],
        )
        self.refused(
            head + 'parameter { name: "divergence.lut_ways" value: "0" }', ["parameter divergence.lut_ways: dwf"]
        )
        folder = self.plan(
            head
            + """parameter { name: "table"
            level { name: "small" set: "divergence.lut_entries=1" set: "divergence.lut_ways=1" }
            level { name: "odd" set: "divergence.lut_entries=9" set: "divergence.lut_ways=3" } }"""
        )
        self.assertEqual(
            [p["divergence"] for p in self.points(folder)],
            ["dwf:resources=limited,lut_entries=1,lut_ways=1", "dwf:resources=limited,lut_entries=9,lut_ways=3"],
        )
        folder = self.plan(
            head
            + """design: PAIRED parameter { name: "divergence.lut_entries" value: "1" value: "6" }
            parameter { name: "divergence.lut_ways" value: "1" value: "3" }""",
            "paired",
        )
        self.assertEqual(len(self.points(folder)), 2)

    def test_ranges_levels_and_pairs(self):
        folder = self.plan(
            f"""name: "a" trace: "{SAMPLES}/bfs.htrace" design: PAIRED
          parameter {{ name: "core.schedulers" range {{ from: 1 to: 4 factor: 2 }} }}
          parameter {{ name: "size" level {{ name: "s" set: "sms=1" }} level {{ name: "m" set: "sms=2" }}
                      level {{ name: "l" set: "sms=4" }} }}"""
        )
        self.assertEqual(
            [p["set"] for p in self.points(folder)],
            [["core.schedulers=1", "sms=1"], ["core.schedulers=2", "sms=2"], ["core.schedulers=4", "sms=4"]],
        )

    def test_a_field_that_the_machine_does_not_read_is_told(self):
        head = f'name: "a" trace: "{SAMPLES}/bfs.htrace" machine: "thesis_8800gtx" machine: "baws_gtx480" '
        spec = self.folder / "spec.textproto"
        spec.write_text(head + 'parameter { name: "core.skip_empty_groups" value: "true" value: "false" }')
        told = heddle("sweep", "plan", spec, "-o", self.folder / "sweep").stderr.splitlines()
        self.assertEqual(
            told[:2],
            [
                f"heddle: note: machine thesis_8800gtx: core.skip_empty_groups={value} has no effect: "
                "core.front_end is THESIS"
                for value in ("false", "true")
            ],
        )
        self.assertEqual(
            told[2:],
            [
                "heddle: note: 1 of 4 replays are the same as another one: thesis_8800gtx "
                "core.skip_empty_groups=false under pdom, lrr, thread_blocks, round_robin and thesis_8800gtx "
                "core.skip_empty_groups=true under pdom, lrr, thread_blocks, round_robin"
            ],
        )
        # Where another parameter decides whether the field is read, it is read somewhere.
        spec.write_text(
            head.replace('machine: "thesis_8800gtx" ', "")
            + """
          parameter { name: "memory.hierarchy.l1_texture.sets" value: "0" value: "4" }
          parameter { name: "memory.hierarchy.l1_texture.ways" value: "2" value: "4" }"""
        )
        (told,) = heddle("sweep", "plan", spec, "-o", self.folder / "sweep").stderr.splitlines()
        self.assertIn(
            "1 of 4 replays are the same as another one: baws_gtx480 memory.hierarchy.l1_texture.sets=0", told
        )

    def test_policies_that_decide_alike_on_a_machine_are_told(self):
        spec = self.folder / "spec.textproto"
        head = f'name: "a" trace: "{SAMPLES}/bfs.htrace" trace: "{SAMPLES}/nqueens.htrace" machine: "baws_gtx480" '
        spec.write_text(
            head
            + 'fetch: "round_robin" fetch: "fef" parameter { name: "core.ibuffer.fetch_when" value: "EMPTY" value: "FREE_SLOT" }'
        )
        told = heddle("sweep", "plan", spec, "-o", self.folder / "sweep").stderr.splitlines()
        self.assertEqual(
            told,
            [
                "heddle: note: on machine baws_gtx480 fetch policy fef decides as round_robin does: "
                "core.ibuffer.fetch_when=EMPTY",
                "heddle: note: 2 of 8 replays are the same as another one: baws_gtx480 "
                "core.ibuffer.fetch_when=EMPTY under pdom, lrr, thread_blocks, fef and baws_gtx480 "
                "core.ibuffer.fetch_when=EMPTY under pdom, lrr, thread_blocks, round_robin",
            ],
        )
        self.sweep("run", self.folder / "sweep")
        launches = [json.loads(line)["launch"] for line in self.results(self.folder / "sweep").values()]
        self.assertEqual(len({json.dumps(one) for one in launches}), 6, "as it was told")

    def test_contradictions_are_refused(self):
        head = f'name: "a" trace: "{SAMPLES}/bfs.htrace" '
        self.refused(head + 'shedulers: "lrr"', ["line 1", '"shedulers"'])
        self.refused('name: "a"', ["no trace"])
        self.refused(head + 'scheduler: "lrr" scheduler: "lrr"', ["scheduler", "twice"])
        self.refused(head + 'divergence: "dwf" divergence: "dwf:lane_aware=true"', ["same"])
        self.refused(head + 'divergence: "pdon"', ["pdon", "pdom"])
        self.refused(head + 'divergence: "gto"', ["divergence: gto is for scheduler"])
        self.refused(head + 'trace: "no.htrace"', ["no.htrace", "No such file"])
        self.refused(head + 'kernels: "nothing"', ["nothing", "matches no"])
        self.refused(head + "seed: 1 seed: 2", ["seed", "no noise"])
        self.refused(head + 'parameter { name: "core.schedulers" }', ["core.schedulers", "exactly one"])
        self.refused(head + 'parameter { name: "core.shedulers" value: "1" }', ["core.shedulers", '"schedulers"'])
        self.refused(head + 'parameter { name: "core.schedulers" range { from: 4 to: 1 step: 1 } }', ["empty"])
        self.refused(head + 'parameter { name: "sms" range { from: 1 to: 4 step: 1 factor: 2 } }', ["one of step"])
        self.refused(
            head + 'parameter { name: "sms" value: "1" } parameter { name: "sms" value: "2" }', ["sms", "twice"]
        )
        self.refused(
            head
            + """parameter { name: "sms" value: "1" }
                               parameter { name: "x" level { name: "l" set: "sms=2" } }""",
            ["both set sms"],
        )
        self.refused(head + 'parameter { name: "divergence.lane_aware" value: "true" }', ["lane_aware", "pdom"])
        self.refused(
            head
            + """design: PAIRED parameter { name: "sms" value: "1" value: "2" }
             parameter { name: "core.schedulers" value: "1" value: "2" value: "4" }""",
            ["PAIRED", "sms has 2"],
        )
        self.refused(head + 'design: PLACKETT_BURMAN parameter { name: "sms" value: "1" }', ["two"])
        self.refused(
            head + 'parameter { name: "core.schedulers" value: "1" value: "9" }', ["core.schedulers=9", "impossible"]
        )
        self.refused(head + 'parameter { name: "sms" range { from: 1 to: 100000000 step: 1 } }', ["more"])


class Running(SweepTest):
    def test_every_result_is_that_of_replay_and_does_not_depend_on_threads(self):
        folder = self.plan(SMALL, "one")
        other = self.plan(SMALL, "four")
        self.sweep("run", folder, "--jobs", 1)
        self.sweep("run", other, "--jobs", 4)
        self.assertEqual(self.results(folder), self.results(other))
        self.assertEqual(self.sweep("collect", folder), self.sweep("collect", other))
        for point in self.points(folder)[5:7]:
            line = json.loads(self.results(folder)[point["key"]])
            self.assertEqual(line.pop("key"), point["key"])
            self.assertEqual({"key": point["key"], **line.pop("point")}, point)
            [replayed] = results(
                SAMPLES / f"{point['trace']}.htrace",
                "--divergence",
                point["divergence"],
                "--scheduler",
                point["scheduler"],
                "--set",
                point["set"][0],
            )
            self.assertEqual(line, replayed)

    def test_parts_make_the_whole_and_nothing_runs_twice(self):
        folder = self.plan(SMALL)
        self.assertIn("10 points: 10 done", self.sweep("run", folder, "--points", "3-12"))
        before = {p: p.stat().st_mtime_ns for p in folder.glob("results/*/*.json")}
        self.assertIn("24 points: 14 done, 10 had results", self.sweep("run", folder))
        self.assertEqual(before, {p: p.stat().st_mtime_ns for p in before})
        self.assertIn("24 points: 0 done, 24 had results", self.sweep("run", folder))
        self.assert_refused(2, "sweep", "run", folder, "--points", "24", says=["no point 24", "24, counted from 0"])

    def test_a_failure_is_recorded_and_touches_no_neighbour(self):
        folder = self.plan(SMALL + "max_cycles: 20000")
        out = self.sweep("run", folder, "--jobs", 2, status=1)
        status = json.loads(self.sweep("status", folder, "--json"))
        self.assertGreater(status["done"], 0)
        self.assertGreater(status["failed"], 0)
        self.assertEqual(status["done"] + status["failed"], 24)
        self.assertIn(f"{status['failed']} failed", out)
        self.assertIn("20000", status["reasons"][0]["reason"].replace(",", ""))
        failures = {p: p.stat().st_mtime_ns for p in folder.glob("failed/*.json")}
        self.assertEqual(len(failures), status["failed"])
        self.assertIn("left alone", self.sweep("run", folder, status=1))
        self.assertEqual(failures, {p: p.stat().st_mtime_ns for p in failures})
        self.assertIn(f"{status['failed']} failed", self.sweep("run", folder, "--retry-failed", status=1))

    def test_processes_that_are_killed_lose_and_double_nothing(self):
        whole = self.plan(SMALL, "whole")
        self.sweep("run", whole)
        folder = self.plan(SMALL, "killed")
        while len(self.results(folder)) < 20:
            before = len(self.results(folder))
            processes = [
                subprocess.Popen(
                    [HEDDLE, "sweep", "run", str(folder), "--jobs", "2", "--quiet"], stdout=subprocess.DEVNULL
                )
                for _ in range(2)
            ]
            deadline = time.monotonic() + 60
            while len(self.results(folder)) < before + 3 and time.monotonic() < deadline:
                time.sleep(0.002)
            for process in processes:
                process.send_signal(signal.SIGKILL)
                process.wait()
        self.sweep("run", folder)
        self.assertEqual(self.results(folder), self.results(whole))
        self.assertEqual(self.sweep("collect", folder), self.sweep("collect", whole))
        self.assertEqual(json.loads(self.sweep("status", folder, "--json"))["unfinished_files"], 0)

    def test_two_at_once_share_the_work(self):
        folder = self.plan(SMALL)
        processes = [
            subprocess.Popen([HEDDLE, "sweep", "run", str(folder), "--quiet"], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        done = sum(int(process.communicate()[0].split(": ")[1].split(" done")[0]) for process in processes)
        self.assertEqual(done, 24)
        self.assertEqual(len(self.results(folder)), 24)

    def test_a_disk_that_is_full(self):
        folder = self.plan(SMALL)
        self.sweep("run", folder, "--points", "0-1")
        before = self.results(folder)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.assert_refused(
            1, "sweep", "run", folder, preexec_fn=limit, says=["cannot write", "File too large", "nothing"]
        )
        self.assertEqual(self.results(folder), before)
        self.assertEqual(list(folder.glob("failed/*")), [])
        self.assertIn("22 done", self.sweep("run", folder))

    def test_no_permission(self):
        folder = self.plan(SMALL)
        self.sweep("run", folder, "--points", "0-1")
        before = self.results(folder)
        options = {}
        if os.geteuid() == 0:  # root may write everywhere
            self.folder.chmod(0o755)
            nobody = 65534
            options["preexec_fn"] = lambda: os.setuid(nobody)
        else:
            folder.chmod(0o500)
            self.addCleanup(folder.chmod, 0o700)
        try:
            self.assert_refused(1, "sweep", "run", folder, says=["Permission denied"], **options)
        except PermissionError:
            self.skipTest("the program is in a folder that only root may read")
        self.assertEqual(self.results(folder), before)
        self.assertIn("22 done", self.sweep("run", folder))

    def test_a_place_that_cannot_be_written(self):
        folder = self.plan(SMALL)
        (folder / "results").write_text("in the way")
        self.assert_refused(1, "sweep", "run", folder, says=["results"])

    def test_a_trace_that_changed_is_told_and_the_others_run(self):
        for name in ("bfs", "nqueens"):
            (self.folder / f"{name}.htrace").write_bytes((SAMPLES / f"{name}.htrace").read_bytes())
        folder = self.plan('name: "a" trace: "bfs.htrace" trace: "nqueens.htrace"')
        (self.folder / "bfs.htrace").write_bytes((SAMPLES / "spmv.htrace").read_bytes())
        done = heddle("sweep", "run", folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another trace", done.stderr)
        self.assertIn("1 done, 0 had results, 1 not run", done.stdout)
        self.assertEqual(list(folder.glob("failed/*")), [])

    def test_a_plan_that_changed(self):
        folder = self.plan(SMALL)
        digest = json.loads((folder / "plan.json").read_text())["points_digest"]
        self.sweep("run", folder, "--points", "0-11", "--plan", digest[:12])
        self.plan(SMALL.replace('"nrec"', '"mimd"'))
        self.assert_refused(2, "sweep", "run", folder, "--plan", digest[:12], says=["planned anew", "emit again"])
        self.assertIn("24 points: 16 done, 8 had results", self.sweep("run", folder))
        plan = json.loads((folder / "plan.json").read_text())
        plan["model_version"] = "0.0.1+123"
        (folder / "plan.json").write_text(json.dumps(plan))
        self.assert_refused(1, "sweep", "run", folder, says=["0.0.1+123", "plan the sweep again"])

    def test_a_name_that_a_shell_would_read_is_refused(self):
        folder = self.plan(SMALL)
        plan = json.loads((folder / "plan.json").read_text())
        for name in ("", "a b", "a\ntouch here", "a;b", "$(a)", "\u00e9"):
            plan["name"] = name
            (folder / "plan.json").write_text(json.dumps(plan))
            for command in (["emit", folder, "--slurm"], ["status", folder], ["run", folder]):
                self.assert_refused(1, "sweep", *command, says=["plan.json: its name", "other characters than letters"])
        self.assertFalse((folder / "sweep.sbatch").exists())

    def test_a_report_shows_the_points_of_the_present_plan(self):
        one = f'name: "a" trace: "{SAMPLES}/nqueens.htrace" divergence: "pdom" scheduler: "lrr" parameter {{ name: "sms" value: "1" }}'
        folder = self.plan(one)
        self.sweep("run", folder)
        self.plan(one.replace('value: "1"', 'value: "2"'))
        line = self.assert_refused(
            1, "report", folder, "--json", says=["left out 1 result of points", "not in its plan"]
        )
        self.assertIn("heddle sweep run", line)
        self.sweep("run", folder)
        done = heddle("report", folder, "--json")
        self.assertEqual([machine["name"] for machine in json.loads(done.stdout)["machines"]], ["fermi_fixed sms=2"])
        self.assertEqual(done.stderr, f"heddle: note: {folder}: left out 1 result of points that are not in its plan\n")
        # The files themselves can still be asked for.
        self.assertEqual(len(json.loads(heddle("report", folder / "results", "--json").stdout)["machines"]), 2)


class Emitting(SweepTest):
    def test_a_job_list_runs_with_xargs_and_then_nothing_is_missing(self):
        folder = self.plan(SMALL)
        self.sweep("run", folder, "--points", "0,5,23")
        self.sweep("emit", folder, "--joblist", "--points-per-job", 4)
        jobs = (folder / "jobs.txt").read_text()
        self.assertEqual(len(jobs.splitlines()), 6)
        self.assertIn("--points 1-4", jobs)
        subprocess.run(
            ["xargs", "-P", "2", "-I{}", "sh", "-c", "{}"], input=jobs, text=True, check=True, stdout=subprocess.DEVNULL
        )
        self.assertEqual(len(self.results(folder)), 24)
        self.assertIn("nothing is missing", heddle("sweep", "emit", folder, "--joblist").stderr)

    def test_slurm_arrays_have_at_most_a_thousand_elements(self):
        folder = self.plan(
            f"""name: "many" trace: "{SAMPLES}/bfs.htrace" scheduler: "lrr" scheduler: "gto"
            parameter {{ name: "sms" range {{ from: 1 to: 600 step: 1 }} }}"""
        )
        script = self.sweep(
            "emit", folder, "--slurm", "--minutes", 0.01, "--rate", 1, "-o", "-", "--sbatch", "--time=9"
        )
        self.assertIn("#SBATCH --array=1-1000%100\n", script)
        self.assertIn("#SBATCH --time=9\n", script)
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        covered = [
            n
            for line in script.splitlines()
            if line.startswith("  ") and line.strip()[0].isdigit()
            for n in range(int(line.split("-")[0]), int(line.split("-")[-1]) + 1)
        ]
        self.assertEqual(covered, list(range(1200)))

    def test_a_snakefile_has_one_rule_per_chunk(self):
        folder = self.plan(SMALL)
        text = self.sweep("emit", folder, "--snakemake", "--points-per-job", 6, "-o", "-")
        self.assertEqual(text.count("\nrule points_"), 4)
        self.assertIn("--points 18-23", text)


class Collecting(SweepTest):
    def test_one_row_per_point_with_the_numbers_of_the_results(self):
        folder = self.plan(SMALL)
        self.sweep("run", folder, "--points", "0-19")
        done = heddle("sweep", "collect", folder, "-o", self.folder / "t.csv", "--sqlite", self.folder / "t.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 points have no result", done.stderr)
        rows = list(csv.DictReader(io.StringIO((self.folder / "t.csv").read_text())))
        self.assertEqual([row["key"] for row in rows], [p["key"] for p in self.points(folder)[:20]])
        self.assertEqual(
            list(rows[0])[:11],
            [
                "key",
                "trace",
                "kernels",
                "machine",
                "divergence",
                "scheduler",
                "dispatch",
                "fetch",
                "seed",
                "set.core.schedulers",
                "launches",
            ],
        )
        for row in rows:
            result = json.loads((folder / "results" / row["key"][:2] / f"{row['key']}.json").read_text())
            self.assertEqual(int(row["cycles"]), result["total"]["cycles"])
            self.assertEqual(int(row["warp_instructions"]), result["total"]["warp_instructions"])
            self.assertEqual(float(row["ipc"]), result["total"]["ipc"])
            self.assertEqual(
                int(row["scheduler_cycles.idle"]) if row["scheduler_cycles.idle"] else None,
                sum(launch["scheduler_cycles"]["idle"] for launch in result["launch"])
                if "scheduler_cycles" in result["launch"][0]
                else None,
            )
        with sqlite3.connect(self.folder / "t.db") as database:
            stored = database.execute("SELECT key, cycles FROM results").fetchall()
        self.assertEqual(stored, [(row["key"], int(row["cycles"])) for row in rows])
        # Where a database goes it behaves as every other output.
        self.sweep("collect", folder, "--sqlite", "/dev/null")
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        (self.folder / "link.db").symlink_to("u.db")
        (self.folder / "u.db").touch()
        self.sweep("collect", folder, "--sqlite", self.folder / "link.db")
        self.assertTrue((self.folder / "link.db").is_symlink())
        self.assertEqual((self.folder / "u.db").read_bytes(), (self.folder / "t.db").read_bytes())
        self.assert_refused(
            2,
            "sweep",
            "collect",
            folder,
            "--sqlite",
            self.folder / "x",
            "-o",
            self.folder / "x",
            says=["--sqlite", str(self.folder / "x")],
        )
        launches = list(csv.DictReader(io.StringIO(self.sweep("collect", folder, "--per-launch"))))
        self.assertEqual(sum(int(row["cycles"]) for row in launches), sum(int(row["cycles"]) for row in rows))

    def test_a_database_that_does_not_fit_on_the_disk_leaves_nothing(self):
        folder = self.plan(SMALL)
        self.sweep("run", folder)
        target = self.folder / "t.db"
        target.write_text("old")
        self.assert_refused(
            1,
            "sweep",
            "collect",
            folder,
            "--sqlite",
            target,
            says=[str(target), "nothing was written"],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)),
        )
        self.assertEqual(target.read_text(), "old")
        self.assertEqual([p.name for p in self.folder.glob("t.db*")], ["t.db"])

    def test_outputs_never_replace_the_sweeps_own_files(self):
        folder = self.plan(SMALL)
        self.sweep("run", folder, "--points", "0")
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        (result,) = folder.glob("results/*/*.json")
        (self.folder / "link").symlink_to(folder)
        for output in (
            folder / "plan.json",
            folder / "points.jsonl",
            result,
            folder / "results" / "table.csv",
            self.folder / "link" / "failed" / "x",
            self.folder / "link" / "plan.json",
            folder / "lock",
            SAMPLES / "bfs.htrace",
        ):
            for command in (
                ["collect", folder, "-o"],
                ["collect", folder, "--sqlite"],
                ["emit", folder, "--joblist", "-o"],
            ):
                self.assert_refused(2, "sweep", *command, output, says=[command[-1], "sweep"])
        self.assertEqual({path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}, before)

    def test_damaged_and_foreign_results_are_refused(self):
        folder = self.plan(SMALL)
        self.sweep("run", folder, "--points", "0-1")
        first, second = sorted(folder.glob("results/*/*.json"))
        good = first.read_text()
        for text, says in (
            (good[:100], "no JSON"),
            (good.replace('"schema":1', '"schema":0', 1), "schema 0"),
            (second.read_text(), "another point"),
            ("{}", "no key"),
        ):
            first.write_text(text)
            self.assert_refused(1, "sweep", "collect", folder, says=[first.name, says, "delete the file"])
        # What a newer program wrote is nothing to throw away.
        first.write_text(good.replace('"schema":1', '"schema":7', 1))
        line = self.assert_refused(1, "sweep", "collect", folder, says=[first.name, "schema 7", "newer heddle"])
        self.assertNotIn("delete", line)
        first.unlink()
        self.assertIn("1 done, 1 had", self.sweep("run", folder, "--points", "0-1"))
        self.sweep("collect", folder)

    def test_effects_of_a_screening_design(self):
        names = ["core.schedulers", "sms"]
        folder = self.plan(
            f"""name: "pb" trace: "{SAMPLES}/bfs.htrace" divergence: "pdom" divergence: "dwf"
            design: PLACKETT_BURMAN parameter {{ name: "{names[0]}" value: "1" value: "2" }}
            parameter {{ name: "{names[1]}" value: "2" value: "8" }}"""
        )
        self.assertEqual(len(self.points(folder)), 2 * 4)
        self.sweep("run", folder)
        report = json.loads(self.sweep("effects", folder, "--json"))
        self.assertEqual(len(report["designs"]), 2)
        rows = [row for row in csv.DictReader(io.StringIO(self.sweep("collect", folder))) if row["divergence"] == "dwf"]
        for name, high, effect in zip(names, "28", report["designs"][1]["effects"]):
            mean = lambda side: sum(int(r["cycles"]) for r in rows if (r[f"set.{name}"] == high) == side) / 2
            self.assertAlmostEqual(effect["effect"], mean(True) - mean(False))
        speed_up = json.loads(self.sweep("effects", folder, "--json", "--baseline", "pdom"))
        self.assertEqual([d["divergence"] for d in speed_up["designs"]], ["dwf"])
        self.assert_refused(2, "sweep", "effects", folder, "--metric", "cycle", says=["cycle", "cycles"])
        self.assert_refused(2, "sweep", "effects", self.plan(SMALL, "other"), says=["FULL_FACTORIAL"])


if __name__ == "__main__":
    main()
