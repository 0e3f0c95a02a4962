"""The tools of the machine with the card: where they are, and their versions."""

import pathlib
import re
import shutil

from kit import processes

NAMES = ("nvcc", "ptxas", "ncu", "nvdisasm", "cuobjdump", "nvidia-smi")
FOLDERS = ("/usr/local/cuda/bin", "/opt/cuda/bin")
HIDDEN = "none"


def find(given):
    """Path by name, "" for what is not there. `given`: paths by name, which go before all others; "none" hides a
    tool."""
    found = {}
    for name in NAMES:
        if name in given:
            found[name] = "" if given[name] == HIDDEN else given[name]
            continue
        found[name] = shutil.which(name) or ""
        for folder in FOLDERS:
            if not found[name] and (pathlib.Path(folder) / name).exists():
                found[name] = str(pathlib.Path(folder) / name)
    if not found["ncu"] and "ncu" not in given:
        # Where installers put it without a link.
        places = sorted(pathlib.Path("/opt/nvidia/nsight-compute").glob("*/ncu"))
        found["ncu"] = str(places[-1]) if places else ""
    found["c++"] = given.get("c++") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") or ""
    return found


def version(path, seconds=20):
    """What a tool says of its version, "" if it says nothing or is not there."""
    if not path:
        return ""
    ended = processes.run([path, "--version"], seconds)
    text = ended.output + ended.errors
    numbers = re.findall(r"(?:release|Version|version)\s+([^\n]*)", text)
    if not ended.ok or not text.strip():
        return ""
    if "stand-in" in text:
        return text.strip().splitlines()[0]
    return (numbers[-1] if numbers else text.strip().splitlines()[-1]).strip()
