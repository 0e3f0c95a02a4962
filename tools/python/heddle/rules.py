"""What the modules that read traces share: the refusal, and limits of the format (docs/reference/format.md)."""

MAX_CHUNK_INSTRUCTIONS = 8 << 20  # thread-instructions
MAX_CHUNK_ACCESSES = 2 << 20
MAX_COUNTED_ACCESSES = 1 << 20  # of a chunk with columns of model COUNTED
MAX_CHUNK_THREADS = 1 << 20
MAX_CHUNK_PATHS = 1 << 18
MAX_CALL_DEPTH = 4096
MAX_INDUCTION_COUNTERS = 4  # of a chunk
MASK = (1 << 64) - 1


class TraceError(Exception):
    """The file breaks a rule of the format."""
