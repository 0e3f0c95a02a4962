#!/usr/bin/python3
"""Reads Heddle traces (.htrace) with nothing but the ordinary protobuf, zstandard and numpy packages.

    import heddle_trace
    with heddle_trace.Trace("kernel.htrace") as trace:
        for launch in trace.launches():
            for chunk in trace.chunks(launch):              # as much as fits into memory at once
                for thread in range(len(chunk.path_of_thread)):
                    chunk.basic_blocks(thread)              # numpy array: basic blocks that the thread entered
                    chunk.addresses(thread)                 # numpy array: addresses of its accesses, in program order
                    chunk.access_instructions(thread)       # numpy array: the instruction of each of them

Bindings: `protoc --python_out=DIR proto/trace.proto`, with DIR on the Python path (the build puts them into
BUILD/python). docs/format.md describes the format; this reader shows it in code, one step after the other. It refuses what
breaks a rule with a TraceError, however the file came to be.

Run as a program it prints every thread's path: heddle_trace.py [--addresses] FILE
"""
import hashlib
import struct
import sys

import numpy
import zstandard
from google.protobuf.message import DecodeError

from proto import trace_pb2

SKIPPABLE_MAGIC = 0x184D2A5E
SEEK_TABLE_MAGIC = 0x8F92EAB1
MAJOR_VERSION = 1
KNOWN_FEATURES = ("chunks-1.1",)  # required ones
MAX_FRAMES = 1 << 20
MAX_RECORD_BYTES = 20 << 20
MAX_WINDOW_BYTES = 1 << 27
MAX_CHUNK_INSTRUCTIONS = 8 << 20  # thread-instructions
MAX_CHUNK_ACCESSES = 2 << 20
MAX_CHUNK_THREADS = 1 << 20
MAX_CHUNK_PATHS = 1 << 18
MAX_CALL_DEPTH = 4096
MASK = (1 << 64) - 1

PathTable = trace_pb2.PathTable
AddressColumn = trace_pb2.AddressColumn


class TraceError(Exception):
    """The file breaks a rule of the format."""


