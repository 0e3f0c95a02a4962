"""The Python reader and the C++ reader agree on paths and addresses, also of traces whose records were changed behind right
checksums; whatever is done to a file, the Python reader refuses it in words or reads it; `zstd -dc FILE | protoc --decode`
works.

Usage: python_reader_test.py DUMP_PATHS SOURCE_DIR BINDINGS_DIR PROTOC
"""
import contextlib
import glob
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import types

dump_paths, source_dir, bindings, protoc = sys.argv[1:5]
source = os.path.join(source_dir, "tools", "python")
sys.dont_write_bytecode = True
sys.path[:0] = [source, bindings]
from heddle import programs, trace  # noqa: E402
import numpy  # noqa: E402
from proto import trace_pb2  # noqa: E402
from machine_code_rules import machine_code_rules  # noqa: E402
from trace_records import apart, assemble, assemble_frames, records_of, together  # noqa: E402

environment = dict(os.environ, PYTHONPATH=f"{source}:{bindings}", PYTHONDONTWRITEBYTECODE="1")


def python(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "heddle.trace", *arguments], env=environment, capture_output=True, text=True
    )


def read_everything(path):
    """None if the trace can be read, else the refusal; anything but a TraceError ends the test."""
    try:
        with trace.Trace(path) as opened:
            opened.verify()
            for launch in opened.launches():
                for chunk in opened.chunks(launch):
                    chunk.all_addresses()
            opened.totals()
    except trace.TraceError as error:
        return str(error)
    return None


def shared_frames(directory):
    """Both readers read chunks that share frames; a chunk that the index does not name is refused."""
    path = os.path.join(directory, "shared.htrace")
    for name in ("parts1", "parts2", "cut_bits1"):
        original = os.path.join(directory, f"{name}.htrace")
        frames = together(apart(records_of(original)))
        index = frames[-1][0].index
        assert index.records > len(frames) - 1
        with open(path, "wb") as file:
            file.write(assemble_frames(frames))
        assert compare(path) == compare(original)
        assert read_everything(path) is None
        del index.chunk[-1]
        with open(path, "wb") as file:
            file.write(assemble_frames(frames))
        assert "the index counts" in read_everything(path)
        assert subprocess.run([dump_paths, path], capture_output=True).returncode != 0


def mutate(message, choose):
    """Changes one number, string or list somewhere in a message."""
    fields = [
        field
        for field in message.DESCRIPTOR.fields
        if field.message_type is None or not field.message_type.GetOptions().map_entry
    ]
    field = choose.choice(fields)
    repeated = field.label == field.LABEL_REPEATED
    value = getattr(message, field.name)
    if field.message_type is not None:
        if repeated and len(value) > 0:
            action = choose.randrange(4)
            if action == 0:
                del value[choose.randrange(len(value))]
            elif action == 1:
                value.add().CopyFrom(choose.choice(value))
            else:
                mutate(choose.choice(value), choose)
        elif not repeated and message.HasField(field.name):
            mutate(value, choose)
        return
    if field.cpp_type == field.CPPTYPE_STRING:
        if not repeated and field.type == field.TYPE_BYTES and value:
            at = choose.randrange(len(value))
            setattr(
                message,
                field.name,
                choose.choice((value[:at], value[:at] + bytes([choose.randrange(256)]) + value[at + 1 :])),
            )
        return
    bits = 31 if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_ENUM) else 32
    bits = 63 if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else bits
    if field.cpp_type == field.CPPTYPE_BOOL:
        number = choose.randrange(2)
    else:
        number = choose.choice((0, 1, 2, 7, (1 << bits) - 1, 1 << choose.randrange(bits), choose.randrange(1000)))
    if not repeated:
        setattr(message, field.name, number)
    elif len(value) > 0 and choose.randrange(3) > 0:
        value[choose.randrange(len(value))] = number
    else:
        value.append(number)


