"""Programs of the tests on the card: compiled at once, run one after the other, their output compared with ours."""

import pathlib

from kit import build, files, processes, results

SECONDS = 30
LEAST_SECONDS = 20  # left, or it is not begun


def run_all(visit):
    waiting = [
        application
        for application in visit.manifest["applications"]
        if not visit.state.is_done(results.step("application", application["name"]))
    ]
    if visit.budget.left() < LEAST_SECONDS or not waiting:
        return
    tasks = {application["name"]: (lambda a=application: visit.builder.application(a)) for application in waiting}
    made = build.in_parallel(tasks, visit.args.jobs)
    for application in waiting:
        if visit.budget.left() < 2:
            return
        found = run(visit, application, made[application["name"]])
        if found:
            visit.state.finish(results.step("application", application["name"]), found)


def run(visit, application, made):
    """A heddle.hardware.v1.Application; None if there was no time for it."""
    found = {
        "name": application["name"],
        "compiled": not made.why,
        "expected_digest": application["expected_digest"],
        "equal": False,
    }
    if made.why:
        return dict(found, difference=made.why)
    output = visit.work / "application.out"
    folder = pathlib.Path(made.path).parent
    ended = processes.run([made.path], visit.budget.limit(SECONDS), folder, output=output)
    if ended.status is None:
        return None if visit.budget.left() <= 1 else dict(found, exit_status=-1, difference=ended.why())
    expected = (visit.bundle / "applications" / f"{application['name']}.expected").read_text()
    found.update(exit_status=ended.status, output_digest=files.digest(output))
    found["equal"] = found["output_digest"] == application["expected_digest"]
    if not found["equal"]:
        # Programs say in which file they are.
        found["difference"] = first_difference(ended.output, expected).replace(f"{visit.bundle}/", "")
    return found


def first_difference(got, expected):
    lines, wanted = got.splitlines(), expected.splitlines()
    for number in range(max(len(lines), len(wanted))):
        mine = lines[number] if number < len(lines) else "(nothing)"
        theirs = wanted[number] if number < len(wanted) else "(nothing)"
        if mine != theirs:
            return f"line {number + 1} is '{mine[:200]}', expected '{theirs[:200]}'"
    return "line ends differ"
