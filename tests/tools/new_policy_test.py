"""`heddle new-policy` writes policies that work; a shared library with policies works like those of the program."""
import json
import os
import re
import shlex
import subprocess

from heddle_command import BUILD, SAMPLE, SOURCE, CommandTest, heddle, main

SEAMS = {
    "divergence": "--divergence",
    "scheduler": "--scheduler",
    "fetch": "--fetch",
    "dispatch": "--dispatch",
    "memory": "--memory",
}
EXAMPLE = SOURCE / "examples" / "policies" / "cta_groups" / "cta_groups.cc"


class NewPolicy(CommandTest):
    def compiled(self, *sources):
        """A shared library of these files, compiled as docs/how-to/new-policy.md says."""
        path = self.folder / "policies.so"
        subprocess.run(
            [
                os.environ["CXX"],
                "-std=c++20",
                "-O0",
                "-fPIC",
                "-shared",
                f"-I{SOURCE}",
                f"-I{BUILD}",
                *map(str, sources),
                "-o",
                str(path),
            ],
            check=True,
        )
        return path

    def test_it_writes_a_policy_and_its_test(self):
        for seam in SEAMS:
            done = heddle("new-policy", seam, f"my_{seam}", "--folder", self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            policy = (self.folder / f"my_{seam}.cc").read_text()
            self.assertIn(f'.name = "my_{seam}"', policy)
            self.assertNotIn("@", policy)
            self.assertLess(max(map(len, policy.splitlines())), 140)
            self.assertIn(f"TEST(My{seam.capitalize()}, ", (self.folder / f"my_{seam}_test.cc").read_text())
        # started_policies_test builds and runs what is written.

    def test_it_makes_the_folder(self):
        folder = self.folder / "of" / "policies"
        done = heddle("new-policy", "scheduler", "mine", "--folder", folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["mine.cc", "mine_test.cc"])
        (self.folder / "file").write_text("")
        self.assert_refused(
            1,
            "new-policy",
            "scheduler",
            "mine",
            "--folder",
            self.folder / "file" / "x",
            says=["--folder", "cannot be made"],
        )

    def test_it_refuses(self):
        self.assert_refused(2, "new-policy", "schedule", "x", says=["scheduler"])
        self.assert_refused(2, "new-policy", "scheduler", "My-Policy", says=["lower-case"])
        self.assert_refused(2, "new-policy", "scheduler", "gto", says=["already"])
        heddle("new-policy", "scheduler", "mine", "--folder", self.folder)
        self.assert_refused(2, "new-policy", "scheduler", "mine", "--folder", self.folder, says=["there already"])

    def test_a_library_from_outside_the_tree(self):
        heddle("new-policy", "divergence", "my_divergence", "--folder", self.folder)
        library = self.compiled(EXAMPLE, self.folder / "my_divergence.cc")
        self.assertIn("turns", heddle("policies", "cta_groups", "--policy-library", library).stdout)
        done = heddle(
            "replay",
            SAMPLE,
            "--policy-library",
            library,
            "--divergence",
            "nrec,my_divergence",
            "--scheduler",
            "gto,cta_groups",
            "--set",
            "sms=1",
            "--json",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(runs), 4)
        self.assertEqual(len({run["total"]["thread_instructions"] for run in runs}), 1)
        nrec, started = runs[0], runs[2]
        self.assertEqual(
            started["total"]["warp_instructions"],
            nrec["total"]["warp_instructions"],
            "the starting file never rejoins either",
        )
        self.assertGreater(runs[1]["launch"][0]["scheduler_counter"]["turns"], 0)
        before = library.read_bytes()
        for option in ("-o", "--draw"):
            self.assert_refused(
                2,
                "replay",
                SAMPLE,
                "--policy-library",
                library,
                option,
                library,
                says=[option, "is a library of policies"],
            )
        self.assertEqual(library.read_bytes(), before)
        self.assert_refused(
            2, "replay", SAMPLE, "--policy-library", library, "--policy-library", library, says=["registers no policy"]
        )

    def conformance(self, library, only, program, tests="*"):
        """What a conformance program says of these policies."""
        environment = {
            **os.environ,
            "HEDDLE_CONFORMANCE_LIBRARIES": str(library),
            "HEDDLE_CONFORMANCE_ONLY": only,
            "HEDDLE_CONFORMANCE_PROGRAMS": "10",
        }
        return subprocess.run(
            [BUILD / "tests" / program, f"--gtest_filter={tests}"],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )

    def test_libraries_pass_the_conformance_tests_whatever_the_seam(self):
        for seam in SEAMS:
            heddle("new-policy", seam, f"my_{seam}", "--folder", self.folder)
        library = self.compiled(EXAMPLE, *(self.folder / f"my_{seam}.cc" for seam in SEAMS))
        for name in ("cta_groups", *(f"my_{seam}" for seam in SEAMS)):
            for program in ("policy_rules_test", "engine_equality_test"):
                with self.subTest(name, program=program):
                    done = self.conformance(library, name, program)
                    self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        for program in ("policy_rules_test", "engine_equality_test"):
            done = self.conformance(library, "my_divergence,my-fetch", program)
            self.assertNotEqual(done.returncode, 0, "a name that nothing has is no success")
            self.assertIn('there is no policy "my-fetch"; divergence: ', done.stdout)
            self.assertIn("my_dispatch", done.stdout, "what there is")
        done = self.conformance(library, "my_dispatch", "policy_rules_test", "Registries.*")
        self.assertNotEqual(done.returncode, 0, "nothing was run with it")
        self.assertIn("nothing was run with my_dispatch", done.stdout)
        done = self.conformance(self.folder / "none.so", "gto", "policy_rules_test")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("none.so", done.stdout)

    def test_policies_of_the_tree_are_the_same_outside_it(self):
        # Between them they use most of what the seams offer: views, ends of long waits and scoreboards; rounds with a
        # clock, sight of SMs and pauses; places in the cache.
        for seam, name, parameters, counter in (
            ("divergence", "subwarp_interleaving", "", "divergences"),
            ("dispatch", "dyncta", ":window=256,memory_low=8,memory_high=24,idle_cycles=200", "windows"),
            ("memory", "pcal", ":tokens=4", "without_token"),
        ):
            text = (SOURCE / "replay" / "policies" / seam / f"{name}.cc").read_text()
            source = self.folder / "outside.cc"
            source.write_text(text.replace(f'"{name}"', '"from_outside"'))
            library = self.compiled(source)
            command = ["replay", SAMPLE, "--policy-library", library, "--machine", "baws_gtx480", "--set", "sms=1"]
            with self.subTest(name, what="counters"):
                runs = []
                for one in (name, "from_outside"):
                    done = heddle(*command, f"--{seam}", one + parameters, "--bins", "1000", "--json")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    runs.append([json.loads(line)["launch"] for line in done.stdout.splitlines()])
                self.assertEqual(runs[0], runs[1])
                launch = runs[1][0][0]
                count = int(launch[f"{seam}_counter"][counter])
                self.assertGreater(count, 0)
                series = {one["name"]: one["value"] for one in launch["time_series"]["policy"]}
                self.assertEqual(sum(map(int, series[counter])), count)
                done = heddle(*command, f"--{seam}", f"from_outside{parameters}", "--counters", counter)
                self.assertIn(counter, done.stdout)
            for program in ("policy_rules_test", "engine_equality_test"):
                with self.subTest(name, program=program):
                    done = self.conformance(library, "from_outside", program)
                    self.assertEqual(done.returncode, 0, done.stdout[-3000:])

    def test_a_wrong_dispatcher_does_not_pass(self):
        heddle("new-policy", "dispatch", "my_dispatch", "--folder", self.folder)
        source = self.folder / "my_dispatch.cc"
        text = source.read_text()
        wrong = re.sub(r"(std::optional<Assignment> Next\([^{]*\{)", r"\1 throw 5;", text, count=1)
        self.assertNotEqual(wrong, text)
        source.write_text(wrong)
        done = self.conformance(self.compiled(source), "my_dispatch", "engine_equality_test", "*OneBlockOfOneWarp*")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("an exception in Next of dispatcher 'my_dispatch'", done.stdout)

    def test_folders_named_to_cmake(self):
        # Configures a build with them and compiles what comes from outside; all the rest would be the same once more.
        (self.folder / "mine").mkdir()
        done = heddle("new-policy", "fetch", "my_fetch", "--folder", self.folder / "mine")
        self.assertEqual(done.returncode, 0, done.stderr)
        build = self.folder / "build"
        generator = re.search(r"CMAKE_GENERATOR:INTERNAL=(.*)", (BUILD / "CMakeCache.txt").read_text()).group(1)
        configure = [
            os.environ["CMAKE"],
            "-S",
            SOURCE,
            "-B",
            build,
            "-G",
            generator,
            "-DHEDDLE_TRACEGEN=OFF",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_CXX_COMPILER={os.environ['CXX']}",
        ]
        done = subprocess.run(
            [*configure, f"-DHEDDLE_POLICY_DIRS={EXAMPLE.parent};{self.folder / 'mine'}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        outside = [
            command
            for command in json.loads((build / "compile_commands.json").read_text())
            if command["file"].startswith((str(EXAMPLE.parent), str(self.folder / "mine")))
        ]
        targets = {os.path.basename(one["file"]): one["command"] for one in outside}
        self.assertEqual(set(targets), {"cta_groups.cc", "cta_groups_test.cc", "my_fetch.cc", "my_fetch_test.cc"})
        for name, command in targets.items():
            is_test = name.endswith("_test.cc")
            self.assertIn(
                f"outside_{name.removesuffix('.cc')}.dir" if is_test else "heddle_outside_policies.dir", command
            )
            if name.endswith("_test.cc"):
                continue
            words = [word.replace(str(build), str(BUILD)) for word in shlex.split(command)]  # the generated headers
            del words[words.index("-o") : words.index("-o") + 2]
            subprocess.run([*words, "-fsyntax-only"], cwd=build, check=True)
        self.assert_model_covers(build, EXAMPLE.parent, self.folder / "mine")
        # A policy's object goes into the program and into the conformance tests as those of the tree do.
        if (build / "build.ninja").exists():
            ninja = (build / "build.ninja").read_text()
            for program in ("bin/heddle", "tests/policy_rules_test", "tests/outside_cta_groups_test"):
                rule = next(line for line in ninja.splitlines() if line.startswith(f"build {program}: "))
                self.assertIn("cta_groups.cc.o", rule)
                self.assertIn("my_fetch.cc.o", rule)
        empty = self.folder / "empty"
        empty.mkdir()
        done = subprocess.run(
            [*configure, f"-DHEDDLE_POLICY_DIRS={empty}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("has no .cc file", done.stdout)

    def assert_model_covers(self, build, *folders):
        """The digest that sweeps go by is over the sources in these folders, what they include there, and no tests."""
        listed = (build / "replay" / "model_sources.txt").read_text().splitlines()
        expected = [str(file) for folder in folders for file in folder.iterdir() if not file.name.endswith("_test.cc")]
        self.assertEqual(sorted(name for name in listed if name.startswith("/")), sorted(expected))
        files, made = self.folder / "files.txt", self.folder / "version.h"

        def version(names):
            files.write_text("\n".join(names) + "\n")
            subprocess.run(
                [
                    os.environ["CMAKE"],
                    f"-DROOT={SOURCE}",
                    f"-DFILES={files}",
                    "-DVERSION=1",
                    f"-DOUTPUT={made}",
                    "-P",
                    SOURCE / "tools" / "cmake" / "ModelVersion.cmake",
                ],
                check=True,
            )
            return made.read_text()

        without = version([name for name in listed if not name.startswith("/")])
        first = version(listed)
        mine = self.folder / "mine" / "my_fetch.cc"
        mine.write_text(mine.read_text() + "// changed\n")
        self.assertEqual(len({without, first, version(listed)}), 3)

    def test_libraries_that_cannot_be_loaded(self):
        self.assert_refused(2, "replay", SAMPLE, "--policy-library", self.folder / "none.so", says=["none.so"])
        self.assert_refused(2, "policies", "--policy-library", SAMPLE, says=["--policy-library"])


if __name__ == "__main__":
    main()
