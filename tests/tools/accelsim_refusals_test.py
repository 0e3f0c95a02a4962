"""`heddle trace export` and `import`: what is broken or would be wrong is refused, and nothing is left behind."""
import lzma
import resource

from accelsim_case import HEADER, AccelSimTest
from heddle_command import SAMPLES, heddle, main


class Refusals(AccelSimTest):
    GOOD = "0000 0000000f 1 R1 MOV 0 0\n0010 0000000f 0 EXIT 0 0\n"

    def refuse(self, folder, *says, status=1):
        self.assert_refused(status, "trace", "import", "--accelsim", folder, "-o", self.folder / "x.htrace", says=says)
        self.assertFalse((self.folder / "x.htrace").exists())

    def test_versions_and_headers(self):
        for change, says in (
            (("version = 4", "version = 9"), "version 9"),
            (("version = 4", "version = 2"), "version 2"),
            (("-accelsim tracer version = 4\n", ""), "tracer version"),
            (("block dim = (4,", "block dim = (4096,"), "1024 threads"),
            (("(1,1,1)\n-block", "(1,1)\n-block"), "grid dim"),
            (("-nregs", "-speed"), "speed"),
            (("-nregs = 8", "-nregs = 8\n-heddle moved = 0 4 0 2 4 4"), "heddle moved"),
            (("-nregs = 8", "-nregs = 8\n-heddle moved = 0 4 99999999999"), "heddle moved"),
        ):
            self.refuse(self.write(self.GOOD, HEADER.replace(*change)), "kernel-1.traceg, line", says)

    def test_broken_counts_and_masks(self):
        block = "#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 2\n" + self.GOOD + "\n#END_TB\n"
        for change, says in (
            (("insts = 2", "insts = 3"), "1 instructions less"),
            (("insts = 2", "insts = 1"), "one instruction more"),
            (("\n#END_TB\n", ""), "cut off"),
            (("0,0,0", "1,0,0"), "outside the grid"),
            (("warp = 0", "warp = 1"), "no warp"),
            (("0000000f 1 R1", "0000001f 1 R1"), "lane 4"),
            (("0 EXIT 0 0", "0 NOP 0 0"), "without an exit"),
            (("MOV", "UTMALDG"), "whole warp"),
            (("MOV", "WARPGROUPSET"), "whole warp"),
            (("MOV", "UTCQMMA"), "whole warp"),
            (("MOV", "STAS"), "another block"),
            (("MOV", "FROB"), "FROB is not known"),
            (("R1 MOV", "R1 MOV 7"), "operands"),
            (("0010 0000000f", "0010 00000007"), "without an exit"),
            (("#END_TB\n", "#END_TB\n\n#BEGIN_TB\n\nthread block = 0,0,0\n"), "twice"),
        ):
            says = "source registers" if says == "operands" else says
            self.refuse(self.write(block.replace(*change)), "kernel-1.traceg", says)
        self.refuse(
            self.write(
                "0000 0000000f 1 R1 MOV 0 0\n0010 0000000f 1 R1 MOV 0 0\n0000 0000000f 1 R1 MOV 0 0\n"
                "0020 0000000f 0 EXIT 0 0\n"
            ),
            "without a jump",
        )
        self.refuse(self.write(block.replace("R1 MOV", "R1 MOV.\xe9")), "no text")
        self.refuse(self.write("0000 00000007 1 R1 MOV 0 0\n0010 00000007 0 EXIT 0 0\n"), "thread 3", "never runs")
        self.refuse(
            self.write("0000 0000000f 1 R1 MOV 0 0\n0000 0000000f 1 R1 IADD3 0 0\n0010 0000000f 0 EXIT 0 0\n"),
            "functions share",
        )
        self.refuse(
            self.write("0000 0000000f 1 R1 LDS 1 R1 4 1 0x123456789 4\n0010 0000000f 0 EXIT 0 0\n"), "window of shared"
        )
        self.refuse(
            self.write("0000 0000000b 1 R1 LDG 1 R1 4 1 0x100 4\n0010 0000000f 0 EXIT 0 0\n"), "next to one another"
        )

    def test_files(self):
        self.refuse(self.folder, "kernelslist.g", status=2)
        folder = self.write(self.GOOD)
        (folder / "kernelslist.g").write_text("../kernel-1.traceg\n")
        self.refuse(folder, "same folder")
        (folder / "kernelslist.g").write_text("kernel-2.traceg\n")
        self.refuse(folder, "kernel-2.traceg", status=2)
        packed = lzma.compress((folder / "kernel-1.traceg").read_bytes())
        (folder / "kernelslist.g").write_text("kernel-1.traceg.xz\n")
        (folder / "kernel-1.traceg.xz").write_bytes(packed[:-20])
        self.refuse(folder, "kernel-1.traceg.xz", "cut off")
        (folder / "kernel-1.traceg.xz").write_bytes(packed[:60] + b"\0\0\0" + packed[63:])
        self.refuse(folder, "kernel-1.traceg.xz", "damaged")
        (folder / "kernel-1.traceg.xz").write_bytes(b"no xz at all")
        self.refuse(folder, "no xz file")
        (folder / "kernel-1.traceg.xz").write_bytes(lzma.compress(HEADER.encode() + b"0" * (1 << 26)))
        self.refuse(folder, "longer than 64 KiB")

    def test_traces_that_are_imported_are_never_replaced(self):
        folder = self.export(SAMPLES / "bfs.htrace")
        before = {path: path.read_bytes() for path in folder.iterdir()}
        for path in before:
            self.assert_refused(2, "trace", "import", "--accelsim", folder, "-o", path, says=["-o", "to import"])
        self.assertEqual({path: path.read_bytes() for path in folder.iterdir()}, before)

    def test_a_disk_that_is_full(self):
        folder = self.export(SAMPLES / "bfs.htrace")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
        self.assert_refused(
            1,
            "trace",
            "import",
            "--accelsim",
            folder,
            "-o",
            self.folder / "x.htrace",
            preexec_fn=limit,
            says=["File too large"],
        )
        self.assert_refused(
            1,
            "trace",
            "export",
            SAMPLES / "bfs.htrace",
            "--accelsim",
            self.folder / "new",
            preexec_fn=limit,
            says=["File too large"],
        )
        self.assertEqual(list((self.folder / "new").iterdir()), [])  # without a list it is no trace
        self.assert_folder_has("exported", "new")

    def test_exports(self):
        folder = self.folder / "there"
        folder.mkdir()
        (folder / "x").touch()
        self.assert_refused(
            2, "trace", "export", SAMPLES / "bfs.htrace", "--accelsim", folder, says=["not an empty folder"]
        )
        part = self.folder / "part.htrace"
        heddle("trace", "extract", SAMPLES / "bfs.htrace", "--blocks", "0-2", "-o", part)
        self.assert_refused(1, "trace", "export", part, "--accelsim", self.folder / "new", says=["3 of the 8"])
        self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    main()
