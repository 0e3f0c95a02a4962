"""Reads Heddle traces (.htrace) with nothing but the ordinary protobuf, zstandard and numpy packages.

    from heddle import trace
    with trace.Trace("kernel.htrace") as opened:
        for launch in opened.launches():
            for chunk in opened.chunks(launch):             # as much as fits into memory at once
                for thread in range(len(chunk.path_of_thread)):
                    chunk.basic_blocks(thread)              # numpy array: basic blocks that the thread entered
                    chunk.addresses(thread)                 # numpy array: addresses of its accesses, in program order
                    chunk.access_instructions(thread)       # numpy array: the instruction of each of them

docs/reference/format.md describes the format; container.py, chunks.py and columns.py show it in code, one step after the other. They
refuse what breaks a rule with a TraceError, however the file came to be.

Run as a program it prints every thread's path: python3 -m heddle.trace [--addresses] FILE
"""
import sys

from heddle.chunks import Chunk, accesses_of_blocks, cluster_and_rank, threads_per_block
from heddle.container import Trace
from heddle.rules import TraceError
from heddle.writers import last_writers

__all__ = [
    "Chunk",
    "Trace",
    "TraceError",
    "accesses_of_blocks",
    "cluster_and_rank",
    "last_writers",
    "threads_per_block",
]


def printable(text):
    """The text with what acts on a terminal instead of being seen as escapes."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(text))


def main(arguments):
    """Prints what threads did, for people and for tests."""
    with_addresses = len(arguments) == 3 and arguments[1] == "--addresses"
    if len(arguments) != 2 and not with_addresses:
        print("usage: python3 -m heddle.trace [--addresses] FILE", file=sys.stderr)
        return 2
    try:
        with Trace(arguments[-1]) as opened:
            opened.verify()
            for launch in opened.launches():
                size = threads_per_block(launch)
                print(
                    f"launch {launch.id} {printable(opened.programs[launch.program].name)} {size} "
                    f"{int(launch.recorded)}"
                )
                for chunk in opened.chunks(launch):
                    for thread in range(len(chunk.path_of_thread)):
                        place = f"{chunk.blocks[thread // size]} {chunk.part} {thread % size}:"
                        print(place, *chunk.basic_blocks(thread))
                        if with_addresses:
                            pairs = zip(chunk.access_instructions(thread), chunk.addresses(thread))
                            print(place, *(f"{instruction}@{address:x}" for instruction, address in pairs))
    except (TraceError, OSError) as error:
        print(printable(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
