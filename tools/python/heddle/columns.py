"""The address columns of a chunk (section 4 of docs/reference/format.md)."""
import numpy

from heddle.rules import MASK, MAX_COUNTED_ACCESSES, MAX_INDUCTION_COUNTERS, TraceError
from proto import trace_pb2

AddressColumn = trace_pb2.AddressColumn
OPERANDS = 16  # more than an instruction may have: a column's number is this times its instruction, plus its operand


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
        self.accesses = 0  # of all threads
        self.threads = 0  # that run the instruction
        self.most = 0  # accesses of one thread
        self.latest = 0  # address of the thread's latest access
        self.reference = None
        self._bases = self._residuals = iter(())
        self._steps = []
        self._added = []  # INDUCTION, COUNTED: by path, the sum of each access
        self._counts = []  # COUNTED: by path, a number of each access that changes where the thread begins anew
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
        counts = self.counts()
        if not counts and (message.counted_block, message.reset_block, message.stride, len(message.further_term)) != (
            0,
            0,
            0,
            0,
        ):
            raise TraceError(f"column of instruction {message.instruction}: not of model INDUCTION, but has blocks")
        if message.HasField("restart") and message.model != AddressColumn.COUNTED:
            raise TraceError(f"column of instruction {message.instruction}: restart belongs to model COUNTED")
        has_bases = message.model in (AddressColumn.SEPARABLE, AddressColumn.TIME) or counts
        if len(message.base_dd) != (self.threads if has_bases else 0):
            raise TraceError(f"column of instruction {message.instruction}: base_dd has the wrong length")
        if len(message.step_dd) != (self.most - 1 if message.model == AddressColumn.SEPARABLE else 0):
            raise TraceError(f"column of instruction {message.instruction}: step_dd has the wrong length")
        self._bases = iter(_from_second_differences(message.base_dd))
        if message.model == AddressColumn.SEPARABLE:
            self._steps = [0] + _from_second_differences(message.step_dd)
        if message.model in (AddressColumn.SEPARABLE, AddressColumn.INDUCTION):
            return
        first = 0
        if message.model in (AddressColumn.TIME, AddressColumn.COUNTED):
            first = 1
            if message.scaled:
                raise TraceError(
                    f"column of instruction {message.instruction}: scaled does not go with TIME and COUNTED"
                )
        elif message.model == AddressColumn.CHAIN:
            pass
        elif message.model == AddressColumn.RELATIVE:
            referred = column_number(message.ref_instruction, message.ref_operand)
            self.reference = columns.get(referred)
            if self.reference is None or referred >= column_number(message.instruction, message.operand):
                raise TraceError(f"column of instruction {message.instruction}: ref_instruction is not a lower one")
            if abs(message.ref_shift) > 63:
                raise TraceError(f"column of instruction {message.instruction}: ref_shift is beyond 63")
        else:
            raise TraceError(f"column of instruction {message.instruction}: unknown model {message.model}")
        self._residuals = iter(_residuals(message, [(count - first, total) for count, total in threads]))

    def counts(self):
        """Whether the column counts along paths."""
        return self.message.model in (AddressColumn.INDUCTION, AddressColumn.COUNTED)

    def terms(self):
        """The messages that have counted_block, reset_block and stride."""
        message = self.message
        none = (message.counted_block, message.reset_block, message.stride, len(message.further_term)) == (0, 0, 0, 0)
        return [] if none and message.model == AddressColumn.COUNTED else [message, *message.further_term]

    def restarts(self):
        """Likewise, of which the counts tell where threads begin anew."""
        return [self.message.restart] if self.message.HasField("restart") else []

    def count(self, program, paths):
        """Counts along the basic blocks of every path what its accesses count from."""
        message = self.message
        if len(message.further_term) >= MAX_INDUCTION_COUNTERS:
            raise TraceError(f"column of instruction {message.instruction}: too many terms")
        if any(restart.stride != 0 for restart in self.restarts()):
            raise TraceError(f"column of instruction {message.instruction}: restart has no stride")
        for term in self.terms() + self.restarts():
            counted, reset = term.counted_block, term.reset_block
            if counted >= len(program.block) or reset >= len(program.block) or counted == reset:
                raise TraceError(f"column of instruction {message.instruction}: counted_block or reset_block is wrong")
        own = next(
            i
            for i, block in enumerate(program.block)
            if 0 <= message.instruction - block.first_instruction < block.instruction_count
        )
        for path in paths:
            added = [0] * int((path == own).sum())
            for term in self.terms():
                added = [so_far + term.stride * n for so_far, n in zip(added, _count(term, path, own))]
            self._added.append(added)
            self._counts.extend(_count(restart, path, own) for restart in self.restarts())

    def start(self, path):
        """A thread begins, in the path of this number."""
        if self.message.model in (AddressColumn.SEPARABLE, AddressColumn.TIME) or self.counts():
            self._base = self._start = next(self._bases)
        if self.counts():
            self._steps = self._added[path]
        if self.restarts():
            self._places = self._counts[path]
        self._occurrence = 0

    def next(self):
        """The address of the thread's next access (section 4)."""
        message = self.message
        if message.model in (AddressColumn.SEPARABLE, AddressColumn.INDUCTION):
            address = self._base + self._steps[self._occurrence]
        elif message.model == AddressColumn.RELATIVE:
            address = _shifted(self.reference.latest, message.ref_shift) + message.bias + next(self._residuals)
        elif message.model == AddressColumn.CHAIN:
            chain = self.chain
            address = chain.latest + message.bias + message.chain_bias[chain.state] + next(self._residuals)
        elif message.model == AddressColumn.COUNTED:
            k = self._occurrence
            if k > 0:
                anew = self.restarts() and self._places[k] != self._places[k - 1]
                self._start = (self._base if anew else self._start) + message.bias + next(self._residuals)
            address = self._start + self._steps[k]
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