class Trace:
    """An open trace."""

    def __init__(self, path):
        self._name = str(path)
        self._file = open(path, "rb")
        try:
            self._frames = self._read_seek_table()
            self.header = self._record(0, "header")
            if self.header.major != MAJOR_VERSION:
                raise TraceError(f"{path}: trace version {self.header.major}, this reader knows {MAJOR_VERSION}.x")
            for feature in self.header.required_feature:
                if feature not in KNOWN_FEATURES:
                    raise TraceError(f"{path}: the trace needs \"{feature[:80]}\", which this reader does not know")
            self.index = self._record(len(self._frames) - 1, "index")
            self.programs = [self._record(frame, "program") for frame in self.index.program_frame]
            self._launches = [self._record(frame, "launch") for frame in self.index.launch_frame]
            self._accesses = [None] * len(self.programs)
            self._check_contents()
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
        """The decoded chunks of a launch, in file order. A block that was cut in time comes once per part."""
        program = self.programs[launch.program]
        if self._accesses[launch.program] is None:
            self._accesses[launch.program] = accesses_of_blocks(program)
        for reference in self.index.chunk:
            if reference.launch != launch.id:
                continue
            message = self._record(reference.frame, "chunk")
            for field in ("launch", "first_block", "block_count", "part", "thread_instructions", "accesses"):
                if getattr(message, field) != getattr(reference, field):
                    raise TraceError(f"{self._name}: frame {reference.frame}: {field} differs from the index")
            try:
                yield Chunk(program, self._accesses[launch.program], launch, message)
            except TraceError as error:
                raise TraceError(f"{self._name}: frame {reference.frame}: {error}") from error

    def verify(self):
        """Reads every frame; raises TraceError if one is damaged or the digest of all is not that of the index."""
        digest = hashlib.sha256()
        for frame in range(len(self._frames) - 1):
            digest.update(self._raw(frame))
        if digest.digest() != self.index.content_sha256:
            raise TraceError(f"{self._name}: the digest is not that of the frames")

    def _read_seek_table(self):
        size = self._file.seek(0, 2)
        if size < 17:
            raise TraceError(f"{self._name}: too short for a trace")
        self._file.seek(size - 9)
        count, descriptor, magic = struct.unpack("<IBI", self._file.read(9))
        if magic != SEEK_TABLE_MAGIC:
            raise TraceError(f"{self._name}: no seek table at the end: the file was cut off or is not a trace")
        if descriptor & 0x7c or not 2 <= count <= MAX_FRAMES:
            raise TraceError(f"{self._name}: the seek table has {count} frames or unknown flags")
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
            if decompressed > MAX_RECORD_BYTES:
                raise TraceError(f"{self._name}: frame {i}: above the limit of {MAX_RECORD_BYTES} bytes")
            frames.append((offset, compressed, decompressed))
            offset += compressed
        if offset != start:
            raise TraceError(f"{self._name}: the seek table does not fit the file")
        return frames

    def _raw(self, frame):
        if not 0 <= frame < len(self._frames):
            raise TraceError(f"{self._name}: there is no frame {frame}")
        offset, compressed, decompressed = self._frames[frame]
        self._file.seek(offset)
        data = self._file.read(compressed)
        try:
            parameters = zstandard.get_frame_parameters(data)
            if parameters.content_size != decompressed or not parameters.has_checksum:
                raise TraceError(f"{self._name}: frame {frame}: no checksum, or its size differs from the seek table")
            raw = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).decompress(data)
        except zstandard.ZstdError as error:
            raise TraceError(f"{self._name}: frame {frame}: {error}") from error
        if len(raw) != decompressed:
            raise TraceError(f"{self._name}: frame {frame}: its size differs from the seek table")
        return raw

    def _record(self, frame, kind):
        try:
            file = trace_pb2.TraceFile.FromString(self._raw(frame))
        except DecodeError as error:
            raise TraceError(f"{self._name}: frame {frame}: not a well-formed message") from error
        if len(file.record) != 1 or file.record[0].ordinal != frame or file.record[0].WhichOneof("kind") != kind:
            raise TraceError(f"{self._name}: frame {frame}: does not hold the {kind} record that belongs here")
        return getattr(file.record[0], kind)

    def _check_contents(self):
        for program in self.programs:
            for block in program.block:
                end = block.first_instruction + block.instruction_count
                if block.instruction_count == 0 or end > len(program.instruction):
                    raise TraceError(f"{self._name}: program {program.id}: a block does not fit the instructions")
        for number, launch in enumerate(self._launches):
            if launch.id != number or launch.program >= len(self.programs):
                raise TraceError(f"{self._name}: launch {number} has a wrong number or program")
            if not 1 <= threads_per_block(launch) <= 1024:
                raise TraceError(f"{self._name}: launch {number}: a block must have between 1 and 1024 threads")


class Chunk:
    """Consecutive thread blocks of a launch, or one part of a block that was cut in time. Threads count over all blocks of
    the chunk, in linear order."""

    def __init__(self, program, accesses, launch, message):
        self.message = message                # the BlockChunk as it is in the file
        self.part = message.part
        self.last_part = message.last_part
        self.threads_per_block = threads_per_block(launch)
        self.blocks = _block_numbers(message, self.threads_per_block)  # numpy array of linear indices in the grid
        paths = _expand_paths(program, message)
        self.path_of_thread = _path_numbers(message, len(paths))       # numpy array
        # Per path: the basic blocks that it enters, and the instruction of each access.
        self.path_basic_blocks = [numpy.array(path, dtype=numpy.uint32) for path in paths]
        self._path_instructions = []
        for path in paths:
            instructions = [accesses[block] for block in path]
            self._path_instructions.append(
                numpy.concatenate(instructions) if instructions else numpy.empty(0, numpy.uint32))
        counts = numpy.array([len(path) for path in self._path_instructions], dtype=numpy.int64)
        self._first_address = numpy.concatenate(([0], numpy.cumsum(counts[self.path_of_thread])))
        self._check_totals(program)
        self._addresses = _decode_addresses(program, message, self.path_of_thread, self._path_instructions)

    def basic_blocks(self, thread):
        """The basic blocks that a thread entered, in order."""
        return self.path_basic_blocks[self.path_of_thread[thread]]

    def addresses(self, thread):
        """The addresses of a thread's accesses, in program order."""
        return self._addresses[self._first_address[thread]:self._first_address[thread + 1]]

    def access_instructions(self, thread):
        """The instruction (index in the program) of each element of addresses(thread)."""
        return self._path_instructions[self.path_of_thread[thread]]

    def all_addresses(self):
        """The addresses of all threads, one after the other, and where each thread's begin (and the last one's end)."""
        return self._addresses, self._first_address

    def _check_totals(self, program):
        sizes = numpy.array([block.instruction_count for block in program.block], dtype=numpy.int64)
        uses = numpy.bincount(self.path_of_thread, minlength=len(self.path_basic_blocks))
        instructions = sum(int(sizes[path].sum()) * int(n) for path, n in zip(self.path_basic_blocks, uses))
        accesses = int(self._first_address[-1])
        if instructions > MAX_CHUNK_INSTRUCTIONS or accesses > MAX_CHUNK_ACCESSES:
            raise TraceError("more thread-instructions or accesses than a chunk may hold")
        if (instructions, accesses) != (self.message.thread_instructions, self.message.accesses):
            raise TraceError(f"the paths have {instructions} thread-instructions and {accesses} accesses, the chunk "
                             "declares others")


