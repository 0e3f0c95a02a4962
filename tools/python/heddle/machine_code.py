"""What programs of machine code have beside those of PTX: registers of the architecture, control bits, convergence barriers.

    from heddle import machine_code, trace
    with trace.Trace("kernel.htrace") as opened:
        for program in opened.programs:
            machine_code.registers(program.function[0])            # ["R0", "R4", "P0", "UR6"] by number from 1; or None
            machine_code.control(program.instruction[0])           # Control(stall=4, yields=False, ...), or None
            machine_code.registers_by_file(program)                # {"general": 24, "predicate": 2, ...}
"""
import collections

from heddle.rules import TraceError
from proto import trace_pb2

NO_BARRIER = 7
CONTROL_BARRIERS = 6
CONVERGENCE_BARRIERS = 16
# By RegisterFile: how names begin, and how many registers hold something (R255, P7, UR63 and UP7 are constant).
FILES = (("R", 255), ("P", 7), ("UR", 63), ("UP", 7), ("B", CONVERGENCE_BARRIERS))
FILE_NAMES = ("general", "predicate", "uniform", "uniform_predicate", "convergence")
WITH_BARRIER = (trace_pb2.Convergence.SET, trace_pb2.Convergence.SYNC, trace_pb2.Convergence.BREAK)

# How the assembler schedules an instruction. `stall`: cycles until the warp may issue its next one; `yields`: the scheduler
# should go on with another warp; barriers that are lowered when the result is written and when the operands were read, or
# NO_BARRIER; a bit for each barrier that it waits for, and for each operand whose register is kept for reuse.
Control = collections.namedtuple("Control", "stall yields write_barrier read_barrier wait_mask reuse")

# Where the fields of Control begin in the packed number, and how many bits they have.
PARTS = ((0, 4), (4, 1), (5, 3), (8, 3), (11, CONTROL_BARRIERS), (17, 4))
CONTROL_BITS = sum(bits for _, bits in PARTS)


def pack_control(control):
    """Instruction.control of a Control: never 0."""
    return 1 + sum((int(value) & (1 << bits) - 1) << at for value, (at, bits) in zip(control, PARTS))


def unpack_control(number):
    """The Control of Instruction.control; None if that is 0, which is not told."""
    if number == 0:
        return None
    stall, yields, *others = ((number - 1) >> at & (1 << bits) - 1 for at, bits in PARTS)
    return Control(stall, bool(yields), *others)


def control(instruction):
    """How the assembler schedules an instruction; None if the trace does not tell."""
    return unpack_control(instruction.control)


def registers(function):
    """Names of a function's registers, by number from 1 at 0; None if they are virtual."""
    if not function.register_file:
        return None
    return [FILES[file][0] + str(number) for file, number in zip(function.register_file, function.register_number)]


def registers_by_file(program):
    """How many different registers of each file the functions of a program have."""
    used = {pair for function in program.function for pair in zip(function.register_file, function.register_number)}
    counts = collections.Counter(file for file, _ in used)
    return {name: counts[file] for file, name in enumerate(FILE_NAMES)}


def instructions_of(program, function):
    """Numbers and instructions of a function's blocks."""
    for block in program.block[function.first_block : function.first_block + function.block_count]:
        end = block.first_instruction + block.instruction_count
        yield from enumerate(program.instruction[block.first_instruction : end], block.first_instruction)


def registers_named(program, function):
    """The highest number of a register that an instruction of the function names, 0 if there is none."""
    return max((max(*one.dst, *one.src, 0, 0) for _, one in instructions_of(program, function)), default=0)


def check(program):
    """Refuses what breaks a rule about machine code."""
    synchronizes = False
    for number, function in enumerate(program.function):
        _check_registers(program, number, function)
        for pc, instruction in instructions_of(program, function):
            rule = _broken_rule(program, function, instruction)
            if rule:
                raise TraceError(f"program {program.id}: instruction {pc}: {rule}")
            synchronizes |= instruction.convergence.role == trace_pb2.Convergence.SYNC
    if synchronizes:
        _check_syncs(program)


def _check_registers(program, number, function):
    files, numbers = function.register_file, function.register_number
    if not files and not numbers:
        return
    place = f"program {program.id}: function {number}"
    if program.level != trace_pb2.LEVEL_MACHINE:
        raise TraceError(f"{place}: only machine code has register_file and register_number")
    named = registers_named(program, function)
    for what, found in (("register_file", files), ("register_number", numbers)):
        if len(found) != named:
            raise TraceError(f"{place}: {what} has {len(found)} registers, the instructions have {named}")
    for file, register in zip(files, numbers):
        if file >= len(FILES):
            raise TraceError(f"{place}: a register of unknown file {file}")
        prefix, count = FILES[file]
        if register >= count:
            raise TraceError(f"{place}: a register is {prefix}{register}, the last one is {prefix}{count - 1}")
    if len(set(zip(files, numbers))) != named:
        raise TraceError(f"{place}: a register is listed twice")


