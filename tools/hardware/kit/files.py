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
    write(path, json.dumps(value, indent=1) + "\n")


def write_results(path, value):
    """The same, with a line for each element of the lists at the top."""
    parts = []
    for key, part in value.items():
        text = json.dumps(part, separators=(",", ":"))
        if isinstance(part, list):
            text = "[\n" + ",\n".join(json.dumps(element, separators=(",", ":")) for element in part) + "\n]"
        parts.append(f"{json.dumps(key)}: {text}")
    write(path, "{\n" + ",\n".join(parts) + "\n}\n")


def write(path, text):
    path = pathlib.Path(path)
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    os.replace(part, path)