def threads_per_block(launch):
    """Threads of each thread block of a launch."""
    return launch.block.x * launch.block.y * launch.block.z


def accesses_of_blocks(program):
    """Per basic block, the instructions that have an address column (section 2 of docs/format.md)."""
    memory = (trace_pb2.OP_LOAD, trace_pb2.OP_STORE, trace_pb2.OP_ATOMIC, trace_pb2.OP_TEXTURE)
    out = []
    for block in program.block:
        instructions = range(block.first_instruction, block.first_instruction + block.instruction_count)
        out.append(numpy.array([i for i in instructions if program.instruction[i].op in memory
                                and not program.instruction[i].flags & trace_pb2.FLAG_NO_ADDRESS],
                               dtype=numpy.uint32))
    return out


# ------------------------------------------------------------------------------------------------------------- paths

def _block_numbers(chunk, size):
    threads = _thread_count(chunk)
    if threads > MAX_CHUNK_THREADS or threads != chunk.block_count * size or chunk.block_count == 0:
        raise TraceError("the threads are not those of the chunk's blocks, or too many")
    if chunk.block_gap and len(chunk.block_gap) != chunk.block_count - 1:
        raise TraceError("block_gap must have an element for each block but the first")
    blocks = [chunk.first_block]
    for i in range(chunk.block_count - 1):
        blocks.append(blocks[-1] + 1 + (chunk.block_gap[i] if chunk.block_gap else 0))
    if blocks[-1] > MASK:
        raise TraceError("block numbers overflow")
    return numpy.array(blocks, dtype=numpy.uint64)


def _thread_count(chunk):
    if chunk.path_number and chunk.path_ref:
        raise TraceError("a chunk has either path_number or path_ref")
    return len(chunk.path_number or chunk.path_ref)


def _path_numbers(chunk, paths):
    """Which path each thread takes (section 3)."""
    out, used = numpy.empty(_thread_count(chunk), dtype=numpy.int64), 0
    for thread, reference in enumerate(chunk.path_number or chunk.path_ref):
        if reference > used or (reference == 0 and used == paths):
            raise TraceError("path_number or path_ref names a path that does not exist")
        if reference == 0:
            out[thread] = used
            used += 1
        else:
            out[thread] = reference - 1 if chunk.path_number else used - reference
    if used != paths:
        raise TraceError("paths are left that no thread takes")
    return out


def _expand_paths(program, chunk):
    """The distinct paths of a chunk, each as the list of basic blocks that a thread enters (section 3)."""
    table = chunk.paths
    if len(table.decision_count) > MAX_CHUNK_PATHS:
        raise TraceError("too many paths")
    if 8 * len(table.decision_bits) < sum(table.decision_count):
        raise TraceError("decision_bits does not have the bits of all paths")
    bits, wide, stacks, budget = 0, 0, 0, [MAX_CHUNK_INSTRUCTIONS]
    paths = []
    try:
        for p, count in enumerate(table.decision_count):
            wide_count = table.wide_count[p] if table.wide_count else 0
            depth = table.call_depth[p] if table.call_depth else 0
            decisions = [(table.decision_bits[bits + (i >> 3)] >> (i & 7)) & 1 for i in range(count)]
            numbers = table.wide_decision[wide:wide + wide_count]
            start = table.start_block[p] if table.start_block else 0
            stack = list(table.call_stack[stacks:stacks + depth])
            extent = table.extent[p] if table.extent else PathTable.RUNS_TO_EXIT
            paths.append(_walk(program, start, stack, extent, decisions, numbers, budget))
            bits += (count + 7) // 8
            wide += wide_count
            stacks += depth
    except IndexError as error:
        raise TraceError(f"path {len(paths)} does not fit the program or its table") from error
    if (bits, wide, stacks) != (len(table.decision_bits), len(table.wide_decision), len(table.call_stack)):
        raise TraceError("the path table has more than its paths need")
    return paths


