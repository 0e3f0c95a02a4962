"""Programs that are started, with limits of time that also end what they have started."""

import dataclasses
import os
import pathlib
import signal
import subprocess
import tempfile
import time


@dataclasses.dataclass
class Ended:
    """How a program ended. `status` is None if it was stopped because its time was up, or never started."""

    status: object
    output: str  # standard output
    errors: str  # standard error, or why it could not be started
    seconds: float

    @property
    def ok(self):
        return self.status == 0

    def why(self):
        """Why it failed, in a line."""
        if self.status is None and self.seconds == 0:
            return self.errors
        if self.status is None:
            return f"was stopped after {self.seconds:.0f} seconds"
        lines = [line for line in (self.errors + "\n" + self.output).splitlines() if line.strip()]
        named = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
        text = (named or lines or ["no message"])[0].strip()
        return f"exit status {self.status}: {text[:300]}"


def run(command, seconds, folder=None, environment=None, output=None):
    """Runs a command for at most so many seconds. `output`: a file for standard output, which is kept as far as it
    came."""
    started = time.monotonic()
    out = pathlib.Path(output).open("w+b") if output else subprocess.PIPE
    try:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        return Ended(None, "", f"{command[0]} cannot be started: {error.strerror}", 0)
    status = None
    try:
        text, errors = process.communicate(timeout=max(seconds, 0.1))
        status = process.returncode
    except subprocess.TimeoutExpired:
        end_group(process)
        text, errors = process.communicate()
    except BaseException:
        end_group(process)
        raise
    finally:
        if output:
            out.close()
    if output:
        text = pathlib.Path(output).read_bytes()
    took = max(time.monotonic() - started, 1e-3)
    return Ended(status, (text or b"").decode(errors="replace"), (errors or b"").decode(errors="replace"), took)


def run_watched(command, budget, seconds, output):
    """Runs a program that tells its progress on standard output, into the file `output`. It is stopped when it has told
    nothing for so many seconds, or when the budget is spent."""
    started = last = time.monotonic()
    told = -1
    with pathlib.Path(output).open("wb") as out, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            return Ended(None, "", f"{command[0]} cannot be started: {error.strerror}", 0)
        try:
            while process.poll() is None:
                size = os.stat(output).st_size
                if size != told:
                    told, last = size, time.monotonic()
                if time.monotonic() - last > seconds or budget.left() <= 0:
                    break
                time.sleep(0.02)
            status = process.poll()
        finally:
            if process.poll() is None:
                end_group(process)
                process.wait()
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    took = max(time.monotonic() - started, 1e-3)
    return Ended(status, pathlib.Path(output).read_text(errors="replace"), text, took)


def end_group(process):
    """Ends a process that has a session of its own, and all of that session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Budget:
    """Time that is left until everything has to be written."""

    def __init__(self, minutes):
        self._end = time.monotonic() + 60 * minutes
        self._begin = time.monotonic()

    def left(self):
        return self._end - time.monotonic()

    def spent(self):
        return time.monotonic() - self._begin

    def limit(self, seconds):
        """At most so many, and no more than are left."""
        return max(min(seconds, self.left()), 0.1)
