"""A corpus under an RO-Crate validator that is not ours: the npm package `ro-crate`, of the version in ro_crate/. Needs
npm and, once, its registry; `tools/check --all` runs it:

    HEDDLE=build/release/bin/heddle python3 tests/tools/ro_crate_check.py
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = str(pathlib.Path(os.environ["HEDDLE"]).resolve())


def validate(folder, metadata):
    done = subprocess.run(
        ["node", "validate.cjs", str(metadata)],
        cwd=folder,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "npm"
        shutil.copytree(SOURCE / "tests/tools/ro_crate", folder)
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True)
        corpus = pathlib.Path(name) / "corpus"
        for command in (
            [
                "init",
                corpus,
                "--name",
                "two",
                "--description",
                "Two samples",
                "--license",
                "Apache-2.0",
                "--author",
                "A. Uthor",
            ],
            [
                "add",
                corpus,
                SOURCE / "traces/samples/bfs.htrace",
                "--sources",
                SOURCE / "traces/kernels/bfs",
                "--recipe",
                SOURCE / "traces/kernels/bfs/bfs.tiny.textproto",
            ],
            ["add", corpus, SOURCE / "traces/samples/spmv.htrace", "--license", "CC-BY-4.0"],
            ["verify", corpus],
        ):
            subprocess.run([HEDDLE, "corpus", *map(str, command)], check=True)
        metadata = corpus / "data/ro-crate-metadata.json"
        status, said = validate(folder, metadata)
        print(said)
        assert status == 0, "the crate is not valid"
        # That the validator looks at all: without its name a crate is not valid.
        crate = json.loads(metadata.read_text())
        for entity in crate["@graph"]:
            if entity["@id"] == "./":
                del entity["name"], entity["datePublished"]
        broken = pathlib.Path(name) / "broken.json"
        broken.write_text(json.dumps(crate))
        status, said = validate(folder, broken)
        assert status != 0 and "name" in said, said
    print("ok")


main()