def _walk(program, block, stack, extent, decisions, numbers, budget):
    entered = []
    if extent == PathTable.ENDED:
        return entered
    next_bit, next_number = 0, 0
    while True:
        if extent == PathTable.CUT and next_bit == len(decisions) and next_number == len(numbers):
            return entered
        basic = program.block[block]
        entered.append(block)
        budget[0] -= basic.instruction_count
        if budget[0] < 0 or len(stack) > MAX_CALL_DEPTH:
            raise TraceError("more thread-instructions than a chunk may hold, or calls too deep")
        kind = basic.terminator
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
    if next_bit != len(decisions) or next_number != len(numbers):
        raise TraceError("a thread exits before its last decision")
    return entered


# --------------------------------------------------------------------------------------------------------- addresses

class _Chain:
    """What columns of one array have in common: whose access was the latest, and its address."""

    def __init__(self, message):
        self._message = message
        self.latest = message.start
        self.state = 0
        self.members = 0

    def start(self):
        """A thread begins."""
        self.state = 0
        if not self._message.carry:
            self.latest = self._message.start


class _Column:
    """One address column while threads are walked. `start` is called when a thread comes that runs the instruction, then
    `next` for each of its accesses."""

    def __init__(self, message, chains):
        self.message = message
        self.chain = None
        if message.chain > len(chains):
            raise TraceError(f"column of instruction {message.instruction}: its chain does not exist")
        if message.chain > 0:
            self.chain = chains[message.chain - 1]
            self.chain.members += 1
            self._state = self.chain.members
        self.accesses = 0    # of all threads
        self.threads = 0     # that run the instruction
        self.most = 0        # accesses of one thread
        self.latest = 0      # address of the thread's latest access
        self.reference = None
        self._bases = self._residuals = iter(())
        self._steps = []
        self._base = 0
        self._occurrence = 0

    def prepare(self, columns, threads):
        """Decodes what is stored, once the totals are known. `threads` are the accesses of each thread that runs the
        instruction, and all accesses of that thread."""
        message = self.message
        chained = message.model == AddressColumn.CHAIN
        if len(message.chain_bias) != (self.chain.members + 1 if chained and self.chain else 0):
            raise TraceError(f"column of instruction {message.instruction}: chain_bias has the wrong length")
        if chained and self.chain is None:
            raise TraceError(f"column of instruction {message.instruction}: model CHAIN needs a chain")
        has_bases = message.model in (AddressColumn.SEPARABLE, AddressColumn.TIME)
        if len(message.base_dd) != (self.threads if has_bases else 0):
            raise TraceError(f"column of instruction {message.instruction}: base_dd has the wrong length")
        if len(message.step_dd) != (self.most - 1 if message.model == AddressColumn.SEPARABLE else 0):
            raise TraceError(f"column of instruction {message.instruction}: step_dd has the wrong length")
        self._bases = iter(_from_second_differences(message.base_dd))
        if message.model == AddressColumn.SEPARABLE:
            self._steps = [0] + _from_second_differences(message.step_dd)
            return
        first = 0
        if message.model == AddressColumn.TIME:
            first = 1
            if message.scaled:
                raise TraceError(f"column of instruction {message.instruction}: scaled does not go with TIME")
        elif message.model == AddressColumn.CHAIN:
            pass
        elif message.model == AddressColumn.RELATIVE:
            self.reference = columns.get(message.ref_instruction)
            if self.reference is None or message.ref_instruction >= message.instruction:
                raise TraceError(f"column of instruction {message.instruction}: ref_instruction is not a lower one")
            if abs(message.ref_shift) > 63:
                raise TraceError(f"column of instruction {message.instruction}: ref_shift is beyond 63")
        else:
            raise TraceError(f"column of instruction {message.instruction}: unknown model {message.model}")
        self._residuals = iter(_residuals(message, [(count - first, total) for count, total in threads]))

    def start(self):
        """A thread begins."""
        if self.message.model in (AddressColumn.SEPARABLE, AddressColumn.TIME):
            self._base = next(self._bases)
        self._occurrence = 0

    def next(self):
        """The address of the thread's next access (section 4)."""
        message = self.message
        if message.model == AddressColumn.SEPARABLE:
            address = self._base + self._steps[self._occurrence]
        elif message.model == AddressColumn.RELATIVE:
            address = _shifted(self.reference.latest, message.ref_shift) + message.bias + next(self._residuals)
        elif message.model == AddressColumn.CHAIN:
            chain = self.chain
            address = chain.latest + message.bias + message.chain_bias[chain.state] + next(self._residuals)
        elif self._occurrence == 0:
            address = self._base
        else:
            address = self.latest + message.bias + next(self._residuals)
        self._occurrence += 1
        self.latest = address & MASK
        if self.chain is not None:
            self.chain.latest = self.latest
            self.chain.state = self._state
        return self.latest


