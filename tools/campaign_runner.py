"""Runs campaigns in parts, remembers which parts are done, and keeps a record of results: for tools/campaign."""
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable

# What a change of does not begin a campaign anew.
DOCUMENTS = re.compile(r"^docs/|\.md$|^tests/campaigns\.json$")


@dataclasses.dataclass(frozen=True)
class Part:
    """One command of a campaign; passed if it ends with status 0."""

    name: str
    command: list
    environment: dict = dataclasses.field(default_factory=dict)
    amount: dict = dataclasses.field(default_factory=dict)  # {"machines": 400}: how much of what the part runs
    tally: dict = dataclasses.field(
        default_factory=dict
    )  # {"inputs": r"executed: (\d+)"}: the same, from what it prints


@dataclasses.dataclass(frozen=True)
class Campaign:
    """What is run too seldom for tools/check. `prepare`: commands that build; `parts`: a function, called after these."""

    name: str
    summary: str
    prepare: list
    parts: Callable


class Stopped(Exception):
    """By Ctrl-C, or by SIGTERM."""


def write(path, data):
    """Replaces a file at once, so that it is whole whenever this is interrupted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    temporary.replace(path)


def git(source, *arguments):
    return subprocess.run(["git", *arguments], cwd=source, stdout=subprocess.PIPE, text=True, check=True).stdout


def digest_of_sources(source):
    """Of all files that git knows or would know, documents left out."""
    digest = hashlib.sha256()
    for name in sorted(git(source, "ls-files", "-z", "-c", "-o", "--exclude-standard").split("\0")):
        path = source / name
        if name and not DOCUMENTS.search(name) and path.is_file():
            digest.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def commit_of(source):
    """The commit, and whether files differ from it."""
    commit = git(source, "rev-parse", "--short=10", "HEAD").strip()
    changed = [
        name for name in git(source, "diff", "--name-only", "HEAD").splitlines() if name and not DOCUMENTS.search(name)
    ]
    return commit + (f", {len(changed)} files changed" if changed else "")


class Runner:
    """`folder` holds the state and the logs of each campaign; `record` is the committed file of results."""

    def __init__(self, source, folder, record, version):
        self.source, self.folder, self.record, self.version = source, folder, record, version
        self.child = None

    def records(self):
        return json.loads(self.record.read_text()) if self.record.exists() else {}

    def state(self, campaign):
        """Of an interrupted run of these sources; None if there is none, {} if it was of others."""
        path = self.folder / campaign.name / "state.json"
        if not path.exists():
            return None
        state = json.loads(path.read_text())
        return state if state["sources"] == digest_of_sources(self.source) else {}

    def call(self, part, log):
        """(passed, seconds of processor time) of a part; its output goes to the file."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(log, "wb") as output:
            # A process group of its own: whatever it starts ends with it.
            self.child = subprocess.Popen(
                [str(word) for word in part.command],
                cwd=self.source,
                env={**os.environ, **part.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = self.child.wait()
            except BaseException:
                os.killpg(self.child.pid, signal.SIGKILL)
                self.child.wait()
                raise
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return status == 0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def run(self, campaign, minutes=None, again=False, out=sys.stdout):
        """Exit status: 0 if nothing failed, 1 if a part did, 3 if it was stopped and nothing had failed."""

        def stop(_signal, _frame):
            raise Stopped

        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, stop)
        end = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
        folder = self.folder / campaign.name
        state = self.state(campaign)
        if state == {}:
            print("The sources have changed since this campaign was interrupted: it begins anew.", file=out)
        if again or not state:
            shutil.rmtree(folder, ignore_errors=True)
            state = {"sources": digest_of_sources(self.source), "done": {}}
        folder.mkdir(parents=True, exist_ok=True)
        every = []
        try:
            for number, command in enumerate(campaign.prepare):
                log = folder / f"prepare-{number}.log"
                if not self.call(Part("prepare", command), log)[0]:
                    print(f"campaign: {' '.join(map(str, command))} failed; see {log}", file=sys.stderr)
                    return 1
            every = campaign.parts()
            self.run_parts(every, state, folder, end, out)
        except Stopped:
            print("Stopped.", file=out)
        return self.conclude(campaign, every, state, out)

    def run_parts(self, every, state, folder, end, out):
        left = [part for part in every if part.name not in state["done"]]
        if len(left) < len(every):
            print(f"Goes on after {len(every) - len(left)} of {len(every)} parts.", file=out, flush=True)
        for number, part in enumerate(left):
            # At least one, so that every run comes further however long it takes to begin.
            if number > 0 and time.monotonic() > end:
                print("The time is over.", file=out)
                return
            log = folder / (re.sub(r"[^A-Za-z0-9_.-]+", "-", part.name) + ".log")
            passed, seconds = self.call(part, log)
            text = log.read_text(errors="replace") if part.tally else ""
            amount = dict(part.amount)
            for what, pattern in part.tally.items():
                amount[what] = sum(map(int, re.findall(pattern, text)))
            state["done"][part.name] = {"passed": passed, "seconds": round(seconds, 1), "amount": amount}
            write(folder / "state.json", state)
            print(f"{'ok    ' if passed else 'FAILED'}  {part.name} ({seconds:.0f} s)", file=out, flush=True)
            if not passed:
                print(f"        see {log}", file=out, flush=True)

    def conclude(self, campaign, every, state, out):
        """Writes the record, and says what came out."""
        done = state["done"]
        failed = [name for name, one in done.items() if not one["passed"]]
        complete = bool(every) and all(part.name in done for part in every)
        if not done:
            return 3
        amount = {}
        for one in done.values():
            for what, number in one["amount"].items():
                amount[what] = amount.get(what, 0) + number
        result = "failed" if failed else "passed" if complete else "nothing failed so far"
        last = {
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "version": self.version,
            "commit": commit_of(self.source),
            "parts": len(done),
            "of": len(every) or None,
            "amount": amount,
            "processor_seconds": round(sum(one["seconds"] for one in done.values())),
            "result": result,
            "failed": failed,
            "complete": complete,
        }
        records = self.records()
        before = records.get(campaign.name, {})
        records[campaign.name] = {"last": last}
        if not complete:  # keep what the last whole run said
            whole = before.get("last_complete") or before.get("last")
            if whole and whole["complete"]:
                records[campaign.name]["last_complete"] = whole
        write(self.record, records)
        if complete:
            (self.folder / campaign.name / "state.json").unlink(missing_ok=True)
        print(f"{campaign.name}: {describe(last)}", file=out)
        return 1 if failed else 0 if complete else 3


def describe(last):
    """One line of a record."""
    amount = ", ".join(f"{number:,} {what}" for what, number in sorted(last["amount"].items()))
    parts = f"{last['parts']} of {last['of']} parts" if last["of"] else f"{last['parts']} parts"
    text = f"{last['result']}: {parts}" + (f", {amount}" if amount else "")
    text += f", {last['processor_seconds']:,} s of processor time"
    return text + f" ({last['date']}, version {last['version']}, {last['commit']})"


def version_of(source: pathlib.Path):
    """That of the project, as CMakeLists.txt has it."""
    return re.search(r"project\(heddle VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text())[1]
