"""`heddle corpus`: what is described, that a packed corpus is the same everywhere, and what is refused from elsewhere."""
import fcntl
import hashlib
import http.server
import io
import json
import resource
import shutil
import subprocess
import tarfile
import threading
import unittest

from heddle_command import CAPTURE, HEDDLE, SAMPLES, SOURCE, CommandTest, heddle, main


class RangeServer(http.server.BaseHTTPRequestHandler):
    """Serves one file, parts of it on request; the first answer breaks off after `self.server.break_after` bytes."""

    def do_GET(self):
        self.server.asked.append(self.headers.get("Range"))
        data = self.server.data
        start = 0
        if self.headers.get("Range") and self.server.ranges:
            start = int(self.headers["Range"].split("=")[1].split("-")[0])
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        end = self.server.break_after or len(data)
        self.server.break_after = None
        self.wfile.write(data[start:end])

    def log_message(self, *arguments):
        pass


class CorpusTest(CommandTest):
    def run_heddle(self, *arguments, status=0):
        done = heddle("corpus", *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def make(self, name="two"):
        corpus = self.folder / name
        self.run_heddle(
            "init",
            corpus,
            "--name",
            name,
            "--description",
            "Two samples",
            "--license",
            "Apache-2.0",
            "--author",
            "A. Uthor",
            "--date",
            "2026-11-22",
        )
        self.run_heddle(
            "add",
            corpus,
            SAMPLES / "bfs.htrace",
            SAMPLES / "nqueens.htrace",
            "--sources",
            SOURCE / "traces/kernels/bfs",
            "--recipe",
            SOURCE / "traces/kernels/bfs/bfs.tiny.textproto",
        )
        self.run_heddle("add", corpus, SOURCE / "LICENSE", "--under", "LICENSES", "--license", "CC-BY-4.0")
        return corpus

    def reseal(self, corpus):
        """As somebody who can compute checksums would: the manifests fit what is there."""
        data = sorted(p for p in (corpus / "data").rglob("*") if p.is_file())
        line = lambda p: f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.relative_to(corpus)}\n"
        (corpus / "manifest-sha256.txt").write_text("".join(map(line, data)))
        oxum = f"Payload-Oxum: {sum(p.stat().st_size for p in data)}.{len(data)}\n"
        (corpus / "bag-info.txt").write_text(oxum)
        tags = [corpus / n for n in ("bag-info.txt", "bagit.txt", "manifest-sha256.txt")]
        (corpus / "tagmanifest-sha256.txt").write_text("".join(map(line, tags)))

    def edit(self, corpus, change):
        file = corpus / "data/ro-crate-metadata.json"
        crate = json.loads(file.read_text())
        change(crate["@graph"])
        file.write_text(json.dumps(crate))
        self.reseal(corpus)


