"""The optional column of last writers (section 4 of docs/reference/format.md)."""
import collections

import numpy

from heddle.columns import _varints
from heddle.rules import TraceError

KIND = "last_writer"

# An access of a chunk that read what another thread block had written: the thread that reads (counted over the blocks of the
# chunk), the number of the access among the thread's in the chunk, the instruction; and who wrote.
WrittenRead = collections.namedtuple(
    "WrittenRead", "thread access instruction writer_block writer_thread writer_access writer_instruction"
)


def last_writers(chunk):
    """The reads that a Chunk lists, instruction by instruction; empty unless the trace was captured with
    --record-writers."""
    first_address = chunk.all_addresses()[1]
    found = []
    for column in chunk.message.extra:
        if column.kind != KIND:
            continue
        values = _varints(column.data)
        if len(values) == 0 or len(values) != 1 + 5 * int(values[0]):
            raise TraceError(f"the last writers of instruction {column.instruction} have not the numbers they count")
        count = int(values[0])
        lists = values[1:].reshape(5, count)
        positions = numpy.cumsum(lists[0].astype(numpy.int64) + 1) - 1
        if count and (lists[0] >= first_address[-1]).any() or (positions >= first_address[-1]).any():
            raise TraceError("an access that the chunk does not have is said to read")
        fields = [numpy.cumsum(_unzigzag(one)) for one in lists[1:]]
        threads = numpy.searchsorted(first_address, positions, side="right") - 1
        for i in range(count):
            thread = int(threads[i])
            found.append(
                WrittenRead(
                    thread,
                    int(positions[i] - first_address[thread]),
                    column.instruction,
                    chunk.message.first_block + int(fields[0][i]),
                    *(int(one[i]) for one in fields[1:]),
                )
            )
    return found


def _unzigzag(values):
    """Differences as signed numbers."""
    half = (values >> numpy.uint64(1)).astype(numpy.int64)
    return numpy.where((values & numpy.uint64(1)) == 1, -half - 1, half)