def agree(directory):
    accesses = 0
    layouts = set()
    own_sources = 0  # columns of destinations that count from their own source
    for mode in ("whole", "parts", "bits", "cut_bits", "moved", "collective", "machine", "sample"):
        for seed in range(1, 3 if mode.endswith("bits") else 4):
            path = os.path.join(directory, f"{mode}{seed}.htrace")
            subprocess.run([dump_paths, "--write", path, str(seed), mode], check=True)
            accesses += compare(path)
            if mode == "collective":
                chunks = [record.chunk for record in records_of(path) if record.WhichOneof("kind") == "chunk"]
                destinations = [column for chunk in chunks for column in chunk.column if column.operand == 1]
                assert destinations
                relative = [column for column in destinations if column.model == trace_pb2.AddressColumn.RELATIVE]
                own_sources += sum(column.ref_instruction == column.instruction for column in relative)
            if mode == "bits":
                chunk = next(record.chunk for record in records_of(path) if record.WhichOneof("kind") == "chunk")
                assert chunk.paths.decision_planes and chunk.column[0].model == trace_pb2.AddressColumn.INDUCTION
            if mode == "moved":
                column = next(
                    record.chunk for record in records_of(path) if record.WhichOneof("kind") == "chunk"
                ).column[0]
                assert (column.model == trace_pb2.AddressColumn.COUNTED) == (seed != 3)
                assert len(column.further_term) == (seed == 3) and column.HasField("restart") == (seed == 2)
                layouts.add(column.layout)
    for path in sorted(
        glob.glob(os.path.join(source_dir, "traces", "samples", "*.htrace"))
        + glob.glob(os.path.join(source_dir, "tests", "traces", "fixtures", "1.*", "*.htrace"))
    ):
        if os.path.getsize(path) < 100_000:
            accesses += compare(path)
    assert accesses > 10_000, accesses
    assert trace_pb2.AddressColumn.DICTIONARY in layouts
    assert own_sources > 0


def compare(path):
    expected = subprocess.run([dump_paths, "--addresses", path], check=True, capture_output=True, text=True).stdout
    found = python("--addresses", path)
    assert found.returncode == 0, found.stderr
    assert found.stdout == expected, f"{path}: the readers disagree"
    return expected.count("@")


def cut(directory, whole):
    path = os.path.join(directory, "cut.htrace")
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        with open(path, "wb") as file:
            file.write(whole[:size])
        found = python(path)
        assert found.returncode == 1 and path in found.stderr and "Traceback" not in found.stderr, found.stderr