class Describing(CorpusTest):
    def test_a_corpus_verifies_with_heddle_and_with_sha256sum(self):
        corpus = self.make()
        self.assertEqual(self.run_heddle("verify", corpus), f"{corpus}: ok\n")
        for manifest in ("manifest-sha256.txt", "tagmanifest-sha256.txt"):
            subprocess.run(["sha256sum", "--quiet", "-c", manifest], cwd=corpus, check=True)
        listed = self.run_heddle("list", corpus)
        self.assertIn("traces/bfs.htrace", listed)
        self.assertIn("Apache-2.0", listed)
        self.assertIn("sources/bfs/bfs.tiny.textproto", listed)

    def test_the_crate_describes_every_file_and_every_recording(self):
        corpus = self.make()
        crate = json.loads((corpus / "data/ro-crate-metadata.json").read_text())
        self.assertEqual(crate["@context"], "https://w3id.org/ro/crate/1.2/context")
        entities = {e["@id"]: e for e in crate["@graph"]}
        files = [str(p.relative_to(corpus / "data")) for p in (corpus / "data").rglob("*") if p.is_file()]
        for file in files:
            if file != "ro-crate-metadata.json":
                self.assertEqual(
                    entities[file]["sha256"], hashlib.sha256((corpus / "data" / file).read_bytes()).hexdigest()
                )
                self.assertIn(entities[file]["license"]["@id"], entities)
        self.assertEqual({p["@id"] for p in entities["./"]["hasPart"]}, set(files) - {"ro-crate-metadata.json"})
        action = entities["#capture-traces/bfs.htrace"]
        self.assertEqual(action["@type"], "CreateAction")
        values = {entities[o["@id"]].get("name"): entities[o["@id"]].get("value") for o in action["object"]}
        info = json.loads(heddle("trace", "info", SAMPLES / "bfs.htrace", "--json").stdout)
        self.assertIn(values["digest"], json.dumps(info))
        self.assertIn("clang", values["compiler"])
        self.assertEqual(values["launches"], 8)
        self.assertIn("sources/bfs/bfs.cu", [o["@id"] for o in action["object"]])
        # Every reference leads to an entity of the crate, or out of it.
        for entity in crate["@graph"]:
            for value in entity.values():
                for reference in value if isinstance(value, list) else [value]:
                    if isinstance(reference, dict) and "://" not in reference["@id"]:
                        self.assertIn(reference["@id"], entities)

    def test_what_is_missing_is_refused(self):
        self.assert_refused(
            2,
            "corpus",
            "init",
            self.folder / "x",
            "--name",
            "a/b",
            "--description",
            "d",
            "--license",
            "l",
            "--author",
            "a",
            says=["a/b"],
        )
        corpus = self.make()
        self.assert_refused(
            2,
            "corpus",
            "init",
            corpus,
            "--name",
            "a",
            "--description",
            "d",
            "--license",
            "l",
            "--author",
            "a",
            says=["not empty"],
        )
        self.assert_refused(2, "corpus", "add", corpus, self.folder / "no.htrace", says=["no.htrace"])
        self.assert_refused(2, "corpus", "verify", self.folder, says=["is no corpus"])
        self.assert_refused(
            2, "corpus", "add", corpus, SAMPLES / "bfs.htrace", "--recipe", SOURCE / "README.md", says=["--sources"]
        )


class Verifying(CorpusTest):
    def says(self, corpus, *words):
        out = self.run_heddle("verify", corpus, status=1)
        for word in words:
            self.assertIn(word, out)

    def test_each_kind_of_damage_is_named(self):
        whole = self.make("whole")
        broken = self.folder / "broken"

        def fresh():
            shutil.rmtree(broken, ignore_errors=True)
            shutil.copytree(whole, broken)
            return broken

        data = fresh() / "data/traces/bfs.htrace"
        data.write_bytes(data.read_bytes()[:-1] + b"x")
        self.says(broken, "traces/bfs.htrace: has checksum")
        (fresh() / "data/sources/bfs/bfs.cu").unlink()
        self.says(broken, "data/sources/bfs/bfs.cu: is in manifest-sha256.txt but not in the folder")
        (fresh() / "data/more.txt").write_text("x")
        self.says(broken, "data/more.txt: is in the folder but in no manifest")
        (fresh() / "data/more.txt").write_text("x")
        self.reseal(broken)
        self.says(broken, "more.txt: is not described")
        self.edit(fresh(), lambda graph: [e.pop("license") for e in graph if e["@id"] == "traces/bfs.htrace"])
        self.says(broken, "traces/bfs.htrace: has no licence")
        data = fresh() / "data/traces/bfs.htrace"
        data.write_bytes((SAMPLES / "spmv.htrace").read_bytes())
        self.reseal(broken)
        self.says(broken, "traces/bfs.htrace: has another size", "another digest")
        (fresh() / "data/link").symlink_to("/etc/passwd")
        self.assert_refused(1, "corpus", "verify", broken, says=["link"])

    def test_paths_that_leave_the_folder_are_refused(self):
        corpus = self.make()
        manifest = corpus / "manifest-sha256.txt"
        good = manifest.read_text()
        for path in ("data/../../etc/passwd", "/etc/passwd", "data//x", "data/./x"):
            manifest.write_text(good + "0" * 64 + f"  {path}\n")
            self.assert_refused(1, "corpus", "verify", corpus, says=["manifest-sha256.txt", "path"])
        manifest.write_text(good)
        self.edit(corpus, lambda graph: graph.append({"@id": "../out", "@type": "File"}))
        self.assert_refused(1, "corpus", "verify", corpus, says=['"../out"', "leaves the folder"])


