"""Records of a trace file, and files of records with right checksums. Needs Heddle's Python package and its bindings on the
path."""
import hashlib
import struct

from heddle import container
from proto import trace_pb2
import zstandard


def assemble(records):
    """A file of these records, with right checksums and the right digest."""
    return assemble_frames([[record] for record in records])


def assemble_frames(records_of_frames):
    """The same, where frames may have several records."""
    frames, table, digest = [], b"", hashlib.sha256()
    compressor = zstandard.ZstdCompressor(level=1, write_checksum=True)
    for records in records_of_frames:
        if records is records_of_frames[-1] and records[0].WhichOneof("kind") == "index":
            records[0].index.content_sha256 = digest.digest()
        raw = trace_pb2.TraceFile(record=records).SerializeToString()
        digest.update(raw)
        frames.append(compressor.compress(raw))
        table += struct.pack("<II", len(frames[-1]), len(raw))
    table += struct.pack("<IBI", len(frames), 0, container.SEEK_TABLE_MAGIC)
    return b"".join(frames) + struct.pack("<II", container.SKIPPABLE_MAGIC, len(table)) + table


def records_of(path):
    with open(path, "rb") as file:
        data = file.read()
    records = []
    while data[:4] == b"\x28\xb5\x2f\xfd":
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        records.extend(trace_pb2.TraceFile.FromString(decompressor.decompress(data)).record)
        data = decompressor.unused_data
    return records


def apart(records):
    """The same records for a file in which no two chunks share a frame."""
    index = records[-1].index
    if "frames-1.4" in index.required_feature:
        kinds = {"program": [], "launch": [], "chunk": [], "launch_end": []}
        others = []
        for number, record in enumerate(records[1:-1], 1):
            kinds.get(record.WhichOneof("kind"), others).append(number)
        index.program_frame[:], index.launch_frame[:] = kinds["program"], kinds["launch"]
        index.launch_end_frame[:], index.other_frame[:] = kinds["launch_end"], others
        for reference, number in zip(index.chunk, kinds["chunk"]):
            reference.frame = number
        index.required_feature.remove("frames-1.4")
    return records


def together(records):
    """The same records, by frames: all chunks of a launch share one."""
    frames, frame_of = [], []
    for record in records:
        if frames and record.WhichOneof("kind") == frames[-1][0].WhichOneof("kind") == "chunk":
            frames[-1].append(record)
        else:
            frames.append([record])
        frame_of.append(len(frames) - 1)
    index = records[-1].index
    for numbers in (index.program_frame, index.launch_frame, index.launch_end_frame, index.other_frame):
        numbers[:] = [frame_of[number] for number in numbers]
    for reference in index.chunk:
        reference.frame = frame_of[reference.frame]
    index.required_feature.append("frames-1.4")
    return frames
