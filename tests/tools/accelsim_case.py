"""What tests of `heddle trace export` and `import` share: traces of Accel-Sim, written and read."""
from heddle_command import CommandTest, heddle

HEADER = """-kernel name = k
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (4,1,1)
-shmem = 64
-nregs = 8
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007f0000000000
-local mem base_addr = 0x00007f0002000000
-nvbit version = 1.5.3
-accelsim tracer version = 4
-enable lineinfo = 0

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]

"""


class AccelSimTest(CommandTest):
    def export(self, trace, *options, name="exported"):
        folder = self.folder / name
        done = heddle("trace", "export", trace, "--accelsim", folder, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder

    def take(self, folder, name="imported.htrace"):
        trace = self.folder / name
        done = heddle("trace", "import", "--accelsim", folder, "-o", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        checked = heddle("trace", "check", trace)
        self.assertIn(": ok (", checked.stdout, checked.stdout + checked.stderr)
        return trace

    def write(self, body, header=HEADER, warps=1):
        folder = self.folder / "in"
        folder.mkdir(exist_ok=True)
        (folder / "kernelslist.g").write_text("MemcpyHtoD,0x00007f1000000000,4096\nkernel-1.traceg\n")
        if not body.startswith("#BEGIN_TB"):
            lines = [line for line in body.strip().splitlines()]
            body = "#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = %d\n%s\n\n#END_TB\n" % (
                len(lines),
                "\n".join(lines),
            )
        (folder / "kernel-1.traceg").write_text(header + body)
        return folder