def _broken_rule(program, function, instruction):
    """The rule about machine code that an instruction breaks; None if it is right."""
    is_convergence = instruction.op == trace_pb2.OP_CONVERGENCE
    if program.level != trace_pb2.LEVEL_MACHINE:
        if is_convergence or instruction.control or instruction.HasField("convergence"):
            return "only machine code has control bits and convergence barriers"
        return None
    if instruction.control > 1 << CONTROL_BITS:
        return f"control has more than {CONTROL_BITS} bits"
    bits = control(instruction)
    if bits and not {bits.write_barrier, bits.read_barrier} <= {*range(CONTROL_BARRIERS), NO_BARRIER}:
        return f"control names a barrier that is neither below {CONTROL_BARRIERS} nor {NO_BARRIER}, for none"
    if is_convergence != instruction.HasField("convergence"):
        return "class OP_CONVERGENCE and convergence go together"
    return _broken_convergence(function, instruction) if is_convergence else None


def _broken_convergence(function, instruction):
    what = instruction.convergence
    if what.role not in trace_pb2.Convergence.Role.values() or what.role == 0:
        return f"convergence of unknown role {what.role}"
    if what.barrier and what.role not in WITH_BARRIER:
        return "only SET, SYNC and BREAK have a convergence barrier"
    if what.barrier >= CONVERGENCE_BARRIERS:
        return f"its convergence barrier is not below {CONVERGENCE_BARRIERS}"
    sets = what.role == trace_pb2.Convergence.SET
    if what.block and not sets:
        return "only SET has a block where threads meet"
    if what.block and not 0 <= what.block - 1 - function.first_block < function.block_count:
        return f"threads meet at block {what.block - 1}, which is not of the same function"
    if what.role not in WITH_BARRIER or not function.register_file:
        return None
    if what.barrier not in _barriers(function, instruction.dst if sets else instruction.src):
        return f"{'dst' if sets else 'src'} does not have its convergence barrier B{what.barrier}"
    return None


def _barriers(function, numbers):
    """The convergence barriers among registers."""
    files = function.register_file
    return {
        function.register_number[number - 1]
        for number in numbers
        if 0 < number <= len(files) and files[number - 1] == trace_pb2.FILE_CONVERGENCE
    }


def _given(function, instruction):
    """Bits of the convergence barriers to which an instruction gives a value."""
    given = {instruction.convergence.barrier} if instruction.convergence.role == trace_pb2.Convergence.SET else set()
    return sum(1 << barrier for barrier in given | _barriers(function, instruction.dst))


def _check_syncs(program):
    """Each SYNC has a SET of its barrier on some path to it, through calls and returns as well, or an instruction that
    restores it."""
    blocks = len(program.block)
    given, before, ends = [0] * blocks, [0] * blocks, [[] for _ in range(blocks)]
    behind = [set() for _ in program.function]  # by function: where its callers go on
    function_of = [0] * blocks
    for number, function in enumerate(program.function):
        for b in range(function.first_block, function.first_block + function.block_count):
            if b >= blocks:
                raise TraceError(f"program {program.id}: function {number}: a block that is not there")
            block = program.block[b]
            function_of[b] = number
            if max((*block.successor, 0)) >= blocks or max((*block.callee, 0)) >= len(program.function):
                raise TraceError(f"program {program.id}: block {b}: a successor or callee that is not there")
            ends[b] = [*set(block.successor), *(program.function[callee].first_block for callee in set(block.callee))]
            for callee in set(block.callee):
                behind[callee].update(block.successor[:1])
            end = block.first_instruction + block.instruction_count
            for instruction in program.instruction[block.first_instruction : end]:
                given[b] |= _given(function, instruction)
    at_end = [0] * len(program.function)
    work = list(range(blocks))
    while work:
        b = work.pop()
        bits = before[b] | given[b]
        follow = ends[b]
        if program.block[b].terminator == trace_pb2.RETURN and bits & ~at_end[function_of[b]]:
            at_end[function_of[b]] |= bits
            bits = at_end[function_of[b]]
            follow = behind[function_of[b]]
        for to in follow:
            if to < blocks and bits & ~before[to]:
                before[to] |= bits
                work.append(to)
    for b, block in enumerate(program.block):
        bits = before[b]
        end = block.first_instruction + block.instruction_count
        for pc, instruction in enumerate(program.instruction[block.first_instruction : end], block.first_instruction):
            what = instruction.convergence
            if what.role == trace_pb2.Convergence.SYNC and not bits >> what.barrier & 1:
                raise TraceError(
                    f"program {program.id}: instruction {pc}: waits at convergence barrier B{what.barrier}, "
                    "which no path to it sets or restores"
                )
            bits |= _given(program.function[function_of[b]], instruction)
