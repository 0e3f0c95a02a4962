"""A chunk of a launch: its thread blocks, the path of every thread, and its addresses (columns.py)."""
import numpy

from heddle.columns import OPERANDS, decode_addresses
from heddle.rules import (
    MASK,
    MAX_CALL_DEPTH,
    MAX_CHUNK_ACCESSES,
    MAX_CHUNK_INSTRUCTIONS,
    MAX_CHUNK_PATHS,
    MAX_CHUNK_THREADS,
    TraceError,
)
from proto import trace_pb2

PathTable = trace_pb2.PathTable


class Chunk:
    """Consecutive thread blocks of a launch, or one part of a block that was cut in time. Threads count over all blocks of
    the chunk, in linear order."""

    def __init__(self, program, columns, launch, message):
        self.message = message  # the BlockChunk as it is in the file
        self.part = message.part
        self.last_part = message.last_part
        self.threads_per_block = threads_per_block(launch)
        self.blocks = _block_numbers(message, self.threads_per_block)  # numpy array of linear indices in the grid
        paths = _expand_paths(program, message)
        self.path_of_thread = _path_numbers(message, len(paths))  # numpy array
        # Per path: the basic blocks that it enters, and the column of each access (columns_of_blocks).
        self.path_basic_blocks = [numpy.array(path, dtype=numpy.uint32) for path in paths]
        self._path_columns = []
        for path in paths:
            numbers = [columns[block] for block in path]
            self._path_columns.append(numpy.concatenate(numbers) if numbers else numpy.empty(0, numpy.uint32))
        counts = numpy.array([len(path) for path in self._path_columns], dtype=numpy.int64)
        self._first_address = numpy.concatenate(([0], numpy.cumsum(counts[self.path_of_thread])))
        self._check_totals(program)
        self._addresses = decode_addresses(
            program, message, self.path_of_thread, self._path_columns, self.path_basic_blocks
        )

    def basic_blocks(self, thread):
        """The basic blocks that a thread entered, in order."""
        return self.path_basic_blocks[self.path_of_thread[thread]]

    def addresses(self, thread):
        """The addresses of a thread's accesses, in program order; of an instruction with several operands, each that is
        recorded: access_operands(thread) tells which."""
        return self._addresses[self._first_address[thread] : self._first_address[thread + 1]]

    def access_instructions(self, thread):
        """The instruction (index in the program) of each element of addresses(thread)."""
        return self._path_columns[self.path_of_thread[thread]] // OPERANDS

    def access_operands(self, thread):
        """Which of Instruction.operand each element of addresses(thread) is; 0 for an ordinary access."""
        return self._path_columns[self.path_of_thread[thread]] % OPERANDS

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
            raise TraceError(
                f"the paths have {instructions} thread-instructions and {accesses} accesses, the chunk "
                "declares others"
            )


def threads_per_block(launch):
    """Threads of each thread block of a launch."""
    return launch.block.x * launch.block.y * launch.block.z


def cluster_and_rank(launch, block):
    """The cluster that a thread block of the grid belongs to, and its rank there. Without clusters every block is one."""
    grid = (launch.grid.x, launch.grid.y, launch.grid.z)
    size = (launch.cluster.x, launch.cluster.y, launch.cluster.z) if launch.HasField("cluster") else (1, 1, 1)
    place = (block % grid[0], block // grid[0] % grid[1], block // grid[0] // grid[1])
    clusters = [blocks // of_cluster for blocks, of_cluster in zip(grid, size)]
    x, y, z = (at // of_cluster for at, of_cluster in zip(place, size))
    within = [at % of_cluster for at, of_cluster in zip(place, size)]
    cluster = x + clusters[0] * (y + clusters[1] * z)
    return cluster, within[0] + size[0] * (within[1] + size[1] * within[2])


def accesses_of_blocks(program):
    """Per basic block, the instructions that have an address column (section 2 of docs/reference/format.md); one with
    several columns comes once for each."""
    return [numbers // OPERANDS for numbers in columns_of_blocks(program)]


def columns_of_blocks(program):
    """Per basic block, its columns in order: OPERANDS times the instruction plus the operand."""
    memory = (trace_pb2.OP_LOAD, trace_pb2.OP_STORE, trace_pb2.OP_ATOMIC, trace_pb2.OP_TEXTURE)
    out = []
    for block in program.block:
        instructions = range(block.first_instruction, block.first_instruction + block.instruction_count)
        out.append(
            numpy.array(
                [OPERANDS * i + operand for i in instructions for operand in _recorded(program.instruction[i], memory)],
                dtype=numpy.uint32,
            )
        )
    return out


def _recorded(instruction, memory):
    """The operands that threads record when they run the instruction."""
    if not instruction.operand:
        has_address = instruction.op in memory and not instruction.flags & trace_pb2.FLAG_NO_ADDRESS
        return [0] if has_address else []
    return [number for number, operand in enumerate(instruction.operand) if not operand.constant]


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
    decision_bits = _decision_bits(table)
    if 8 * len(decision_bits) < sum(table.decision_count):
        raise TraceError("decision_bits does not have the bits of all paths")
    bits, wide, stacks, budget = 0, 0, 0, [MAX_CHUNK_INSTRUCTIONS]
    paths = []
    try:
        for p, count in enumerate(table.decision_count):
            wide_count = table.wide_count[p] if table.wide_count else 0
            depth = table.call_depth[p] if table.call_depth else 0
            decisions = [(decision_bits[bits + (i >> 3)] >> (i & 7)) & 1 for i in range(count)]
            numbers = table.wide_decision[wide : wide + wide_count]
            start = table.start_block[p] if table.start_block else 0
            stack = list(table.call_stack[stacks : stacks + depth])
            extent = table.extent[p] if table.extent else PathTable.RUNS_TO_EXIT
            paths.append(_walk(program, start, stack, extent, decisions, numbers, budget))
            bits += (count + 7) // 8
            wide += wide_count
            stacks += depth
    except IndexError as error:
        raise TraceError(f"path {len(paths)} does not fit the program or its table") from error
    if (bits, wide, stacks) != (len(decision_bits), len(table.wide_decision), len(table.call_stack)):
        raise TraceError("the path table has more than its paths need")
    return paths


def _decision_bits(table):
    """The two-way decisions path after path, if they stand in planes."""
    if not table.decision_planes:
        return table.decision_bits
    counts = numpy.array(table.decision_count, dtype=numpy.int64)
    if table.decision_bits or counts.sum() > MAX_CHUNK_INSTRUCTIONS:
        raise TraceError("decision_bits and decision_planes, or more decisions than a chunk may hold")
    planes = numpy.frombuffer(table.decision_planes, dtype=numpy.uint8)
    first_bit = 8 * numpy.concatenate(([0], numpy.cumsum((counts + 7) // 8)))
    bits = numpy.zeros(int(first_bit[-1]), dtype=numpy.uint8)
    place, decision = 0, 0
    active = numpy.flatnonzero(counts > 0)
    while len(active):
        end = place + (len(active) + 7) // 8
        if end > len(planes):
            raise TraceError("decision_planes does not have the bits of all paths")
        bits[first_bit[active] + decision] = numpy.unpackbits(planes[place:end], bitorder="little")[: len(active)]
        place = end
        decision += 1
        active = active[counts[active] > decision]
    if place != len(planes):
        raise TraceError("decision_planes has more than the paths need")
    return numpy.packbits(bits, bitorder="little").tobytes()


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
