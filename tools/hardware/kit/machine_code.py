"""Registers, memory and instructions of machine code, as the assembler and the disassembler tell them."""

import collections
import re

COMPILING = re.compile(r"Compiling entry function '([^']+)'")
PROPERTIES = re.compile(r"Function properties for (\S+)")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
# "/*00b0*/   @!P0 IMAD.WIDE R4, R7, 0x4, R2 ;   /* 0x... */"
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P[T0-9]+\s+)?([A-Z][A-Z0-9_]*)")
FUNCTION = re.compile(r"^\s*Function : (\S+)")


def read_assembler(log):
    """What `ptxas -v` says, by function: registers, spill_store_bytes, spill_load_bytes, static_shared_bytes."""
    found = collections.defaultdict(dict)
    entry = function = None
    for line in log.splitlines():
        if match := COMPILING.search(line):
            entry = match.group(1)
        elif match := PROPERTIES.search(line):
            function = match.group(1)
        elif (match := SPILLS.search(line)) and function:
            found[function]["spill_store_bytes"] = int(match.group(2))
            found[function]["spill_load_bytes"] = int(match.group(3))
        elif (match := USED.search(line)) and entry:
            found[entry]["registers"] = int(match.group(1))
            shared = SHARED.search(line)
            found[entry]["static_shared_bytes"] = int(shared.group(1)) if shared else 0
            # Functions that are told behind it are called ones.
            entry = None
    return {name: values for name, values in found.items() if "registers" in values}


def count_instructions(sass, classes):
    """Instructions in the code by function and class, of what `cuobjdump -sass` prints. `classes`: opcodes by class. An
    opcode that is in no class counts as "unknown"."""
    class_of = {opcode: name for name, opcodes in classes.items() for opcode in opcodes}
    counts = {}
    current = None
    for line in sass.splitlines():
        if match := FUNCTION.match(line):
            current = counts.setdefault(match.group(1), collections.Counter())
        elif (match := INSTRUCTION.match(line)) and current is not None:
            current[class_of.get(match.group(1), "unknown")] += 1
    return {name: dict(sorted(counter.items())) for name, counter in counts.items()}