def _decode_addresses(program, chunk, path_of_thread, path_instructions):
    """The addresses of all threads, one after the other."""
    columns = {}
    chains = [_Chain(message) for message in chunk.chain]
    last = -1
    for message in chunk.column:
        if message.instruction <= last:
            raise TraceError("columns must ascend by instruction")
        last = message.instruction
        columns[last] = _Column(message, chains)
    uses = numpy.bincount(path_of_thread, minlength=len(path_instructions))
    totals = numpy.array([len(instructions) for instructions in path_instructions], dtype=numpy.int64)
    counts = {instruction: numpy.zeros(len(path_instructions), dtype=numpy.int64) for instruction in columns}
    for path, (instructions, threads) in enumerate(zip(path_instructions, uses)):
        for instruction, count in zip(*numpy.unique(instructions, return_counts=True)):
            column = columns.get(int(instruction))
            if column is None:
                raise TraceError(f"instruction {instruction} ran but has no column")
            counts[int(instruction)][path] = count
            column.accesses += int(count) * int(threads)
            column.threads += int(threads)
            column.most = max(column.most, int(count))
    for instruction, column in columns.items():
        if column.accesses == 0:
            raise TraceError(f"column of instruction {instruction}: no thread runs it")
        by_thread = counts[instruction][path_of_thread]
        runs = by_thread > 0
        column.prepare(columns, list(zip(by_thread[runs].tolist(), totals[path_of_thread][runs].tolist())))
    sequences = [[columns[int(i)] for i in instructions] for instructions in path_instructions]
    distinct = [list(dict.fromkeys(sequence)) for sequence in sequences]
    out = []
    before = ()
    for path in path_of_thread:
        for column in before:
            column.latest = 0
        before = distinct[path]
        for column in before:
            column.start()
        for chain in chains:
            chain.start()
        out.extend([column.next() for column in sequences[path]])
    return numpy.array(out, dtype=numpy.uint64)


def _from_second_differences(differences):
    value, delta, out = 0, 0, []
    for difference in differences:
        delta += difference
        value += delta
        out.append(value & MASK)
    return out


def _shifted(address, shift):
    if shift >= 0:
        return address << shift
    signed = address - (1 << 64) if address >> 63 else address
    return signed >> -shift


def _residuals(column, threads):
    """The residuals of a column as a list of numbers (section 4). `threads`: how many each thread has, and its accesses by
    all columns."""
    count = sum(residuals for residuals, _ in threads)
    where = f"column of instruction {column.instruction}: "
    if column.residual_count != count or column.shift > 63 or column.order != AddressColumn.THREAD_MAJOR:
        raise TraceError(where + "residual_count, shift or order is wrong")
    if column.layout == AddressColumn.ZERO:
        if column.residual or column.sparse_gap:
            raise TraceError(where + "layout ZERO has no residual bytes")
        return [0] * count
    if column.layout == AddressColumn.PLANES:
        if not 1 <= column.width <= 8 or len(column.residual) % column.width != 0:
            raise TraceError(where + "residual planes of unequal length")
        planes = numpy.frombuffer(column.residual, dtype=numpy.uint8).reshape(column.width, -1).astype(numpy.uint64)
        stored = sum(plane << numpy.uint64(8 * i) for i, plane in enumerate(planes))
    elif column.layout == AddressColumn.VARINT:
        stored = _varints(column.residual)
    elif column.layout == AddressColumn.BITS:
        if column.scaled and column.sparse_gap:
            raise TraceError(where + "sparse residuals cannot be scaled")
        stored = _bits(column, threads, where)
    else:
        raise TraceError(where + f"unknown layout {column.layout}")
    if column.sparse_gap:
        gaps = [int(gap) for gap in _varints(column.sparse_gap)]
        if len(gaps) != len(stored) or sum(gaps) + len(gaps) > count:
            raise TraceError(where + "sparse positions do not fit the residuals")
        values = numpy.zeros(count, dtype=numpy.uint64)
        values[numpy.cumsum(numpy.array(gaps, dtype=numpy.int64) + 1) - 1] = stored
        stored = values
    elif len(stored) != count:
        raise TraceError(where + f"residual bytes do not hold {count} residuals")
    if column.layout == AddressColumn.BITS and column.nonnegative:
        return [int(value) << column.shift for value in stored]
    one = numpy.uint64(1)
    signed = ((stored >> one) ^ -(stored & one).astype(numpy.int64).astype(numpy.uint64)).view(numpy.int64)
    return [int(value) << column.shift for value in signed]