class Exchanging(CorpusTest):
    def test_packing_is_deterministic_and_comes_back_the_same(self):
        corpus = self.make()
        self.run_heddle("pack", corpus, "-o", self.folder / "a")
        other = self.folder / "copy"
        shutil.copytree(corpus, other)
        for file in other.rglob("*"):
            file.touch()
        self.run_heddle("pack", other, "-o", self.folder / "b")
        names = ["two.ro-crate-metadata.json", "two.tar", "two.tar.sha256"]
        self.assertEqual(sorted(p.name for p in (self.folder / "a").iterdir()), names)
        for name in names:
            self.assertEqual((self.folder / "a" / name).read_bytes(), (self.folder / "b" / name).read_bytes())
        subprocess.run(["sha256sum", "--quiet", "-c", "two.tar.sha256"], cwd=self.folder / "a", check=True)
        for source in (corpus, self.folder / "a/two.tar", f"file://{self.folder}/a/two.tar"):
            new = self.folder / "new"
            told = self.run_heddle("get", source, "-o", new)
            self.assertRegex(
                told,
                rf"^{new}: corpus two, 2 traces, [\d,]+ thread-instructions, verified; "
                rf"`heddle corpus list {new}` shows them\n$",
            )
            self.assertEqual(subprocess.run(["diff", "-r", corpus, new], check=False).returncode, 0)
            self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith("new")], ["new"])
            shutil.rmtree(new)

    def serve(self, data, ranges=True, break_after=None):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), RangeServer)
        server.data, server.ranges, server.break_after, server.asked = data, ranges, break_after, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, f"http://127.0.0.1:{server.server_port}/two.tar"

    def test_an_interrupted_download_goes_on_where_it_broke_off(self):
        self.run_heddle("pack", self.make(), "-o", self.folder / "p")
        data = (self.folder / "p/two.tar").read_bytes()
        for ranges in (True, False):
            server, address = self.serve(data, ranges, break_after=10000)
            new = self.folder / f"new{ranges}"
            self.assert_refused(1, "corpus", "get", address, "-o", new, says=["run again"])
            self.assertFalse(new.exists())
            self.run_heddle("get", address, "-o", new, "--sha256", hashlib.sha256(data).hexdigest())
            self.assertEqual(server.asked, [None, "bytes=10000-"])
            self.assertEqual(self.run_heddle("verify", new), f"{new}: ok\n")
        server, address = self.serve(data)
        self.assert_refused(
            1, "corpus", "get", address, "-o", self.folder / "x", "--sha256", "0" * 64, says=["SHA-256"]
        )
        self.assert_refused(
            1, "corpus", "get", address, "-o", self.folder / "x", "--most-bytes", "1000", says=["larger"]
        )

    def tar(self, *members):
        file = self.folder / "bad.tar"
        with tarfile.open(file, "w") as tar:
            for name, change in members:
                member = tarfile.TarInfo(name)
                data = change if isinstance(change, bytes) else b""
                member.size = len(data)
                if callable(change):
                    change(member)
                tar.addfile(member, io.BytesIO(data))
        return file

    def test_hostile_archives(self):
        def link(member):
            member.type, member.linkname = tarfile.SYMTYPE, "/etc"

        def hard_link(member):
            member.type, member.linkname = tarfile.LNKTYPE, "/etc/passwd"

        def device(member):
            member.type = tarfile.CHRTYPE

        for says, *members in (
            ("leaves the folder", ("c/../../out", b"x")),
            ("absolute", ("/out", b"x")),
            ("link", ("c/l", link), ("c/l/x", b"x")),
            ("link", ("c/l", hard_link)),
            ("special", ("c/d", device)),
            ("twice", ("c/x", b"1"), ("c/x", b"2")),
            ("more than one folder", ("c/x", b"1"), ("d/x", b"2")),
            ("is no corpus", ("c/x", b"1")),
        ):
            file = self.tar(*members)
            self.assert_refused(
                2 if says == "is no corpus" else 1, "corpus", "get", file, "-o", self.folder / "new", says=[says]
            )
            self.assert_folder_has("bad.tar")
        bomb = self.folder / "bad.tar"
        with tarfile.open(bomb, "w:gz") as tar:
            member = tarfile.TarInfo("c/zeros")
            member.size = 1 << 27
            tar.addfile(member, io.BytesIO(bytes(1 << 27)))
        self.assert_refused(1, "corpus", "get", bomb, "-o", self.folder / "new", says=["bomb"])
        bomb.write_bytes(b"not a tar at all" * 100)
        self.assert_refused(1, "corpus", "get", bomb, "-o", self.folder / "new", says=["tar"])
        self.assert_folder_has("bad.tar")

    def test_a_disk_that_is_full_changes_nothing(self):
        corpus = self.make()
        self.run_heddle("pack", corpus, "-o", self.folder / "p")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
        full = lambda *arguments: self.assert_refused(
            1, "corpus", *arguments, preexec_fn=limit, says=["File too large"]
        )
        full("add", corpus, SOURCE / "README.md", SAMPLES / "bfs.htrace")
        self.assertEqual(self.run_heddle("verify", corpus), f"{corpus}: ok\n")
        self.assertFalse(list(corpus.rglob("*.unfinished")))
        full("pack", corpus, "-o", self.folder / "q")
        self.assertEqual(list((self.folder / "q").iterdir()), [])
        full("get", self.folder / "p/two.tar", "-o", self.folder / "new")
        full("get", corpus, "-o", self.folder / "new")
        self.assert_folder_has("two", "p", "q")
        # An addition that was killed half-way is cleared away by the next.
        (corpus / "data/traces/x.htrace.unfinished").write_text("half")
        self.run_heddle("add", corpus, SOURCE / "README.md")
        self.assertEqual(self.run_heddle("verify", corpus), f"{corpus}: ok\n")

    def test_a_corpus_that_does_not_verify_is_neither_packed_nor_taken(self):
        corpus = self.make()
        (corpus / "data/sources/bfs/bfs.cu").write_text("other")
        self.assert_refused(1, "corpus", "pack", corpus, "-o", self.folder / "p", says=["does not verify", "bfs.cu"])
        self.assert_refused(1, "corpus", "get", corpus, "-o", self.folder / "new", says=["does not verify", "bfs.cu"])
        self.assert_folder_has("two")

    @unittest.skipUnless(CAPTURE, "a build without capture")
    def test_traces_are_made_again_from_their_sources(self):
        corpus = self.folder / "built"
        self.run_heddle(
            "init", corpus, "--name", "built", "--description", "d", "--license", "Apache-2.0", "--author", "a"
        )
        self.run_heddle(
            "add",
            corpus,
            SAMPLES / "bfs.htrace",
            "--sources",
            SOURCE / "traces/kernels",
            "--recipe",
            SOURCE / "traces/kernels/bfs/bfs.tiny.textproto",
        )
        self.assertIn("traces/bfs.htrace: the same", self.run_heddle("build", corpus))


