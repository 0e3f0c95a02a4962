"""The Python reader and the C++ reader agree; `zstd -dc FILE | protoc --decode` works.

Usage: python_reader_test.py DUMP_PATHS SOURCE_DIR BINDINGS_DIR PROTOC
"""
import os
import shutil
import subprocess
import sys
import tempfile

dump_paths, source_dir, bindings, protoc = sys.argv[1:5]
reader = os.path.join(source_dir, "tools", "python", "heddle_trace.py")
environment = dict(os.environ, PYTHONPATH=bindings, PYTHONDONTWRITEBYTECODE="1")


def python(path):
    return subprocess.run([sys.executable, reader, path], env=environment, capture_output=True, text=True)


with tempfile.TemporaryDirectory() as directory:
    for mode in ("whole", "parts"):
        for seed in range(1, 6):
            path = os.path.join(directory, f"{mode}{seed}.htrace")
            subprocess.run([dump_paths, "--write", path, str(seed), mode], check=True)
            expected = subprocess.run([dump_paths, path], check=True, capture_output=True, text=True).stdout
            found = python(path)
            assert found.returncode == 0, found.stderr
            assert found.stdout == expected, f"{mode} {seed}: the readers disagree"
            assert expected.count("\n") > 60
    with open(path, "rb") as file:
        whole = file.read()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        cut = os.path.join(directory, "cut.htrace")
        with open(cut, "wb") as file:
            file.write(whole[:size])
        found = python(cut)
        assert found.returncode == 1 and cut in found.stderr and "Traceback" not in found.stderr, found.stderr
    zstd = shutil.which("zstd")
    if zstd is None:
        print("zstd is not installed: decoding by the command line was not tried")
    else:
        raw = subprocess.run([zstd, "-dc", path], check=True, capture_output=True).stdout
        text = subprocess.run([protoc, "--decode=heddle.trace.v1.TraceFile", f"--proto_path={source_dir}",
                               "proto/trace.proto"], input=raw, check=True, capture_output=True).stdout
        assert text.count(b"record {") > 5 and b"content_sha256" in text
print("ok")
