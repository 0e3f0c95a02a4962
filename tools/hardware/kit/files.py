"""Digests, and files that are complete or not there."""

import hashlib
import json
import os
import pathlib


def digest(path):
    """Hexadecimal SHA-256 of a file."""
    sha = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            sha.update(block)
    return sha.hexdigest()


def digest_of_folder(folder, leave_out=()):
    """Of names and contents of all files below a folder, but for those whose first part is in `leave_out`."""
    folder = pathlib.Path(folder)
    sha = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        if name.parts[0] in leave_out or "__pycache__" in name.parts:
            continue
        sha.update(f"{name.as_posix()} {digest(path)}\n".encode())
    return sha.hexdigest()


def write_json(path, value):
    """Writes the file under another name first: whoever reads it finds the old or the new one, complete."""
    path = pathlib.Path(path)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(value, indent=1, ensure_ascii=True, sort_keys=False) + "\n")
    os.replace(part, path)
