#!/usr/bin/python3
"""Reads Heddle traces (.htrace) with nothing but the ordinary protobuf and zstandard packages.

    import heddle_trace
    with heddle_trace.Trace("kernel.htrace") as trace:
        for launch in trace.launches():
            for block in trace.blocks(launch):
                for thread, basic_blocks in enumerate(block.threads()):
                    ...

Bindings: `protoc --python_out=DIR proto/trace.proto`, with DIR on the Python path (the build puts them into
BUILD/python). docs/format.md describes the format. This reader restores paths; addresses stay encoded.

Run as a program it prints every thread's path: heddle_trace.py FILE
"""
import struct
import sys

import zstandard

from proto import trace_pb2

SKIPPABLE_MAGIC = 0x184D2A5E
SEEK_TABLE_MAGIC = 0x8F92EAB1
MAJOR_VERSION = 1
MAX_RECORD_BYTES = 64 << 20
MAX_INSTRUCTIONS = 16 << 20  # thread-instructions of a chunk


class TraceError(Exception):
    """The file breaks a rule of the format."""


class Block:
    """What was recorded of one thread block in one chunk (a part of the block if it was cut in time)."""

    def __init__(self, index, part, last_part, paths):
        self.index = index          # linear block index in the grid
        self.part = part
        self.last_part = last_part
        self._paths = paths         # of each thread: list of basic blocks

    def threads(self):
        """Per thread the list of basic blocks that it entered, in order."""
        return self._paths


class Trace:
    """An open trace."""

    def __init__(self, path):
        self._name = path
        self._file = open(path, "rb")
        try:
            self._frames = self._read_seek_table()
            self.header = self._record(0, "header")
            if self.header.major != MAJOR_VERSION:
                raise TraceError(f"{path}: trace version {self.header.major}, this reader knows {MAJOR_VERSION}.x")
            for feature in self.header.required_feature:
                raise TraceError(f"{path}: the trace needs \"{feature}\", which this reader does not know")
            self.index = self._record(len(self._frames) - 1, "index")
            self.programs = [self._record(frame, "program") for frame in self.index.program_frame]
            self._launches = [self._record(frame, "launch") for frame in self.index.launch_frame]
        except Exception:
            self._file.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._file.close()

    def launches(self):
        """The Launch messages, in order of the run."""
        return self._launches

    def totals(self):
        """The LaunchEnd messages of the recorded launches."""
        return [self._record(frame, "launch_end") for frame in self.index.launch_end_frame]

    def chunks(self, launch):
        """The BlockChunk messages of a launch, in file order."""
        for reference in self.index.chunk:
            if reference.launch == launch.id:
                yield self._record(reference.frame, "chunk")

    def blocks(self, launch):
        """The recorded thread blocks of a launch; a block that was cut in time comes once per part."""
        program = self.programs[launch.program]
        size = launch.block.x * launch.block.y * launch.block.z
        for chunk in self.chunks(launch):
            paths = expand_paths(program, chunk)
            used, threads = 0, []
            for reference in chunk.path_ref:
                if reference == 0:
                    used += 1
                number = used - 1 if reference == 0 else used - reference
                if not 0 <= number < len(paths):
                    raise TraceError(f"{self._name}: path_ref names a path that does not exist")
                threads.append(paths[number])
            index = chunk.first_block
            for i in range(chunk.block_count):
                if i > 0:
                    index += 1 + (chunk.block_gap[i - 1] if chunk.block_gap else 0)
                yield Block(index, chunk.part, chunk.last_part, threads[i * size:(i + 1) * size])

    def _read_seek_table(self):
        size = self._file.seek(0, 2)
        if size < 17:
            raise TraceError(f"{self._name}: too short for a trace")
        self._file.seek(size - 9)
        count, descriptor, magic = struct.unpack("<IBI", self._file.read(9))
        if magic != SEEK_TABLE_MAGIC:
            raise TraceError(f"{self._name}: no seek table at the end: the file was cut off or is not a trace")
        entry = 12 if descriptor & 0x80 else 8
        start = size - 17 - count * entry
        if start < 0:
            raise TraceError(f"{self._name}: the seek table is longer than the file")
        self._file.seek(start)
        table = self._file.read(8 + count * entry)
        if struct.unpack_from("<II", table) != (SKIPPABLE_MAGIC, count * entry + 9):
            raise TraceError(f"{self._name}: no skippable frame around the seek table")
        frames, offset = [], 0
        for i in range(count):
            compressed, decompressed = struct.unpack_from("<II", table, 8 + i * entry)
            frames.append((offset, compressed, decompressed))
            offset += compressed
        if offset != start or count < 2:
            raise TraceError(f"{self._name}: the seek table does not fit the file")
        return frames

    def _record(self, frame, kind):
        if not 0 <= frame < len(self._frames):
            raise TraceError(f"{self._name}: there is no frame {frame}")
        offset, compressed, decompressed = self._frames[frame]
        if decompressed > MAX_RECORD_BYTES:
            raise TraceError(f"{self._name}: frame {frame}: above the limit of {MAX_RECORD_BYTES} bytes")
        self._file.seek(offset)
        try:
            raw = zstandard.ZstdDecompressor().decompress(self._file.read(compressed), max_output_size=decompressed)
        except zstandard.ZstdError as error:
            raise TraceError(f"{self._name}: frame {frame}: {error}") from error
        if len(raw) != decompressed:
            raise TraceError(f"{self._name}: frame {frame}: its size differs from the seek table")
        file = trace_pb2.TraceFile.FromString(raw)
        if len(file.record) != 1 or file.record[0].ordinal != frame or file.record[0].WhichOneof("kind") != kind:
            raise TraceError(f"{self._name}: frame {frame}: does not hold the {kind} record that belongs here")
        return getattr(file.record[0], kind)


