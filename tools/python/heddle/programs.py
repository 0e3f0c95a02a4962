"""What the instructions of a traced program are: whose code, which have guards, how wide its registers are.

    from heddle import programs, trace
    with trace.Trace("kernel.htrace") as opened:
        for program in opened.programs:
            programs.code(program)          # "PTX 9.0 by NVVM 13.0 for sm_80"; "" for that of the header's compiler
            programs.level(program)         # "LEVEL_PTX_GIVEN"
            programs.guards(program)        # numbers of the blocks that decide on a guard, and not by a branch
            programs.register_bits(program.function[0])    # numpy array by number from 1, or None
"""
import numpy

from heddle import machine_code
from heddle.rules import TraceError
from proto import trace_pb2

WIDTHS = (1, 8, 16, 32, 64, 128)
MOST_OPERANDS = 8


def level(program):
    """The name of the program's level of code (proto/trace.proto, CodeLevel)."""
    return trace_pb2.CodeLevel.Name(program.level)


def code(program):
    """Whose code it is, in the words of `heddle trace info`; empty if the trace's header tells it."""
    stand_in = f"stand-in for {program.stand_in_for}" if program.stand_in_for else ""
    if program.level == trace_pb2.LEVEL_PTX_COMPILED:
        return stand_in
    words = [stand_in + ","] if stand_in else []
    words += ["machine code" if program.level == trace_pb2.LEVEL_MACHINE else "PTX"]
    if program.isa_version:
        words.append(program.isa_version)
    if program.producer:
        words.append(f"by {program.producer}")
    if program.target:
        words.append(f"for {program.target}")
    return " ".join(words)


def guards(program):
    """Blocks that end with the guard of what their first successor begins with: their decisions are no branches."""
    found = []
    for number, block in enumerate(program.block):
        if block.terminator != trace_pb2.BRANCH_CONDITIONAL:
            continue
        if not block.successor or block.successor[0] >= len(program.block):
            raise TraceError(f"program {program.id}: block {number}: a successor that is no block")
        last = program.instruction[block.first_instruction + block.instruction_count - 1]
        first = program.instruction[program.block[block.successor[0]].first_instruction]
        if first.flags & trace_pb2.FLAG_GUARDED and last.op != trace_pb2.OP_BRANCH:
            found.append(number)
    return found


def register_bits(function):
    """Width of each register of a function, by number from 1 at 0; None if the trace does not tell."""
    return numpy.frombuffer(function.register_bits, dtype=numpy.uint8) if function.register_bits else None


def check(program):
    """Refuses levels and widths that there are not, and what breaks a rule of heddle.machine_code."""
    if program.level not in trace_pb2.CodeLevel.values():
        raise TraceError(f"program {program.id}: unknown level of code {program.level}")
    for number, instruction in enumerate(program.instruction):
        for operand in instruction.operand:
            if operand.kind not in trace_pb2.Operand.Kind.values() or operand.kind == 0:
                raise TraceError(f"program {program.id}: instruction {number}: unknown kind of operand {operand.kind}")
        if len(instruction.operand) > MOST_OPERANDS:
            raise TraceError(f"program {program.id}: instruction {number}: more than {MOST_OPERANDS} operands")
        if (instruction.op == trace_pb2.OP_ASYNC) != instruction.HasField("async"):
            raise TraceError(f"program {program.id}: instruction {number}: OP_ASYNC and async go together")
    for number, function in enumerate(program.function):
        if not function.register_bits:
            continue
        if set(function.register_bits) - set(WIDTHS):
            raise TraceError(f"program {program.id}: function {number}: a register has no width of {WIDTHS}")
        most = machine_code.registers_named(program, function)
        if most != len(function.register_bits):
            raise TraceError(
                f"program {program.id}: function {number}: register_bits has {len(function.register_bits)} registers, "
                f"the instructions have {most}"
            )
    machine_code.check(program)
