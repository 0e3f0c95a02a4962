"""What the campaigns are: for tools/campaign. Parts take some minutes each."""
import json
import os
import re
import subprocess
import sys

from campaign_runner import Campaign, Part
from policy_tests import OWN

# Tests of random programs that a slice runs at HEDDLE_CONFORMANCE_PROGRAMS=200, by campaign; number of slices; and what
# a slice of each has.
RULES = {"policy_rules_test": {"random programs": 379}, "sample_traces_test": {"samples": 5}}
ENGINES = {
    "engine_equality_test": {"random programs": 244},
    "front_end_equality_test": {"random programs": 180},
    "buffer_equality_test": {"random programs": 80},
    "seam_equality_test": {"random programs": 360},
}
MODELS = {
    "second_reading_test": {"random programs": 400},
    "harp_model_test": {"random programs": 550},
    "lwm_equivalences_test": {"random programs": 350},
    "split_equivalences_test": {"random programs": 850},
    "block_wide_equivalence_test": {"random programs": 450},
    "dwf_hardware_test": {"random programs": 140},
}
PARAMETERS = {
    "fuzzed_parameters_test": {"random programs": 150},
    "metrics_test": {"random programs": 120},
    "starvation_test": {"random programs": 140},
    "limit_study_test": {"random programs": 210},
}
LIVENESS = {"liveness_test": {"machines": 400}}

PAPERS = ("baws2016", "capri2012", "fung2008", "harp2014", "vtw")


def tests_of(build, *options):
    """Names of the tests of a build, those first that others need."""
    listed = subprocess.run(
        ["ctest", "--show-only=json-v1", *options], cwd=build, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    tests = json.loads(listed)["tests"]
    needs = {"FIXTURES_REQUIRED"}
    return [
        test["name"] for test in sorted(tests, key=lambda test: bool(needs & {p["name"] for p in test["properties"]}))
    ]


def ctest(build, name, *options):
    """One test alone: what it needs has been run before."""
    return ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "-FA", ".*", *options] + [
        "-R",
        f"^{re.escape(name)}$",
    ]


