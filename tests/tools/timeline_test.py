"""`heddle replay --timeline`: the file, taken apart by the field numbers of Perfetto's public trace format alone, tells
what the result counts."""
import collections
import json
import shutil
import struct
import subprocess

from heddle_command import SAMPLES, SOURCE, CommandTest, heddle, main

# Perfetto's protos/perfetto/trace: number -> (name, kind); kind is a table for messages.
NAME = {1: ("iid", int), 2: ("name", str)}
INTERNED = {2: ("event_names", NAME), 3: ("debug_annotation_names", NAME)}
ANNOTATION = {1: ("name_iid", int), 3: ("uint_value", int), 6: ("string_value", str)}
EVENT = {
    4: ("debug_annotations", ANNOTATION),
    9: ("type", int),
    10: ("name_iid", int),
    11: ("track_uuid", int),
    44: ("double_counter_value", float),
}
TRACK = {
    1: ("uuid", int),
    2: ("name", str),
    5: ("parent_uuid", int),
    8: ("counter", {6: ("unit_name", str)}),
    11: ("child_ordering", int),
    12: ("sibling_order_rank", int),
}
PACKET = {
    8: ("timestamp", int),
    10: ("trusted_packet_sequence_id", int),
    11: ("track_event", EVENT),
    12: ("interned_data", INTERNED),
    13: ("sequence_flags", int),
    60: ("track_descriptor", TRACK),
}
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def decode(data, fields):
    """A message as {name: [values]}; a field that the table does not have is an error."""
    out, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = fields[tag >> 3]
        if tag & 7 == 0:
            value, at = varint(data, at)
            assert kind is int, name
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
            assert kind is float, name
        else:
            assert tag & 7 == 2 and kind not in (int, float), name
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            value = value.decode() if kind is str else decode(value, kind)
        out[name].append(value)
    return out


Slice = collections.namedtuple("Slice", "begin end name facts")


class File:
    """Tracks by uuid; slices, instants and counter values by track; whatever is out of order is an error."""

    def __init__(self, path):
        packets = decode(path.read_bytes(), {1: ("packet", PACKET)})["packet"]
        names = {"event_names": {}, "debug_annotation_names": {}}
        self.tracks, self.slices, self.values, self.instants = {}, *(collections.defaultdict(list) for _ in range(3))
        open_at = {}
        assert packets[0]["sequence_flags"] == [1]
        for packet in packets:
            assert packet["trusted_packet_sequence_id"] == [1]
            for interned in packet["interned_data"]:
                for kind, known in names.items():
                    known.update((n["iid"][0], n["name"][0]) for n in interned[kind])
            for track in packet["track_descriptor"]:
                assert track["uuid"][0] not in self.tracks
                assert not track["parent_uuid"] or track["parent_uuid"][0] in self.tracks
                self.tracks[track["uuid"][0]] = track
            for event in packet["track_event"]:
                (kind,), (track,), (at,) = event["type"], event["track_uuid"], packet["timestamp"]
                name = names["event_names"][event["name_iid"][0]] if event["name_iid"] else None
                assert track in self.tracks
                if kind == BEGIN:
                    assert track not in open_at, "slices of a row do not nest"
                    facts = {
                        names["debug_annotation_names"][a["name_iid"][0]]: a["uint_value"][0]
                        for a in event["debug_annotations"]
                    }
                    assert not self.slices[track] or self.slices[track][-1].end <= at, "slices of a row are in order"
                    open_at[track] = (at, name, facts)
                elif kind == END:
                    begin, name, facts = open_at.pop(track)
                    assert begin < at
                    self.slices[track].append(Slice(begin, at, name, facts))
                elif kind == INSTANT:
                    self.instants[track].append((at, name))
                else:
                    assert kind == COUNTER and self.tracks[track]["counter"]
                    self.values[track].append((at, event["double_counter_value"][0]))
        assert not open_at

    def rows(self, prefix):
        """(name of the parent, slices) of the tracks with a name like that."""
        return [
            (self.tracks[track["parent_uuid"][0]]["name"][0] if track["parent_uuid"] else None, self.slices[uuid])
            for uuid, track in self.tracks.items()
            if track["name"][0].startswith(prefix)
        ]


def cycles(rows):
    """Cycles by name; issues together."""
    out = collections.Counter()
    for _, slices in rows:
        for one in slices:
            out["issue" if "slot" in one.facts else one.name] += one.end - one.begin
    return out