def _bits(column, threads, where):
    """Numbers of layout BITS: the lengths, then the bits below the leading one of each."""
    lengths = numpy.frombuffer(column.residual, dtype=numpy.uint8).astype(numpy.int64)
    nonzero = lengths > 0
    if column.scaled:
        scales = numpy.repeat([total.bit_length() for _, total in threads], [residuals for residuals, _ in threads])
        if len(scales) != len(lengths):
            raise TraceError(where + "residual bytes do not hold the residuals of all threads")
        lengths = numpy.where(nonzero, lengths - scales, 0)
    if ((lengths[nonzero] < 1) | (lengths[nonzero] > 64)).any():
        raise TraceError(where + "a bit length is not between 1 and 64")
    below = numpy.maximum(lengths - 1, 0)
    starts = numpy.concatenate(([0], numpy.cumsum(below)))
    if (int(starts[-1]) + 7) // 8 != len(column.residual_bits):
        raise TraceError(where + "residual_bits does not have the bits that the lengths ask for")
    data = numpy.frombuffer(column.residual_bits + bytes(16), dtype=numpy.uint8).astype(numpy.uint64)
    at, shift = starts[:-1] >> 3, (starts[:-1] & 7).astype(numpy.uint64)
    low = numpy.zeros(len(lengths), dtype=numpy.uint64)
    for i in range(8):
        low |= data[at + i] << numpy.uint64(8 * i)
    high = numpy.where(shift > 0, data[at + 8] << (numpy.uint64(64) - numpy.maximum(shift, numpy.uint64(1))),
                       numpy.uint64(0))
    one = numpy.uint64(1)
    value = ((low >> shift) | high) & ((one << below.astype(numpy.uint64)) - one)
    return numpy.where(nonzero, value | (one << below.astype(numpy.uint64)), numpy.uint64(0))


def _varints(data):
    """Base-128 varints as an array."""
    data = numpy.frombuffer(data, dtype=numpy.uint8)
    ends = numpy.flatnonzero(data < 0x80)
    if len(data) > 0 and (len(ends) == 0 or ends[-1] != len(data) - 1):
        raise TraceError("varints end early")
    starts = numpy.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
    lengths = ends - starts + 1
    if len(lengths) and lengths.max() > 10:
        raise TraceError("a varint is too long")
    values = numpy.zeros(len(ends), dtype=numpy.uint64)
    for i in range(int(lengths.max()) if len(lengths) else 0):
        has = lengths > i
        piece = (data[starts[has] + i] & 0x7f).astype(numpy.uint64)
        if i == 9 and (piece > 1).any():
            raise TraceError("a varint is too long")
        values[has] |= piece << numpy.uint64(7 * i)
    return values


def main(arguments):
    """Prints what threads did, for people and for tests."""
    with_addresses = len(arguments) == 3 and arguments[1] == "--addresses"
    if len(arguments) != 2 and not with_addresses:
        print("usage: heddle_trace.py [--addresses] FILE", file=sys.stderr)
        return 2
    try:
        with Trace(arguments[-1]) as trace:
            trace.verify()
            for launch in trace.launches():
                size = threads_per_block(launch)
                print(f"launch {launch.id} {trace.programs[launch.program].name} {size} {int(launch.recorded)}")
                for chunk in trace.chunks(launch):
                    for thread in range(len(chunk.path_of_thread)):
                        place = f"{chunk.blocks[thread // size]} {chunk.part} {thread % size}:"
                        print(place, *chunk.basic_blocks(thread))
                        if with_addresses:
                            pairs = zip(chunk.access_instructions(thread), chunk.addresses(thread))
                            print(place, *(f"{instruction}@{address:x}" for instruction, address in pairs))
    except (TraceError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