def column_number(instruction, operand):
    """Numbers of columns ascend as the columns do."""
    if operand >= OPERANDS:
        raise TraceError(f"column of instruction {instruction}: there is no operand {operand}")
    return OPERANDS * instruction + operand


def decode_addresses(program, chunk, path_of_thread, path_columns, path_basic_blocks):
    """The addresses of all threads, one after the other."""
    columns = {}
    chains = [_Chain(message) for message in chunk.chain]
    last = -1
    for message in chunk.column:
        number = column_number(message.instruction, message.operand)
        if number <= last:
            raise TraceError("columns must ascend by instruction and operand")
        last = number
        columns[last] = _Column(message, chains)
    uses = numpy.bincount(path_of_thread, minlength=len(path_columns))
    totals = numpy.array([len(numbers) for numbers in path_columns], dtype=numpy.int64)
    counts = {number: numpy.zeros(len(path_columns), dtype=numpy.int64) for number in columns}
    for path, (numbers, threads) in enumerate(zip(path_columns, uses)):
        for number, count in zip(*numpy.unique(numbers, return_counts=True)):
            column = columns.get(int(number))
            if column is None:
                raise TraceError(f"instruction {number // OPERANDS} ran but has no column")
            counts[int(number)][path] = count
            column.accesses += int(count) * int(threads)
            column.threads += int(threads)
            column.most = max(column.most, int(count))
    if sum(column.accesses for column in columns.values()) > MAX_COUNTED_ACCESSES and any(
        column.message.model == AddressColumn.COUNTED for column in columns.values()
    ):
        raise TraceError("model COUNTED in a chunk of too many accesses")
    counters, restarts = set(), set()
    for number, column in columns.items():
        if column.accesses == 0:
            raise TraceError(f"column of instruction {number // OPERANDS}: no thread runs it")
        by_thread = counts[number][path_of_thread]
        runs = by_thread > 0
        column.prepare(columns, list(zip(by_thread[runs].tolist(), totals[path_of_thread][runs].tolist())))
        if column.counts():
            restarts.update((term.counted_block, term.reset_block) for term in column.restarts())
            counters.update((term.counted_block, term.reset_block) for term in column.terms())
            column.count(program, path_basic_blocks)
    if max(len(counters), len(restarts)) > MAX_INDUCTION_COUNTERS:
        raise TraceError("too many pairs of counted_block and reset_block")
    sequences = [[columns[int(i)] for i in numbers] for numbers in path_columns]
    distinct = [list(dict.fromkeys(sequence)) for sequence in sequences]
    out = []
    before = ()
    for path in path_of_thread:
        for column in before:
            column.latest = 0
        before = distinct[path]
        for column in before:
            column.start(path)
        for chain in chains:
            chain.start()
        out.extend([column.next() for column in sequences[path]])
    return numpy.array(out, dtype=numpy.uint64)


def _count(term, path, own):
    """How often the path has entered one block since it last entered another, whenever it is in the block `own`."""
    counts = numpy.cumsum(path == term.counted_block)
    resets = numpy.maximum.accumulate(numpy.where(path == term.reset_block, numpy.arange(len(path)), -1))
    at = counts - numpy.where(resets >= 0, counts[resets], 0)
    return [int(n) for n in at[path == own]]


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
    if column.layout != AddressColumn.DICTIONARY and (column.dictionary or column.other_values):
        raise TraceError(where + "not of layout DICTIONARY, but has one")
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
    elif column.layout == AddressColumn.DICTIONARY:
        stored = _places(column, count, where)
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


def _places(column, count, where):
    """Numbers of layout DICTIONARY: places in it, or behind it for those that it does not have."""
    entries = len(column.dictionary)
    if entries > 255 or column.sparse_gap:
        raise TraceError(where + "too large a dictionary, or a sparse one")
    places = numpy.frombuffer(column.residual, dtype=numpy.uint8)
    if entries <= 15:
        if len(places) != (count + 1) // 2:
            raise TraceError(where + f"residual bytes do not hold {count} residuals")
        places = numpy.stack((places & 15, places >> 4), axis=1).reshape(-1)[:count]
    other = _varints(column.other_values)
    if (places > entries).any() or int((places == entries).sum()) != len(other):
        raise TraceError(where + "places do not fit the dictionary and other_values")
    stored = numpy.append(numpy.array(column.dictionary, dtype=numpy.uint64), numpy.uint64(0))[places]
    stored[places == entries] = other
    return stored


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
    high = numpy.where(
        shift > 0, data[at + 8] << (numpy.uint64(64) - numpy.maximum(shift, numpy.uint64(1))), numpy.uint64(0)
    )
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
        piece = (data[starts[has] + i] & 0x7F).astype(numpy.uint64)
        if i == 9 and (piece > 1).any():
            raise TraceError("a varint is too long")
        values[has] |= piece << numpy.uint64(7 * i)
    return values
