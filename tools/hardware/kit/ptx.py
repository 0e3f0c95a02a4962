"""PTX of traces, made complete with the toolkit's math functions.

The PTX of a trace calls the functions of libdevice by their names. A compiler that has libdevice makes functions with
these bodies; both texts together are one module, which any driver assembles.
"""

import re

EXTERN = re.compile(r"^\.extern \.func\s+\(\.param \.(b\d+) \w+\) (__nv_\w+)\s*\n\((.*?)\)\s*;\n", re.M | re.S)
OTHER_EXTERN = re.compile(r"^\.extern \.func.*?(\w+)\s*$", re.M)


class Unknown(Exception):
    """A function whose types are not known here."""


def math_functions(text):
    """The functions of libdevice that a module calls: name and number of arguments. Raises Unknown."""
    found = {}
    for result, name, parameters in EXTERN.findall(text):
        types = re.findall(r"\.param \.(b\d+)", parameters)
        # Single precision in and out: what our kernels call. Others need their types written down here.
        if not name.endswith("f") or result != "b32" or any(kind != "b32" for kind in types):
            raise Unknown(f"{name}: its types are not known")
        found[name] = len(types)
    rest = EXTERN.sub("", text)
    other = [name for name in OTHER_EXTERN.findall(rest)]
    if other:
        raise Unknown(f"{other[0]}: is no function of libdevice")
    return found


def wrapper_source(functions):
    """CUDA source with a function `heddle__nv_sinf` that does what `__nv_sinf` does, and so on."""
    lines = []
    for name, count in sorted(functions.items()):
        types = ", ".join(["float"] * count)
        parameters = ", ".join(f"float x{i}" for i in range(count))
        arguments = ", ".join(f"x{i}" for i in range(count))
        lines.append(f'extern "C" __device__ float {name}({types});')
        lines.append(f'extern "C" __device__ float heddle{name}({parameters}) {{ return {name}({arguments}); }}')
    return "\n".join(lines) + "\n"


def join(text, wrappers):
    """A module whose math functions are those of `wrappers`, which the toolkit's compiler has made. It takes the
    wrappers' version of PTX, and keeps its own target: what the target lacks, the wrappers do not use."""
    functions = math_functions(text)
    match = re.search(r"^\.version [\d.]+$", wrappers, re.M)
    if not match or ".address_size 64" not in wrappers:
        raise Unknown("the compiler has not made PTX of libdevice's functions")
    version = match.group(0)
    bodies = wrappers[wrappers.index(".address_size 64") + len(".address_size 64") :]
    text = EXTERN.sub("", text)
    for name in functions:
        text = re.sub(rf"\b{name}\b", f"heddle{name}", text)
    text = re.sub(r"^\.version [\d.]+$", version, text, count=1, flags=re.M)
    head, size, rest = text.partition(".address_size 64\n")
    return head + size + bodies + rest