def campaigns(source, build):
    """{name: campaign} for a source tree and a build folder."""
    jobs = str(os.cpu_count() or 1)
    found = {}

    def campaign(name, summary, prepare, parts):
        found[name] = Campaign(name, summary, prepare, parts)

    def built(*targets):
        return [["cmake", "--build", build, "-j", jobs, "--target", *targets]]

    def slices(name, summary, tests, count):
        """The tests of `tests` in that many slices, each with other random programs."""

        def parts():
            for number in range(count):
                for test, amount in tests.items():
                    yield Part(
                        f"{test} {number}",
                        [build / "tests" / test, "--gtest_brief=1"],
                        {"HEDDLE_CONFORMANCE_PROGRAMS": "200", "HEDDLE_CONFORMANCE_SLICE": str(number)},
                        amount,
                    )

        campaign(name, summary, built(*tests), lambda: list(parts()))

    slices(
        "rules", "every policy with every other: the rules on thousands of random programs, and the samples", RULES, 20
    )
    slices("engines", "the engine against the plain one, issue by issue, on thousands of random programs", ENGINES, 20)
    slices("models", "policies against models of their papers, and against one another at their limits", MODELS, 20)
    slices("parameters", "parameters at random, metrics, starvation, limits, on random programs", PARAMETERS, 20)
    slices("liveness", "12,000 machines in which everything is scarce run to their ends", LIVENESS, 30)

    campaign(
        "ptx",
        "10,000 random PTX programs, and 2,500 asm statements, compute what plain C++ functions do, recorded or not",
        built("ptx_source_random_test"),
        lambda: [
            Part(
                f"programs from {first}",
                [build / "tests" / "ptx_source_random_test", "--gtest_brief=1"],
                {"HEDDLE_RANDOM_PTX": "500", "HEDDLE_RANDOM_PTX_SEED": str(first)},
                {"programs": 500},
            )
            for first in range(1000, 11000, 500)
        ],
    )

    def with_disassembler(test):
        return ["bash", "-c", 'PATH=$PATH:$(tools/install-nvdisasm) exec "$0" --gtest_brief=1', build / "tests" / test]

    campaign(
        "machine-execution",
        "15,000 random PTX programs assembled for sm_80 or sm_90 compute what plain C++ functions do, 1,000 of matrices "
        "what their PTX does, and our kernels are right (needs a CUDA toolkit)",
        [
            [source / "tools" / "install-nvdisasm", "--is-wanted"],
            *built("machine_source_random_test", "machine_source_matrices_test", "machine_source_kernels_test"),
        ],
        lambda: [
            Part(
                f"programs of {architecture} from {first}",
                with_disassembler("machine_source_random_test"),
                {
                    "HEDDLE_RANDOM_MACHINE": "250",
                    "HEDDLE_RANDOM_MACHINE_SEED": str(first),
                    "HEDDLE_RANDOM_MACHINE_ARCHITECTURE": architecture,
                },
                {"programs": 750},
            )
            for first in range(1000, 3500, 250)
            for architecture in ("sm_80", "sm_90")
        ]
        + [
            Part(
                f"programs of matrices from {first}",
                with_disassembler("machine_source_matrices_test"),
                {
                    "GTEST_FILTER": "RandomMatrices*",
                    "HEDDLE_RANDOM_MACHINE": "50",
                    "HEDDLE_RANDOM_MACHINE_SEED": str(first),
                },
                {"programs": 50},
            )
            for first in range(1000, 2000, 50)
        ]
        + [
            Part(
                "kernels",
                with_disassembler("machine_source_kernels_test"),
                {"HEDDLE_ALL_KERNELS": "1"},
                {"tests": 1},
            )
        ],
    )

    def preset(name, folder, *targets, options=()):
        return [
            ["cmake", "--preset", name, *options],
            ["cmake", "--build", source / "build" / folder, "-j", jobs, *(["--target", *targets] if targets else [])],
        ]

    def every_test(folder, options, environment):
        def parts():
            return [
                Part(name, ctest(folder, name, *options), environment, {"tests": 1})
                for name in tests_of(folder, *options)
            ]

        return parts

    # Some of the random programs: the sanitizers look for other faults than wrong numbers, and are slow.
    campaign(
        "sanitizers",
        "everything but capture with address and undefined-behaviour sanitizers: every test",
        preset("sanitize", "sanitize", options=["-DHEDDLE_TRACEGEN=OFF"]),
        every_test(source / "build" / "sanitize", (), {"HEDDLE_CONFORMANCE_PROGRAMS": "16"}),
    )
    bare = source / "build" / "without-llvm"
    campaign(
        "without-llvm",
        "everything is built without LLVM and without precompiled headers, warnings are errors, and passes its tests",
        [
            ["cmake", "-S", source, "-B", bare, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DHEDDLE_WERROR=ON"]
            + ["-DHEDDLE_TRACEGEN=OFF", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"],
            ["cmake", "--build", bare, "-j", jobs],
        ],
        every_test(bare, (), {}),
    )
    verdicts = source / "build" / "campaigns" / "mutants" / "verdicts.json"
    campaign(
        "mutants",
        "ten rules of each policy's file are broken: do the tests notice?",
        built("all"),
        lambda: [
            Part(
                policy,
                [source / "tools" / "mutate-policies", "--build", build, "--sample", "10", "--log", verdicts, policy],
                tally={
                    "mutants": rf"^\| `{policy}\.cc` \| (\d+)",
                    "noticed": rf"^\| `{policy}\.cc` \| \d+ \| (\d+)",
                },
            )
            for policy in sorted(OWN)
        ],
    )
    fuzz = source / "build" / "fuzz"
    campaign(
        "fuzz",
        "an hour of hostile traces for the reader, under libFuzzer",
        preset("fuzz", "fuzz", "trace_reader_fuzzer") + [["mkdir", "-p", fuzz / "corpus"]],
        lambda: [
            Part(
                f"minutes {first} to {first + 5}",
                [fuzz / "bin" / "trace_reader_fuzzer", "-max_total_time=300", "-timeout=90", "-rss_limit_mb=4096"]
                + ["-print_final_stats=1", f"-artifact_prefix={source / 'build' / 'campaigns' / 'fuzz'}/"]
                + [fuzz / "corpus", source / "tests" / "fuzz" / "corpus"],
                tally={"inputs": r"stat::number_of_executed_units: (\d+)"},
            )
            for first in range(0, 60, 5)
        ],
    )
    campaign(
        "memory",
        "memory stays bounded: 10^10 thread-instructions, 10^6 blocks, a thread of 10^9 instructions",
        built("bounded_memory_test"),
        lambda: [Part("bounded_memory_full", ctest(build, "bounded_memory_full", "-C", "full"))],
    )
    campaign(
        "hardware",
        "visits to a card that a stand-in takes the place of, with every tool broken in every way",
        [],
        lambda: [Part("hardware_visit_test", ctest(build, "hardware_visit_test"), {"HEDDLE_ALL_VISITS": "1"})],
    )
    campaign(
        "kernels",
        "every kernel, not only some, in the loop over virtual blocks, and from its PTX text",
        built("virtual_blocks_test", "heddle", "heddle-capture")
        # The usual traces, which those from PTX are compared with.
        + [["ctest", "--test-dir", build, "--output-on-failure", "-R", r"^kernel_capture\..*\.tiny$"]],
        lambda: [
            Part("virtual_blocks_test", [build / "tests" / "virtual_blocks_test"], {"HEDDLE_ALL_KERNELS": "1"}),
            Part("kernel_ptx_source", ctest(build, "kernel_ptx_source"), {"HEDDLE_ALL_KERNELS": "1"}),
        ],
    )
    campaign(
        "machine",
        "machine code of every kernel for all four architectures, read back (needs a CUDA toolkit)",
        # Without a toolkit the test would be skipped, and pass.
        [[source / "tools" / "install-nvdisasm", "--is-wanted"], *built("machine_toolkit_test")],
        lambda: [
            Part(
                "machine_toolkit_test",
                with_disassembler("machine_toolkit_test"),
                {"HEDDLE_ALL_KERNELS": "1"},
                tally={"modules": r": (\d+) modules,", "instructions": r" modules, (\d+) instructions"},
            )
        ],
    )
    campaign(
        "package",
        "the Debian package on a clean Debian 12, in a root directory of its own (as root)",
        [],
        lambda: [Part("package", [source / "tools" / "package", "--build", build, "--test"])],
    )
    cluster = {"HEDDLE": str(build.absolute() / "bin" / "heddle")}
    campaign(
        "cluster",
        "a sweep on a Slurm that is started here (as root), one under Snakemake, a corpus under an RO-Crate validator",
        [[source / "tools" / "install-packages", "cluster"], *built("heddle")],
        lambda: [
            Part(test, [sys.executable, source / "tests" / "tools" / f"{test}.py"], cluster)
            for test in ("slurm_sweep", "snakemake_sweep", "ro_crate_check")
        ],
    )
    campaign(
        "tidy",
        "clang-tidy over every source, folder by folder",
        built("all"),
        lambda: [
            Part(folder, [source / "tools" / "tidy", "--build", build, *files], {}, {"files": len(files)})
            for folder, files in sorted(_sources(source).items())
        ],
    )
    papers = source / "build" / "campaigns" / "papers-results"
    campaign(
        "papers",
        "the claims of five papers, some thirteen thousand replays",
        built("heddle", "heddle-capture"),
        lambda: [
            Part(
                paper,
                [build / "bin" / "heddle", "reproduce", paper, "-o", papers, "--size", "small", "--jitter", "3"]
                + ["--jobs", jobs],
            )
            for paper in PAPERS
        ],
    )
    return found


def _sources(source):
    """{folder: sources} of what a build compiles: examples and programs for tests are none of it."""
    listed = subprocess.run(["git", "ls-files", "*.cc"], cwd=source, stdout=subprocess.PIPE, text=True, check=True)
    folders = {}
    for name in listed.stdout.splitlines():
        if not name.startswith(("examples/", "tests/apps/", "tests/tools/wrong_policies/")):
            folders.setdefault(os.path.dirname(name), []).append(name)
    return folders
