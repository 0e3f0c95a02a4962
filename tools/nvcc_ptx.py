"""The PTX that the user's own nvcc makes of the kernels of traces/kernels, and recipes that capture it."""
import os
import pathlib
import re
import shutil
import subprocess

# What nvcc compiles for, unless the recipe asks for more: the least that CUDA 13 knows.
ARCHITECTURE = "sm_75"


def find_nvcc():
    """The nvcc in PATH, or at CUDA_PATH or /usr/local/cuda; None if there is none."""
    folders = [os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    candidates = [shutil.which("nvcc")] + [str(pathlib.Path(f) / "bin" / "nvcc") for f in folders if f]
    for candidate in candidates:
        if candidate is None or not os.access(candidate, os.X_OK):
            continue
        told = subprocess.run([candidate, "--version"], capture_output=True, text=True)
        if "NVIDIA" in told.stdout:  # not heddle-nvcc under another name
            return candidate
    return None


def is_cuda(recipe):
    """Whether the recipe's kernels are CUDA, which nvcc may compile."""
    return '.cu"' in recipe.read_text()


def architecture(text):
    """The architecture that nvcc compiles a recipe's kernels for."""
    asked = re.search(r'^target: "(sm_[0-9]+)"', text, flags=re.M)
    return max(ARCHITECTURE, asked.group(1) if asked else ARCHITECTURE, key=lambda name: int(name[3:]))


def recipe_of_ptx(nvcc, recipe, folder):
    """Makes, below `folder`, a copy of a recipe (a pathlib.Path) whose source is nvcc's PTX of its CUDA source. The copy,
    and an empty text; or None, and what nvcc said."""
    text = recipe.read_text()
    source = re.search(r'^source: "(.*)"', text, flags=re.M).group(1)
    here = folder / recipe.parent.name
    shutil.copytree(recipe.parent, here, dirs_exist_ok=True)
    for header in recipe.parent.parent.glob("*.h"):
        shutil.copy(header, folder)
    defines = ["-D" + define for define in re.findall(r'^define: "(.*)"', text, flags=re.M)]
    ptx = here / (recipe.stem + ".ptx")
    command = [
        nvcc,
        f"-arch={architecture(text)}",
        "-std=c++17",
        "-ptx",
        "-lineinfo",
        "-o",
        ptx,
        here / source,
    ] + defines
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        return None, "nvcc: " + made.stderr.strip()
    copy = here / (recipe.stem + ".nvcc.textproto")
    copy.write_text(re.sub(r'^source: ".*"', f'source: "{ptx.name}"', text, flags=re.M))
    return copy, ""
