"""`heddle trace export` and `import`: threads come back from Accel-Sim's warps as they were, guards mean what they mean on
the GPU."""
import json
import lzma
import re

from accelsim_case import HEADER, AccelSimTest
from heddle_command import SAMPLES, heddle, main, results


def dump(trace, *options):
    """Threads in order, each as launch and list of instructions."""
    lines = heddle("trace", "dump", trace, "--json", *options).stdout.splitlines()
    return [(t["launch"], t["block"], t["thread"], t["instructions"]) for t in map(json.loads, lines)]


class RoundTrip(AccelSimTest):
    def test_every_thread_comes_back_with_its_instructions_and_addresses(self):
        for sample in ("bfs", "nqueens", "spmv", "reduction"):
            original = SAMPLES / f"{sample}.htrace"
            imported = self.take(self.export(original, name=sample), f"{sample}.htrace")
            before, after = dump(original, "--blocks", "0-1"), dump(imported, "--blocks", "0-1")
            launches = sorted({t[0] for t in before})  # launches that were not recorded are left out
            self.assertEqual(len(before), len(after))
            for (launch, block, thread, old), (new_launch, new_block, new_thread, new) in zip(before, after):
                self.assertEqual((launches.index(launch), block, thread), (new_launch, new_block, new_thread))
                self.assertEqual([(i["pc"], i.get("address")) for i in old], [(i["pc"], i.get("address")) for i in new])

    def test_replays_under_pdom_count_the_same(self):
        for sample in ("bfs", "spmv", "reduction", "mandelbrot"):
            original = SAMPLES / f"{sample}.htrace"
            imported = self.take(self.export(original, "--xz", name=sample), f"{sample}.htrace")
            old, new = (
                results(t, "--machine", "baws_gtx480", "--divergence", "pdom", "--scheduler", "lrr")[0]["launch"]
                for t in (original, imported)
            )
            # Launches that were not recorded are left out, so that the others have other numbers.
            self.assertEqual([{**a, "launch": 0} for a in old], [{**b, "launch": 0} for b in new], sample)

    def test_blocks_that_machine_code_has_in_another_order(self):
        """Worked examples whose blocks go on, without a branch, at one that does not follow them."""
        for name, more in (("short_circuit", 0), ("capri_1", 1), ("harp_6", 1), ("fung_4_1", 2)):
            original = SAMPLES.parent / "worked" / f"{name}.htrace"
            imported = self.take(self.export(original, name=name), f"{name}.htrace")
            old, new = (
                results(t, "--divergence", "pdom", "--machine", "baws_gtx480")[0]["total"] for t in (original, imported)
            )
            # Of two blocks that go on at the same one, only one can stand in front of it; the other gets a branch.
            self.assertEqual(new["warp_instructions"] - old["warp_instructions"], more, name)

    def test_code_that_no_thread_ran_keeps_its_room(self):
        trace = self.take(
            self.write(
                """
            0000 0000000f 1 R1 MOV 0 0
            0010 0000000f 0 BRA 1 R1 0
            0080 0000000f 0 EXIT 0 0"""
            )
        )
        self.assertEqual([i["pc"] for i in dump(trace)[0][3]], [0, 8, 64])
        # A PC far away takes no room.
        trace = self.take(
            self.write(
                """
            0000 0000000f 1 R1 MOV 0 0
            0010 0000000f 0 BRA 1 R1 0
            fffffff0 0000000f 0 EXIT 0 0"""
            ),
            "far.htrace",
        )
        self.assertEqual([i["pc"] for i in dump(trace)[0][3]], [0, 8, 16])

    def test_branches_that_no_thread_takes(self):
        """Behind a jump only the immediate says that they are run: that of a file of ours does."""
        body = """
            0000 0000000f 1 R1 MOV 0 0
            0010 0000000f 0 BRA 0 0 64
            0040 00000000 0 BRA 1 R1 0 128
            0050 0000000f 1 R2 IADD3 1 R1 0
            0060 00000003 0 BRA 1 R2 0 128
            0070 0000000c 1 R3 IADD3 1 R2 0
            0080 0000000f 0 EXIT 0 0"""
        ours = HEADER.replace("nvbit version = 1.5.3", "nvbit version = none (heddle 1)")
        for header, run in ((HEADER, [0, 1, 5, 6, 7, 8]), (ours, [0, 1, 4, 5, 6, 7, 8])):
            trace = self.take(self.write(body, header))
            self.assertEqual([i["pc"] // 8 for i in dump(trace)[3][3]], run)
        # And where a branch leads that no thread took: the first one meets the other way only at the exit.
        program = json.loads(heddle("trace", "dump", trace, "--program", "--json").stdout.splitlines()[0])
        blocks = program.get("program", program)["block"]
        self.assertEqual([len(b.get("successor", [])) for b in blocks if b["first_instruction"] <= 4][-1], 2)

    def test_a_block_that_is_too_long_for_one_chunk(self):
        """It is cut in time, and accesses behind the cut are left for the next part."""
        lines = ["0000 ffffffff 1 R2 LDG.E 1 R4 4 1 0x1000 4 0"]
        for turn in range(9000):
            taken = "ffffffff" if turn < 8999 else "00000000"
            lines += ["0010 ffffffff 1 R3 IADD3 1 R3 0 0", f"0020 {taken} 0 BRA 1 R3 0 16"]
        lines += ["0030 ffffffff 0 STG.E 2 R4 R3 4 1 0x2000 4 0", "0040 ffffffff 0 EXIT 0 0 0"]
        trace = self.take(self.write("\n".join(lines), HEADER.replace("(4,1,1)", "(32,1,1)")))
        threads = {}
        for _, _, thread, instructions in dump(trace):  # once for each part
            threads.setdefault(thread, []).extend(instructions)
        for thread in (0, 31):
            self.assertEqual(len(threads[thread]), 18003)
            addresses = [i["address"] for i in threads[thread] if "address" in i]
            self.assertEqual(addresses, [0x1000 + 4 * thread, 0x2000 + 4 * thread])

    def test_copies_to_shared_memory_have_two_lines(self):
        """Since version 5 of the tracer. What a thread loads is in the second."""
        copy = """
            0000 0000000f 0 LDGSTS.E.128 2 R2 R4 16 1 0x40 16 0
            0000 0000000f 0 LDGSTS.E.128 2 R2 R4 16 1 0x7f1000000000 16 0"""
        body = (
            copy
            + """
            0010 0000000f 0 LDGDEPBAR 0 0 0
            0020 0000000f 0 EXIT 0 0 0"""
        )
        newest = HEADER.replace("tracer version = 4", "tracer version = 5")
        instructions = dump(self.take(self.write(body, newest)))[1][3]
        self.assertEqual([i.get("address") for i in instructions], [0x7F1000000010, None, None])
        for wrong, says in (
            (body.replace(copy, copy[: copy.index("\n", 5)]), "has one of its two lines"),
            (copy[: copy.index("\n", 5)], "without its second line"),
        ):
            self.assert_refused(
                1,
                "trace",
                "import",
                "--accelsim",
                self.write(wrong, newest),
                "-o",
                self.folder / "x.htrace",
                says=[says],
            )

    def test_a_second_round_changes_nothing(self):
        one = self.take(self.export(SAMPLES / "bfs.htrace", name="a"), "one.htrace")
        self.export(one, name="b")
        two = self.take(self.folder / "b", "two.htrace")
        self.assertIn("equal: ", heddle("trace", "diff", one, two).stdout)

    def test_xz_holds_the_same_text(self):
        plain, packed = self.export(SAMPLES / "spmv.htrace", name="a"), self.export(
            SAMPLES / "spmv.htrace", "--xz", name="b"
        )
        names = [n for n in (plain / "kernelslist.g").read_text().split() if n.startswith("kernel")]
        for name in names:
            self.assertEqual(lzma.decompress((packed / f"{name}.xz").read_bytes()), (plain / name).read_bytes())
        one, two = self.take(plain, "one.htrace"), self.take(packed, "two.htrace")
        self.assertEqual(one.read_bytes(), two.read_bytes())


class Format(AccelSimTest):
    def test_an_export_is_what_the_tracer_writes(self):
        folder = self.export(SAMPLES / "bfs.htrace")
        names = (folder / "kernelslist.g").read_text().splitlines()
        self.assertTrue(all(re.fullmatch(r"MemcpyHtoD,0x[0-9a-f]{16},\d+|kernel-\d+\.traceg", n) for n in names), names)
        text = (folder / [n for n in names if n.startswith("kernel")][0]).read_text()
        header, _, body = text.partition("#traces format")
        for line in ("-grid dim = (8,1,1)", "-block dim = (128,1,1)", "-accelsim tracer version = 5"):
            self.assertIn(line + "\n", header)
        body = body.partition("\n")[2]
        instruction = re.compile(
            r"[0-9a-f]{4,} [0-9a-f]{8} [01]( R\d+)? [A-Z0-9_.]+ [0-4]( R\d+)* "
            r"(0|\d+ (1 0x[0-9a-f]+ -?\d+|2 0x[0-9a-f]+( -?\d+)*)) \d+ "
        )
        left, blocks = 0, 0
        for line in filter(None, body.splitlines()):
            if line.startswith("insts = "):
                left = int(line[8:])
            elif line.startswith(("#", "thread block = ", "warp = ")):
                self.assertEqual(left, 0)
                blocks += line == "#END_TB"
            else:
                self.assertRegex(line, instruction)
                left -= 1
        self.assertEqual((left, blocks), (0, 8))

    def test_forms_of_addresses(self):
        trace = self.take(
            self.write(
                """
            0000 0000000f 1 R1 MOV 0 0
            0010 0000000f 1 R2 LDG.E.64 1 R1 8 0 0x100 0x208 0x310 0x418
            0020 0000000e 1 R2 LDG.E.64 1 R1 8 1 0x1000 -8
            0030 0000000d 0 STG.E 2 R1 R2 4 2 0x2000 16 -4
            0040 0000000f 1 R3 LDS.U8 1 R1 1 1 0x4 1
            0050 0000000f 0 EXIT 0 0"""
            )
        )
        addresses = [[i["address"] for i in t[3] if "address" in i] for t in dump(trace)]
        shared = 0x7F0000000000
        self.assertEqual(
            addresses,
            [
                [0x100, 0x2000, shared + 4],
                [0x208, 0x1000, shared + 5],
                [0x310, 0xFF8, 0x2010, shared + 6],
                [0x418, 0xFF0, 0x200C, shared + 7],
            ],
        )
        widths = [i["access_bytes"] for i in self.program(trace)["instruction"] if i["access_bytes"]]
        self.assertEqual(widths, [8, 8, 4, 1])

    def program(self, trace):
        program = json.loads(heddle("trace", "dump", trace, "--program", "--json").stdout.splitlines()[0])
        return program.get("program", program)


class Guards(AccelSimTest):
    """Masks hold the lanes whose guard is true; lanes that are active with a false guard have to be told from those that
    have gone elsewhere."""

    def pcs(self, trace):
        return [[i["pc"] // 8 for i in t[3]] for t in dump(trace)]

    def test_a_guarded_instruction_makes_no_branch(self):
        trace = self.take(
            self.write(
                """
            0000 0000000f 1 R1 MOV 0 0
            0010 00000005 1 R2 IADD3 1 R1 0
            0020 0000000f 0 EXIT 0 0"""
            )
        )
        self.assertEqual(self.pcs(trace), [[0, 1, 2]] * 4)
        total = results(trace, "--divergence", "pdom")[0]["total"]
        self.assertEqual((total["warp_instructions"], total["thread_instructions"]), (3, 12))

    def test_a_branch_that_is_not_taken_is_run(self):
        trace = self.take(
            self.write(
                """
            0000 0000000f 0 ISETP.GE.AND 1 R1 0
            0010 00000003 0 BRA 0 0
            0020 0000000c 1 R2 IADD3 1 R1 0
            0030 0000000f 1 R3 IADD3 1 R2 0
            0040 0000000f 0 EXIT 0 0"""
            )
        )
        self.assertEqual(self.pcs(trace), [[0, 1, 3, 4]] * 2 + [[0, 1, 2, 3, 4]] * 2)
        total = results(trace, "--divergence", "pdom")[0]["total"]
        self.assertEqual((total["warp_instructions"], total["thread_instructions"]), (5, 18))

    def test_a_loop_that_lanes_leave_one_by_one(self):
        body = "0000 0000000f 1 R1 MOV 0 0\n"
        for mask in (0xF, 7, 3, 1):
            body += f"0010 {mask:08x} 1 R1 IADD3 1 R1 0\n0020 {mask >> 1:08x} 0 BRA 0 0\n"
        trace = self.take(self.write(body + "0030 0000000f 0 EXIT 0 0\n"))
        self.assertEqual(self.pcs(trace), [[0] + [1, 2] * n + [3] for n in (4, 3, 2, 1)])
        total = results(trace, "--divergence", "pdom")[0]["total"]
        self.assertEqual((total["warp_instructions"], total["thread_instructions"]), (10, 28))

    def test_guarded_accesses_and_exits_are_gone_around(self):
        trace = self.take(
            self.write(
                """
            0000 0000000f 1 R1 MOV 0 0
            0010 00000006 1 R2 LDG.E 1 R1 4 1 0x100 4
            0020 00000008 0 EXIT 0 0
            0030 00000007 1 R3 FADD 1 R2 0
            0040 00000000 0 STG.E 2 R1 R3 4 1 0x0 0
            0050 00000007 0 EXIT 0 0"""
            )
        )
        # The store, which no thread does, is not in the program, but keeps its room.
        # Between load and exit stands the join (2) of threads that load and threads that do not.
        self.assertEqual(self.pcs(trace), [[0, 2, 4, 6], [0, 1, 2, 4, 6], [0, 1, 2, 4, 6], [0, 2, 3]])
        total = results(trace, "--divergence", "pdom")[0]["total"]
        self.assertEqual((total["warp_instructions"], total["thread_instructions"]), (5 + 1, 13 + 4))

    def test_calls_return_where_they_came_from(self):
        trace = self.take(
            self.write(
                """
            0000 0000000f 0 CALL.REL 0 0
            0050 0000000f 1 R1 FMUL 1 R1 0
            0060 0000000f 0 RET.REL 0 0
            0010 0000000f 1 R2 MOV 0 0
            0020 0000000f 0 CALL.REL 0 0
            0050 0000000f 1 R1 FMUL 1 R1 0
            0060 0000000f 0 RET.REL 0 0
            0030 0000000f 0 EXIT 0 0"""
            )
        )
        self.assertEqual(self.pcs(trace), [[0, 5, 6, 1, 2, 5, 6, 3]] * 4)


class Opcodes(AccelSimTest):
    # What compilers for Hopper and Blackwell write that is a thread's own work, and its class here.
    TAKEN = {
        "OP_MOVE": "PREEXIT ACQBULK ACQSHMINIT SETMAXREG USETMAXREG.DEALLOC.CTAPOOL ENDCOLLECTIVE CS2UR.64",
        "OP_STORE": "STSM.16.M88.4",
        "OP_LOAD": "LDCU.64 LDGMC.E",
        "OP_ATOMIC": "REDG.E.ADD",
        "OP_INT_ALU": "UIMNMX UVIADD",
        "OP_FP32": "FADD2 FFMA2 VHMNMX UFADD UFSETP",
        "OP_CONVERT": "UI2F UF2I",
        "OP_WARP": "CREDUX.MAX",
        "OP_TENSOR": "OMMA",
    }
    ADDRESS = {"STSM": "4 1 0x7f0000000000 4", "LDGMC": "4 1 0x7f1000000000 4", "REDG": "4 1 0x7f1000000000 4"}

    def test_those_of_hopper_and_blackwell(self):
        lines, expected = [], []
        for op_class, names in self.TAKEN.items():
            for name in names.split():
                address = self.ADDRESS.get(name.split(".")[0], "0")
                lines.append("%04x 0000000f 0 %s 0 %s" % (16 * len(lines), name, address))
                expected.append(op_class)
        lines.append("%04x 0000000f 0 EXIT 0 0" % (16 * len(lines)))
        trace = self.take(self.write("\n".join(lines)))
        program = heddle("trace", "dump", trace, "--program", "--json").stdout
        found = [instruction["op"] for instruction in json.loads(program.splitlines()[0])["program"]["instruction"]]
        self.assertEqual(found, expected + ["OP_EXIT"])


class Marks(AccelSimTest):
    def test_the_trace_says_what_it_cannot_support(self):
        trace = self.take(self.write("0000 0000000f 1 R1 MOV 0 0\n0010 0000000f 0 EXIT 0 0\n"))
        info = json.loads(heddle("trace", "info", trace, "--json").stdout)
        self.assertEqual(info["header"]["abstraction_level"], "sass")
        self.assertEqual(info["header"]["provenance"]["post-dominators"], "inferred from the observed flow")
        try:
            import zstandard
        except ImportError:
            self.skipTest("python3-zstandard is missing")
        with zstandard.ZstdDecompressor().stream_reader(trace.read_bytes(), read_across_frames=True) as frames:
            self.assertIn(b"Spins are frozen", frames.read())
        self.assertEqual(results(trace)[0]["provenance"]["abstraction_level"], "sass")


if __name__ == "__main__":
    main()
