"""`heddle sweep`: every point is run once however runs end; what is emitted and collected."""
import csv
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
from sweep_command import SMALL, SweepTest


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
            list(rows[0])[:12],
            [
                "key",
                "trace",
                "kernels",
                "machine",
                "divergence",
                "scheduler",
                "dispatch",
                "fetch",
                "memory",
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
