"""What the Python reader tells of machine code; and both readers refuse what cannot be, each hostile program of
hostile_programs.cc."""
import os
import subprocess

from heddle import machine_code, programs, trace
from proto import trace_pb2
from trace_records import apart, assemble, records_of


def machine_code_rules(directory, dump_paths, read_everything, compare):
    """`directory` has sample1.htrace. `dump_paths`: the program of the C++ reader; `read_everything(path)`: why the Python
    reader refuses a file, or None; `compare(path)`: how many values both readers have read alike."""
    path = os.path.join(directory, "machine.htrace")
    convergence = trace_pb2.Convergence

    def written(change):
        records = apart(records_of(os.path.join(directory, "sample1.htrace")))
        change(next(record.program for record in records if record.WhichOneof("kind") == "program"))
        with open(path, "wb") as file:
            file.write(assemble(records))

    def refused(change, says):
        written(change)
        found = read_everything(path)
        assert found is not None and says in found, (says, found)
        other = subprocess.run([dump_paths, path], capture_output=True, text=True)
        assert other.returncode == 1, says

    def changed(number, **fields):
        def change(program):
            for name, value in fields.items():
                setattr(program.instruction[number], name, value)

        return change

    def barrier(number, **fields):
        def change(program):
            for name, value in fields.items():
                setattr(program.instruction[number].convergence, name, value)

        return change

    def registers(function, files=lambda old: old, numbers=lambda old: old):
        def change(program):
            one = program.function[function]
            one.register_file, one.register_number = files(one.register_file), numbers(one.register_number)

        return change

    def ptx(program):
        program.level = trace_pb2.LEVEL_PTX_GIVEN
        for instruction in program.instruction:
            instruction.control = 0

    def without_lists(program):
        for function in program.function:
            function.register_file = function.register_number = b""

    with trace.Trace(os.path.join(directory, "sample1.htrace")) as opened:
        (program, *_) = opened.programs
        assert programs.code(program) == "machine code by ptxas 13.0 for sm_80"
        assert "B0" in machine_code.registers(program.function[0]) and "R20" in machine_code.registers(
            program.function[1]
        )
        by_file = machine_code.registers_by_file(program)
        assert by_file["convergence"] == 1 and by_file["general"] > 1, by_file
        for instruction in program.instruction:
            assert machine_code.pack_control(machine_code.control(instruction)) == instruction.control
        assert machine_code.control(program.instruction[1]).write_barrier == 1
    assert machine_code.unpack_control(0) is None
    assert machine_code.pack_control(machine_code.Control(4, True, 2, 7, 3, 5)) == 1 + (
        4 | 1 << 4 | 2 << 5 | 7 << 8 | 3 << 11 | 5 << 17
    )
    refused(registers(0, files=lambda old: old + b"\0"), "register_file has")
    refused(registers(1, numbers=lambda old: old[:-1]), "register_number has")
    refused(registers(0, files=lambda old: b"\5" + old[1:]), "unknown file 5")
    refused(registers(0, numbers=lambda old: b"\xff" + old[1:]), "the last one is R254")
    refused(registers(0, lambda old: old[:1] + old[:1] + old[2:], lambda old: old[:1] + old[:1] + old[2:]), "twice")
    refused(ptx, "only machine code has register_file")
    refused(lambda program: (ptx(program), without_lists(program)), "only machine code has control bits")
    refused(changed(0, control=1 + (7 << 8 | 6 << 5)), "control names a barrier")
    refused(changed(0, control=(1 << 21) + 1), "control has more than 21 bits")
    refused(changed(6, op=trace_pb2.OP_MOVE), "go together")
    refused(barrier(14, role=convergence.YIELD), "go together")
    refused(barrier(6, role=0), "unknown role 0")
    refused(barrier(6, barrier=1), "only SET, SYNC and BREAK")
    refused(barrier(2, barrier=16), "is not below 16")
    refused(barrier(12, block=1), "only SET has a block")
    refused(barrier(2, block=8), "not of the same function")
    refused(barrier(2, barrier=7), "dst does not have its convergence barrier B7")
    refused(barrier(10, barrier=7), "src does not have its convergence barrier B7")

    def lone(program):
        without_lists(program)
        for number in (2, 17):
            program.instruction[number].convergence.role = convergence.BREAK
            program.instruction[number].convergence.block = 0

    refused(lone, "instruction 12: waits at convergence barrier B0")
    # A barrier that a callee has set is there behind the call.
    written(lambda program: (lone(program), barrier(17, role=convergence.SET)(program)))
    assert compare(path) > 0
