"""What a visit has found so far. It is written after each step, so that a visit that is cut short is useful, and goes on."""

import json
import pathlib

from kit import files

NAME = "state.json"


class State:
    """Steps that are done, by name, each with what it has found; and readings that belong to none."""

    def __init__(self, folder, bundle_digest):
        self._path = pathlib.Path(folder) / NAME
        self.bundle_digest = bundle_digest
        self.values = {
            "bundle_digest": bundle_digest,
            "seconds": 0.0,
            "date": "",
            "card": {},
            "tools": {},
            "stand_ins": [],
            "metrics": None,
            "no_counters": "",
            "clocks": [],
            "skipped": {},
            "done": {},
            "failed": {},
        }

    def resume(self):
        """Takes over what an earlier visit with the same bundle has left. Says whether there was anything; raises
        ValueError for what another bundle has left, or for a file that is none of ours."""
        if not self._path.exists():
            return False
        values = json.loads(self._path.read_text())
        if not isinstance(values, dict) or not set(self.values) <= set(values):
            raise ValueError(f"{self._path}: was not written by a visit")
        if values["bundle_digest"] != self.bundle_digest:
            raise ValueError(f"{self._path}: is of another bundle: remove it, or name another folder with --output")
        self.values = values
        return True

    def write(self):
        files.write_json(self._path, self.values)

    # --- steps

    def is_done(self, step):
        """Whether a step need not be made any more. One that failed is not made again."""
        return step in self.values["done"] or step in self.values["failed"]

    def done(self, step):
        """What a step has found; None if it was not made, or failed."""
        return self.values["done"].get(step)

    def finish(self, step, found):
        self.values["done"][step] = found

    def fail(self, step, why):
        self.values["failed"][step] = " ".join(str(why).split())[:500]

    def skip(self, what, why):
        """Notes what is left out as a whole, for results."""
        self.values["skipped"][what] = " ".join(str(why).split())[:500]