def expand_paths(program, chunk):
    """The distinct paths of a chunk, each as the list of basic blocks that a thread enters."""
    table = chunk.paths
    bits, wide, stacks, budget = 0, 0, 0, [MAX_INSTRUCTIONS]
    paths = []
    for p, count in enumerate(table.decision_count):
        wide_count = table.wide_count[p] if table.wide_count else 0
        depth = table.call_depth[p] if table.call_depth else 0
        decisions = [(table.decision_bits[bits + (i >> 3)] >> (i & 7)) & 1 for i in range(count)]
        numbers = table.wide_decision[wide:wide + wide_count]
        start = table.start_block[p] if table.start_block else 0
        stack = list(table.call_stack[stacks:stacks + depth])
        extent = table.extent[p] if table.extent else trace_pb2.PathTable.RUNS_TO_EXIT
        paths.append(_walk(program, start, stack, extent, decisions, numbers, budget))
        bits += (count + 7) // 8
        wide += wide_count
        stacks += depth
    return paths


def _walk(program, block, stack, extent, decisions, numbers, budget):
    entered = []
    if extent == trace_pb2.PathTable.ENDED:
        return entered
    next_bit, next_number = 0, 0
    while True:
        if extent == trace_pb2.PathTable.CUT and next_bit == len(decisions) and next_number == len(numbers):
            return entered
        basic = program.block[block]
        entered.append(block)
        budget[0] -= basic.instruction_count
        if budget[0] < 0:
            raise TraceError("more thread-instructions than a chunk may hold")
        kind = basic.terminator
        try:
            if kind == trace_pb2.FALL_THROUGH:
                block = basic.successor[0]
            elif kind == trace_pb2.BRANCH_CONDITIONAL:
                block = basic.successor[decisions[next_bit]]
                next_bit += 1
            elif kind == trace_pb2.BRANCH_WIDE:
                block = basic.successor[numbers[next_number]]
                next_number += 1
            elif kind == trace_pb2.CALL:
                stack.append(block)
                block = program.function[basic.callee[0]].first_block
            elif kind == trace_pb2.CALL_INDIRECT:
                stack.append(block)
                block = program.function[basic.callee[numbers[next_number]]].first_block
                next_number += 1
            elif kind == trace_pb2.RETURN:
                block = program.block[stack.pop()].successor[0]
            elif kind == trace_pb2.EXIT:
                break
            else:
                raise TraceError(f"block {block} has an unknown terminator")
        except IndexError as error:
            raise TraceError(f"a path does not fit the program at block {block}") from error
    if next_bit != len(decisions) or next_number != len(numbers):
        raise TraceError("a thread exits before its last decision")
    return entered


def main(arguments):
    if len(arguments) != 2:
        print("usage: heddle_trace.py FILE", file=sys.stderr)
        return 2
    try:
        with Trace(arguments[1]) as trace:
            for launch in trace.launches():
                print(f"launch {launch.id} {trace.programs[launch.program].name} "
                      f"{launch.block.x * launch.block.y * launch.block.z} {int(launch.recorded)}")
                for block in trace.blocks(launch):
                    for number, path in enumerate(block.threads()):
                        print(f"{block.index} {block.part} {number}:", *path)
    except (TraceError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
