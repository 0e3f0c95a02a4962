"""Clocks of the card as nvidia-smi reads them. Nothing is set."""

import csv
import io
import time

from kit import processes

FIELDS = (
    "clocks.sm", "clocks.mem", "temperature.gpu", "power.draw", "clocks_event_reasons.active", "driver_version",
    "clocks.max.sm", "clocks.max.mem",
)  # fmt: skip
# Before drivers of 2023.
OLD_REASONS = "clocks_throttle_reasons.active"
# Bits of nvmlClocksEventReasons; 1 means that the card is idle.
REASONS = {
    1: "idle", 2: "application clocks", 4: "software power cap", 8: "hardware slowdown", 16: "sync boost",
    32: "software thermal slowdown", 64: "hardware thermal slowdown", 128: "hardware power brake",
    256: "display clocks",
}  # fmt: skip


def query(nvidia_smi, fields, seconds=10):
    """Values by field; empty if the tool does not answer."""
    if not nvidia_smi:
        return {}
    command = [nvidia_smi, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits", "--id=0"]
    ended = processes.run(command, seconds)
    rows = list(csv.reader(io.StringIO(ended.output), skipinitialspace=True)) if ended.ok else []
    if not rows or len(rows[0]) != len(fields):
        return {}
    return dict(zip(fields, rows[0]))


def number(text, kind):
    try:
        return kind(float(text))
    except (TypeError, ValueError):
        return None


def reasons(text):
    """What holds the clocks down, of a number with bits."""
    try:
        bits = int(text, 0)
    except (TypeError, ValueError):
        return ""
    return ", ".join(name for bit, name in REASONS.items() if bits & bit)


class Clocks:
    """Readings of a visit. The tool takes a moment, so there is one per some seconds at most."""

    APART_SECONDS = 15

    def __init__(self, nvidia_smi, state):
        self._tool = nvidia_smi
        self._state = state
        self._last = None

    def read(self, when, always=False):
        """Adds a reading to the state, and gives all that was read."""
        if not always and self._last is not None and time.monotonic() - self._last < self.APART_SECONDS:
            return {}
        self._last = time.monotonic()
        reading, values = read(self._tool, when)
        if reading:
            self._state.add_clock(reading)
        return values


def read(nvidia_smi, when):
    """One reading in the form of heddle.hardware.v1.ClockReading, and all fields; nothing if there is none."""
    values = query(nvidia_smi, FIELDS)
    if not values:
        fields = tuple(OLD_REASONS if field == FIELDS[4] else field for field in FIELDS)
        values = query(nvidia_smi, fields)
    if not values:
        return None, {}
    reading = {
        "when": when,
        "sm_mhz": number(values["clocks.sm"], int),
        "memory_mhz": number(values["clocks.mem"], int),
        "temperature": number(values["temperature.gpu"], int),
        "watts": number(values["power.draw"], float),
        "limit": reasons(values.get(FIELDS[4], values.get(OLD_REASONS))),
    }
    return {key: value for key, value in reading.items() if value is not None}, values