class Timeline(CommandTest):
    def run_with(self, *arguments):
        path = self.folder / "t.pftrace"
        done = heddle("replay", *arguments, "--json", "--timeline", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, heddle("replay", *arguments, "--json").stdout, "the timeline changes no result")
        return File(path), json.loads(done.stdout)

    def test_rows_of_ports_and_slots_add_up_to_the_counters_of_the_result(self):
        loop = SOURCE / "traces" / "worked" / "warps_in_a_loop.htrace"
        for trace, divergence in (
            (SAMPLES / "reduction.htrace", "pdom"),
            (SAMPLES / "reduction.htrace", "tbc"),
            (loop, "dwf"),
            (loop, "its"),
        ):
            with self.subTest(trace=trace.name, divergence=divergence):
                file, run = self.run_with(trace, "--machine", "baws_gtx480", "--divergence", divergence)
                launches = run["launch"]
                issues = [one for _, slices in file.rows("port") for one in slices if "slot" in one.facts]
                self.assertEqual(len(issues), run["total"]["warp_instructions"])
                self.assertEqual(sum(one.facts["threads"] for one in issues), run["total"]["thread_instructions"])
                ports = cycles(file.rows("port"))
                for name, field in (
                    ("issue", "issued"),
                    ("no unit free", "structural"),
                    ("waits for memory", "data_memory"),
                    ("waits for arithmetic", "data_arithmetic"),
                    ("branch unresolved", "control"),
                    ("fetch", "fetch"),
                    ("held by policy", "policy"),
                    ("barrier", "barrier"),
                    ("warps have exited", "exit"),
                    ("no warp", "empty"),
                ):
                    self.assertEqual(ports[name], sum(launch["stalls"][field] for launch in launches), name)
                warps = cycles(file.rows("slot"))
                for name, field in (
                    ("issue", "issue"),
                    ("ready", "structural"),
                    ("waits for memory", "data_memory"),
                    ("waits for arithmetic", "data_arithmetic"),
                    ("branch unresolved", "control"),
                    ("fetch", "fetch"),
                    ("held by policy", "policy"),
                    ("barrier", "barrier"),
                ):
                    self.assertEqual(warps[name], sum(launch["warp_cycles"][field] for launch in launches), name)
                # Launches one after the other; barriers open once per block and barrier; counters are those of the result.
                ends = [one.end for _, slices in file.rows("launches") for one in slices]
                total = 0
                for launch, end in zip(launches, ends, strict=True):
                    total += launch["cycles"]
                    self.assertEqual(end, total)
                opened = sum(map(len, file.instants.values()))
                self.assertEqual(opened > 0, any(launch["barriers"] for launch in launches))

    def test_the_thesis_front_end_and_issues_of_several_slots(self):
        for divergence in ("pdom", "mimd"):
            file, run = self.run_with(
                SAMPLES / "reduction.htrace", "--machine", "fermi_fixed", "--divergence", divergence
            )
            issues = [one for _, slices in file.rows("port") for one in slices if "slot" in one.facts]
            self.assertEqual(len(issues), run["total"]["warp_instructions"])
            self.assertEqual(sum(one.facts["threads"] for one in issues), run["total"]["thread_instructions"])

    def test_cycles_and_sms_bound_it(self):
        sample = SAMPLES / "reduction.htrace"
        file, run = self.run_with(sample, "--machine", "baws_gtx480")
        sms = {parent for parent, _ in file.rows("port")}
        self.assertIn("SM 3", sms)
        path = self.folder / "part.pftrace"
        done = heddle(
            "replay",
            sample,
            "--machine",
            "baws_gtx480",
            "--quiet",
            "--timeline",
            path,
            "--timeline-cycles",
            "400-799",
            "--sm",
            "0,2-3",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        part = File(path)
        self.assertEqual({parent for parent, _ in part.rows("port")}, {"SM 0", "SM 2", "SM 3"})
        for prefix in ("port", "slot"):
            whole = dict(
                ((parent, i), slices) for i, (parent, slices) in enumerate(file.rows(prefix)) if parent == "SM 3"
            )
            cut = [
                [
                    Slice(max(s.begin, 400), min(s.end, 800), s.name, s.facts)
                    for s in slices
                    if s.begin < 800 and s.end > 400
                ]
                for slices in whole.values()
            ]
            self.assertEqual(
                [slices for parent, slices in part.rows(prefix) if parent == "SM 3"], [c for c in cut if c]
            )
        self.assertLess(path.stat().st_size, (self.folder / "t.pftrace").stat().st_size)
        self.assertGreater(run["total"]["cycles"], 800)

    def test_protoc_reads_it_by_our_schema(self):
        protoc = shutil.which("protoc")
        if protoc is None:
            self.skipTest("protoc is missing")
        path = self.folder / "t.pftrace"
        done = heddle(
            "replay", SAMPLES / "reduction.htrace", "--timeline", path, "--timeline-cycles", "0-199", "--sm", "0"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "rb") as file:
            text = subprocess.run(
                [protoc, f"--proto_path={SOURCE}", "--decode=heddle.timeline.v1.Timeline", "proto/timeline.proto"],
                stdin=file,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
        self.assertTrue(
            {"track_descriptor {", "track_event {", "interned_data {"} <= {line.strip() for line in text.splitlines()}
        )
        for line in text.splitlines():  # a field that the schema does not have is printed by its number
            self.assertNotRegex(line, r"^\s*\d+[ :]")

    def test_what_is_refused(self):
        sample = SAMPLES / "nqueens.htrace"
        out = self.folder / "x.pftrace"
        self.assert_refused(
            2, "replay", sample, "--timeline", out, "--divergence", "pdom,dwf", says=["--timeline", "of one run", "2"]
        )
        self.assert_refused(2, "replay", sample, "--timeline", out, "--timeline-cycles", "9-3", says=["FIRST-LAST"])
        self.assert_refused(2, "replay", sample, "--timeline", out, "--sm", "3-x", says=["--sm", "0,4-7"])
        self.assert_refused(2, "replay", sample, "--timeline", out, "--sm", "99", says=["SMs 0 to"])
        self.assert_refused(2, "replay", sample, "--sm", "0", says=["--timeline"])
        self.assert_refused(
            1,
            "replay",
            sample,
            "--timeline",
            out,
            "--timeline-cycles",
            "90000000-90000001",
            "--quiet",
            says=["do nothing in these cycles", "longest launch"],
        )
        self.assert_folder_has()


if __name__ == "__main__":
    main()
