"""What a visit has found so far: a journal, one line per finding, so that a visit that is cut short is useful, and
goes on."""

import json
import pathlib

NAME = "journal.jsonl"
# What belongs to no step, and how it begins.
VALUES = {
    "seconds": 0.0,  # that were spent
    "date": "",
    "card": {},
    "tools": {},
    "stand_ins": [],  # what stood in for a tool or the card
    "metrics": None,  # that can be measured; None: not tested
    "no_counters": "",  # why there are none
}


class State:
    """Steps that are done, by name, each with what it has found; steps that failed, with the reason; and what belongs
    to no step. Each change is a line of the journal at once."""

    def __init__(self, folder, bundle_digest):
        self._path = pathlib.Path(folder) / NAME
        self._digest = bundle_digest
        self._values = dict(VALUES)
        self._done = {}
        self._failed = {}
        self.clocks = []
        self.skipped = {}
        self._journal = None

    def open(self):
        """Takes over what an earlier visit with the same bundle has left in the folder, and goes on writing there.
        Gives how many steps were done; raises ValueError for a journal of another bundle."""
        if self._path.exists():
            lines = self._path.read_text(errors="replace").splitlines()
            first = parse(lines[0]) if lines else None
            if first != {"bundle": self._digest}:
                raise ValueError(f"{self._path}: is of another bundle: remove it, or name another folder with --output")
            for line in lines[1:]:
                self._replay(parse(line))
            self._journal = self._path.open("a")
            # The last line may have been cut.
            self._journal.write("\n")
        else:
            self._journal = self._path.open("w")
            self._note({"bundle": self._digest})
        return len(self._done)

    def _note(self, change):
        self._journal.write(json.dumps(change, separators=(",", ":")) + "\n")
        self._journal.flush()

    def _change(self, change):
        self._replay(change)
        self._note(change)

    def _replay(self, change):
        if not isinstance(change, dict):
            return
        if "value" in change and change.get("of") in VALUES:
            self._values[change["of"]] = change["value"]
        elif "done" in change:
            self._done[change["done"]] = change["found"]
        elif "failed" in change:
            self._failed[change["failed"]] = change["why"]
        elif "skipped" in change:
            self.skipped[change["skipped"]] = change["why"]
            if not change["why"]:
                del self.skipped[change["skipped"]]
        elif "clock" in change:
            self.clocks.append(change["clock"])

    def get(self, name):
        return self._values[name]

    def set(self, name, value):
        self._change({"of": name, "value": value})

    def add_clock(self, reading):
        self._change({"clock": reading})

    # --- steps

    def is_done(self, step):
        """Whether a step need not be made any more. One that failed is not made again."""
        return step in self._done or step in self._failed

    def done(self, step):
        """What a step has found; None if it was not made, or failed."""
        return self._done.get(step)

    def steps(self):
        """Names of the steps that are done."""
        return list(self._done)

    def failures(self):
        """Why steps failed, by name."""
        return self._failed

    def finish(self, step, found):
        self._change({"done": step, "found": found})

    def fail(self, step, why):
        self._change({"failed": step, "why": line_of(why)})

    def skip(self, what, why):
        """Notes what is left out as a whole, for results; without a reason: that it is not any more."""
        self._change({"skipped": what, "why": line_of(why)})


def parse(line):
    try:
        return json.loads(line)
    except ValueError:
        return None


def line_of(text):
    return " ".join(str(text).split())[:500]
