"""The file of a trace: frames, their seek table, and the records in them."""
import hashlib
import math
import struct

import zstandard
from google.protobuf.message import DecodeError

from heddle.chunks import Chunk, columns_of_blocks, threads_per_block
from heddle.programs import check as check_program
from heddle.rules import TraceError
from proto import trace_pb2

SKIPPABLE_MAGIC = 0x184D2A5E
SEEK_TABLE_MAGIC = 0x8F92EAB1
MAJOR_VERSION = 1
SHARED_FRAMES = "frames-1.4"
KNOWN_FEATURES = ("chunks-1.1", "chunks-1.3", "columns-1.5", "operands-1.8", "barriers-1.8", SHARED_FRAMES)  # required
MAX_FRAMES = 1 << 20
MAX_RECORD_BYTES = 20 << 20
MAX_WINDOW_BYTES = 1 << 27
MAX_SHARED_BYTES = 4 << 20  # of a frame of several chunks
MAX_SHARED_RECORDS = 256


class Trace:
    """An open trace."""

    def __init__(self, path):
        self._name = str(path)
        self._file = open(path, "rb")
        self._shared = {}  # frame of several chunks: how many
        self._ordinals = None  # of the first record of each frame; None: the number of the frame
        self._held = (None, None)  # frame of several chunks, and what it holds
        try:
            self._frames = self._read_seek_table()
            self.header = self._record(0, "header")
            if self.header.major != MAJOR_VERSION:
                raise TraceError(f"{path}: trace version {self.header.major}, this reader knows {MAJOR_VERSION}.x")
            self.index = self._read_index()
            for feature in (*self.header.required_feature, *self.index.required_feature):
                if feature not in KNOWN_FEATURES:
                    raise TraceError(f'{path}: the trace needs "{feature[:80]}", which this reader does not know')
            self._count_shared()
            self.programs = [self._record(frame, "program") for frame in self.index.program_frame]
            self._launches = [self._record(frame, "launch") for frame in self.index.launch_frame]
            self._columns = [None] * len(self.programs)
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
        if self._columns[launch.program] is None:
            self._columns[launch.program] = columns_of_blocks(program)
        before, place = None, 0
        for reference in self.index.chunk:
            place = place + 1 if reference.frame == before else 0
            before = reference.frame
            if reference.launch != launch.id:
                continue
            message = self._record(reference.frame, "chunk", place)
            for field in ("launch", "first_block", "block_count", "part", "thread_instructions", "accesses"):
                if getattr(message, field) != getattr(reference, field):
                    raise TraceError(f"{self._name}: frame {reference.frame}: {field} differs from the index")
            try:
                yield Chunk(program, self._columns[launch.program], launch, message)
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
        if descriptor & 0x7C or not 2 <= count <= MAX_FRAMES:
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

    def _records(self, frame):
        if self._held[0] == frame:
            return self._held[1]
        try:
            records = trace_pb2.TraceFile.FromString(self._raw(frame)).record
        except DecodeError as error:
            raise TraceError(f"{self._name}: frame {frame}: not a well-formed message") from error
        if len(records) != self._shared.get(frame, 1):
            raise TraceError(f"{self._name}: frame {frame}: holds {len(records)} records")
        if frame in self._shared:
            self._held = (frame, records)
        return records

    def _record(self, frame, kind, place=0):
        records = self._records(frame)
        if place >= len(records):
            raise TraceError(f"{self._name}: frame {frame}: does not hold the {kind} record that belongs here")
        record = records[place]
        ordinal = (self._ordinals[frame] if self._ordinals else frame) + place
        if record.ordinal != ordinal or record.WhichOneof("kind") != kind:
            raise TraceError(f"{self._name}: frame {frame}: does not hold the {kind} record that belongs here")
        return getattr(record, kind)

    def _read_index(self):
        frame = len(self._frames) - 1
        record = self._records(frame)[0]
        ordinal = record.index.records if SHARED_FRAMES in record.index.required_feature else frame
        if record.ordinal != ordinal or record.WhichOneof("kind") != "index":
            raise TraceError(f"{self._name}: frame {frame}: does not hold the index record that belongs here")
        return record.index

    def _count_shared(self):
        """Finds the frames that several chunks share, and the ordinals behind them."""
        if SHARED_FRAMES not in self.index.required_feature:
            return
        counts = [1] * len(self._frames)
        before = None
        for reference in self.index.chunk:
            if not 0 < reference.frame < len(counts) - 1:
                raise TraceError(f"{self._name}: the index has a chunk in frame {reference.frame}")
            counts[reference.frame] += reference.frame == before
            before = reference.frame
        self._ordinals = [0]
        for count in counts:
            self._ordinals.append(self._ordinals[-1] + count)
        self._shared = {frame: count for frame, count in enumerate(counts) if count > 1}
        for frame, count in self._shared.items():
            if count > MAX_SHARED_RECORDS or self._frames[frame][2] > MAX_SHARED_BYTES:
                raise TraceError(f"{self._name}: frame {frame} is shared by {count} chunks or too large")
        if self.index.records != self._ordinals[-2]:
            raise TraceError(f"{self._name}: the index counts {self.index.records} records in front of it")

    def _check_contents(self):
        for program in self.programs:
            for block in program.block:
                end = block.first_instruction + block.instruction_count
                if block.instruction_count == 0 or end > len(program.instruction):
                    raise TraceError(f"{self._name}: program {program.id}: a block does not fit the instructions")
            try:
                check_program(program)
            except TraceError as error:
                raise TraceError(f"{self._name}: {error}") from error
        for number, launch in enumerate(self._launches):
            if launch.id != number or launch.program >= len(self.programs):
                raise TraceError(f"{self._name}: launch {number} has a wrong number or program")
            if not 1 <= threads_per_block(launch) <= 1024:
                raise TraceError(f"{self._name}: launch {number}: a block must have between 1 and 1024 threads")
            self._check_clusters(number, launch)
            self._check_parent(number, launch)

    def _check_clusters(self, number, launch):
        if not launch.HasField("cluster"):
            return
        grid, cluster = ((dim.x, dim.y, dim.z) for dim in (launch.grid, launch.cluster))
        if min(cluster) < 1 or any(blocks % size for blocks, size in zip(grid, cluster)):
            raise TraceError(f"{self._name}: launch {number}: its clusters do not divide the grid")
        if math.prod(cluster) > 16:
            raise TraceError(f"{self._name}: launch {number}: its clusters have more than 16 blocks")

    def _check_parent(self, number, launch):
        if not launch.HasField("parent"):
            return
        parent = launch.parent
        if parent.launch >= number:
            raise TraceError(f"{self._name}: launch {number}: a thread of a later launch launched it")
        earlier = self._launches[parent.launch]
        blocks = earlier.grid.x * earlier.grid.y * earlier.grid.z
        if parent.block >= blocks or parent.thread >= threads_per_block(earlier):
            raise TraceError(f"{self._name}: launch {number}: the thread that launched it is not in its launch")