def hostile(directory):
    """Flipped bits are noticed."""
    path = os.path.join(directory, "small.htrace")
    subprocess.run([dump_paths, "--write", path, "2", "small"], check=True)
    with open(path, "rb") as file:
        whole = file.read()
    choose = random.Random(1)
    changed = os.path.join(directory, "changed.htrace")
    unnoticed = 0
    for _ in range(300):
        at = choose.randrange(len(whole))
        with open(changed, "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 1 << choose.randrange(8)]) + whole[at + 1 :])
        # The digest proves that the contents are the same if it is not refused.
        unnoticed += read_everything(changed) is None
    assert unnoticed <= 6, f"{unnoticed} of 300 flipped bits were not noticed"
    assert read_everything(path) is None


def printed(path):
    """What `python3 -m heddle.trace --addresses` prints, and the refusal if it ends with one."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = trace.main(["trace", "--addresses", path])
    assert code in (0, 1), code
    return out.getvalue(), err.getvalue() if code else None


def changed_records(directory, mutations):
    """Both readers on records that say something else, with checksums, digest and seek table that are right: they read
    the same, or the Python reader refuses what the other does, in words and in time."""
    changed = os.path.join(directory, "changed.htrace")
    files = [
        os.path.join(directory, "small.htrace"),
        os.path.join(directory, "parts1.htrace"),
        os.path.join(directory, "bits1.htrace"),
        os.path.join(directory, "collective1.htrace"),
        os.path.join(directory, "sample1.htrace"),
        os.path.join(source_dir, "traces", "samples", "nqueens.htrace"),
    ]
    originals = [apart(records_of(path)) for path in files]
    choose = random.Random(1)
    refusals = set()
    slowest = 0
    both, alone = 0, 0
    for number in range(mutations):
        original = originals[number % len(originals)]
        mutated = [trace_pb2.Record.FromString(record.SerializeToString()) for record in original]
        for _ in range(choose.randrange(1, 3)):
            record = choose.choice(mutated)
            mutate(getattr(record, record.WhichOneof("kind")), choose)
        with open(changed, "wb") as file:
            file.write(assemble(mutated))
        start = time.process_time()
        text, refusal = printed(changed)
        slowest = max(slowest, time.process_time() - start)
        other = subprocess.run([dump_paths, "--addresses", changed], capture_output=True, text=True, errors="replace")
        assert other.returncode in (0, 1), f"mutation {number}: {other}"
        if refusal is not None:
            refusals.add(refusal.strip().split(": ")[-1][:30])
            assert other.returncode == 1, f"mutation {number}: only the Python reader refuses: {refusal}"
        elif other.returncode == 0:
            both += 1
            assert text == other.stdout, f"mutation {number}: the readers disagree"
        else:
            alone += 1
    print(
        f"{mutations} mutations: {both} read alike, {alone} refused by the C++ reader alone, {len(refusals)} kinds of refusals, "
        f"at most {slowest:.1f} s"
    )
    assert slowest < 20, f"one file took {slowest} s"
    assert both > mutations // 50 and len(refusals) > 20, (both, sorted(refusals))


def whose_code(directory):
    """Level, producer, guards and widths of registers; what there cannot be is refused by both readers."""
    path = os.path.join(directory, "code.htrace")

    def written(change):
        records = apart(records_of(os.path.join(directory, "small.htrace")))
        change(next(record.program for record in records if record.WhichOneof("kind") == "program"))
        with open(path, "wb") as file:
            file.write(assemble(records))

    def given(program):
        program.level = trace_pb2.LEVEL_PTX_GIVEN
        program.producer, program.isa_version, program.target = "NVVM 13.0", "9.0", "sm_80"
        for function in program.function:
            blocks = program.block[function.first_block : function.first_block + function.block_count]
            numbers = [0]
            for block in blocks:
                end = block.first_instruction + block.instruction_count
                for instruction in program.instruction[block.first_instruction : end]:
                    numbers += [*instruction.dst, *instruction.src]
            function.register_bits = bytes([64] * max(numbers))

    written(lambda program: None)
    with trace.Trace(path) as opened:
        assert programs.code(opened.programs[0]) == "" and programs.guards(opened.programs[0]) == []
        assert programs.register_bits(opened.programs[0].function[0]) is None
    written(lambda program: setattr(program, "stand_in_for", "cublasSgemm"))
    compare(path)
    with trace.Trace(path) as opened:
        assert programs.code(opened.programs[0]) == "stand-in for cublasSgemm"
    written(given)
    compare(path)
    with trace.Trace(path) as opened:
        (program, *_) = opened.programs
        assert programs.code(program) == "PTX 9.0 by NVVM 13.0 for sm_80"
        assert programs.level(program) == "LEVEL_PTX_GIVEN"
        assert set(programs.register_bits(program.function[0])) == {64}
        decides = next(b for b in program.block if b.terminator == trace_pb2.BRANCH_CONDITIONAL)
        program.instruction[decides.first_instruction + decides.instruction_count - 1].op = trace_pb2.OP_INT_ALU
        program.instruction[program.block[decides.successor[0]].first_instruction].flags |= trace_pb2.FLAG_GUARDED
        assert programs.guards(program) == [list(program.block).index(decides)]
    for wrong in (
        lambda program: setattr(program, "level", 77),
        lambda program: setattr(program.function[0], "register_bits", b"\x18"),
        lambda program: setattr(program.function[0], "register_bits", b"\x20" * 1000),
    ):
        written(wrong)
        assert read_everything(path) is not None
        assert subprocess.run([dump_paths, path], capture_output=True).returncode == 1


def collective_rules(directory):
    """Operands, clusters and launches from kernels that there cannot be are refused by both readers; what a thread
    recorded of a copy is told by operand."""
    whole = os.path.join(directory, "collective1.htrace")
    path = os.path.join(directory, "operands.htrace")

    def written(kind, change):
        records = apart(records_of(whole))
        change(next(getattr(record, kind) for record in records if record.WhichOneof("kind") == kind))
        with open(path, "wb") as file:
            file.write(assemble(records))

    def copy(program):
        copies = (i for i in program.instruction if i.op == trace_pb2.OP_ASYNC and len(i.operand) == 2)
        return next(i for i in copies if not i.operand[1].constant)

    def one_operand_less(chunk):
        column = next(column for column in chunk.column if column.operand == 1)
        column.operand = 5

    with trace.Trace(whole) as opened:
        chunk = next(opened.chunks(opened.launches()[0]))
        operands = chunk.access_operands(0)
        instructions = chunk.access_instructions(0)
        second = [i for i in range(len(operands)) if operands[i] == 1]
        assert second and all(operands[i - 1] == 0 and instructions[i - 1] == instructions[i] for i in second)
    for kind, wrong in (
        ("program", lambda program: setattr(copy(program).operand[1], "kind", 77)),
        ("program", lambda program: copy(program).ClearField("async")),
        ("program", lambda program: copy(program).operand.extend([trace_pb2.Operand(kind=6)] * 9)),
        ("chunk", one_operand_less),
        ("launch", lambda launch: launch.cluster.CopyFrom(trace_pb2.Dim3(x=7, y=1, z=1))),
        ("launch", lambda launch: launch.parent.CopyFrom(trace_pb2.LaunchParent(launch=0))),
    ):
        written(kind, wrong)
        assert read_everything(path) is not None, kind
        assert subprocess.run([dump_paths, path], capture_output=True).returncode == 1, kind


def clusters_are_numbered():
    """As Clusters.OfSeveralDimensionsLieApartInTheGrid of clusters_test.cc has them."""
    launch = trace_pb2.Launch(grid=trace_pb2.Dim3(x=4, y=6, z=2), cluster=trace_pb2.Dim3(x=2, y=3, z=1))
    assert trace.cluster_and_rank(launch, 3 + 4 * (4 + 6)) == (1 + 2 * (1 + 2), 1 + 2)
    assert len({trace.cluster_and_rank(launch, block) for block in range(48)}) == 48
    launch.ClearField("cluster")
    assert trace.cluster_and_rank(launch, 47) == (47, 0)


def decode_on_the_command_line(path):
    zstd = shutil.which("zstd")
    if zstd is None:
        print("zstd is not installed: decoding by the command line was not tried")
        return
    raw = subprocess.run([zstd, "-dc", path], check=True, capture_output=True).stdout
    text = subprocess.run(
        [protoc, "--decode=heddle.trace.v1.TraceFile", f"--proto_path={source_dir}", "proto/trace.proto"],
        input=raw,
        check=True,
        capture_output=True,
    ).stdout
    assert text.count(b"record {") > 5 and b"content_sha256" in text


def last_writers_are_read():
    """The column that LastWriters.TheWireFormIsThatOfTheDocumentation of last_writers_test.cc has, of two threads with two
    accesses each."""

    def chunk(data):
        message = trace_pb2.BlockChunk(first_block=7)
        message.extra.add(kind="votes", data=b"\xff")
        message.extra.add(kind="last_writer", instruction=3, data=bytes(data))
        return types.SimpleNamespace(message=message, all_addresses=lambda: (None, numpy.array([0, 2, 4])))

    listed = trace.last_writers(chunk([2, 0, 1, 3, 0, 0, 2, 2, 0, 2, 0]))
    assert [tuple(read) for read in listed] == [(0, 0, 3, 5, 0, 1, 1), (1, 0, 3, 5, 1, 1, 1)], listed
    assert trace.last_writers(chunk([0])) == []
    for wrong in ([], [2, 0], [1, 4, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]):
        try:
            trace.last_writers(chunk(wrong))
        except trace.TraceError:
            continue
        assert False, f"{wrong} is not refused"


last_writers_are_read()
with tempfile.TemporaryDirectory() as folder:
    agree(folder)
    shared_frames(folder)
    last = os.path.join(folder, "parts3.htrace")
    with open(last, "rb") as opened:
        cut(folder, opened.read())
    hostile(folder)
    whose_code(folder)
    collective_rules(folder)
    machine_code_rules(folder, dump_paths, read_everything, compare)
    clusters_are_numbered()
    changed_records(folder, int(os.environ.get("HEDDLE_PYTHON_MUTATIONS", "600")))
    decode_on_the_command_line(last)
print("ok")