@unittest.skipUnless(CAPTURE, "a build without capture")
class Building(CorpusTest):
    def kernels(self, *names):
        folder = self.folder / "kernels"
        for name in names:
            shutil.copytree(SOURCE / "traces/kernels" / name, folder / name)
        for header in ("check.h", "check_support.h"):
            shutil.copy(SOURCE / "traces/kernels" / header, folder)
        return folder

    def build(self, corpus, kernels, *options, status=0):
        return self.run_heddle("build", corpus, "--kernels", kernels, "--date", "2026-11-22", *options, status=status)

    def files(self, corpus):
        return {str(p.relative_to(corpus)): p.read_bytes() for p in corpus.rglob("*") if p.is_file()}

    def test_a_second_build_is_the_same_and_records_only_what_changed(self):
        kernels, corpus = self.kernels("spmv", "bfs", "reduction"), self.folder / "suite"
        out = self.build(corpus, kernels, "--jobs", 2, "--only", "^(bfs|spmv)$")
        self.assertEqual(out, "traces/bfs.htrace: recorded\ntraces/spmv.htrace: recorded\n")
        self.assert_folder_has("kernels", "suite")
        self.assertEqual(self.run_heddle("verify", corpus), f"{corpus}: ok\n")
        subprocess.run(["sha256sum", "--quiet", "-c", "manifest-sha256.txt"], cwd=corpus, check=True)
        before = self.files(corpus)
        self.assertEqual(self.build(corpus, kernels, "--only", "^(bfs|spmv)$").count("up to date"), 2)
        self.assertEqual(self.run_heddle("build", corpus).count("the same"), 2)  # from its own sources
        self.assertEqual(self.files(corpus), before)
        out = self.build(corpus, kernels)
        self.assertEqual((out.count("up to date"), out.count("reduction.htrace: recorded")), (2, 1))
        # In one step, or again although nothing changed: the same bytes.
        self.build(self.folder / "other", kernels, "--jobs", 3)
        (self.folder / "other").rename(self.folder / "at_once")
        self.assertEqual(self.files(self.folder / "at_once"), self.files(corpus))
        self.build(corpus, kernels, "--again")
        self.assertEqual(self.files(self.folder / "at_once"), self.files(corpus))
        for sample in ("bfs", "spmv"):  # the samples are these recordings
            data = (corpus / f"data/traces/{sample}.htrace").read_bytes()
            self.assertEqual(data, (SAMPLES / f"{sample}.htrace").read_bytes())

        source = kernels / "bfs/bfs.cu"
        source.write_text(source.read_text() + "\n// Another line.\n")
        (kernels / "bfs/notes.md").write_text("new")
        (kernels / "spmv/spmv.textproto").unlink()  # the recipe of another size
        out = self.build(corpus, kernels)
        self.assertEqual((out.count("up to date"), out.count("recorded")), (1, 2))
        self.assertIn("data/sources/bfs/notes.md", self.files(corpus))
        self.assertNotIn("data/sources/spmv/spmv.textproto", self.files(corpus))
        self.assertEqual(self.run_heddle("verify", corpus), f"{corpus}: ok\n")

    def test_a_kernel_that_cannot_be_recorded_is_told_and_the_others_are_there(self):
        kernels, corpus = self.kernels("spmv", "bfs"), self.folder / "suite"
        (kernels / "bfs/bfs.cu").write_text("this is no C++")
        out = self.build(corpus, kernels, status=1)
        self.assertIn("traces/spmv.htrace: recorded", out)
        self.assertRegex(out, "traces/bfs.htrace: .*bfs.cu")
        self.assertEqual(self.run_heddle("verify", corpus), f"{corpus}: ok\n")

    def test_an_interrupted_build_goes_on(self):
        kernels, corpus = self.kernels("spmv", "bfs", "reduction", "nqueens"), self.folder / "suite"
        staging = self.folder / "suite.building"
        process = subprocess.Popen(
            [HEDDLE, "corpus", "build", str(corpus), "--kernels", str(kernels), "--date", "2026-11-22"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not list(staging.glob("*.htrace")):
            pass
        process.kill()
        process.wait()
        times = {p.name: p.stat().st_mtime_ns for p in staging.glob("*.htrace")}
        self.assertTrue(times)
        with open(staging / "lock", "r+", encoding="utf-8") as lock:  # as another build would
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assert_refused(1, "corpus", "build", corpus, "--kernels", kernels, says=["another build"])
            self.assertEqual({n: (staging / n).stat().st_mtime_ns for n in times}, times)
        self.build(corpus, kernels)
        self.build(self.folder / "whole", kernels)
        self.assertEqual(self.files(self.folder / "whole"), self.files(corpus))

    def test_what_cannot_be_built_is_refused(self):
        kernels = self.kernels("spmv")
        for says, status, *options in (
            ("--size huge", 2, "--kernels", kernels, "--size", "huge"),
            ("has no kernel", 2, "--kernels", kernels, "--only", "nothing"),
            ('--only "("', 2, "--kernels", kernels, "--only", "("),
            ("nowhere", 2, "--kernels", self.folder / "nowhere"),
            ("--kernels", 2, "--size", "tiny"),
        ):
            self.assert_refused(status, "corpus", "build", self.folder / "new", *options, says=[says])


if __name__ == "__main__":
    main()
