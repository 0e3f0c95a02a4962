"""Holds results of a visit to the messages of proto/hardware.proto, read as text: no Protocol Buffers are needed."""
import re

NUMBERS = {"uint32": int, "uint64": int, "int32": int, "double": (int, float)}
FIELD = re.compile(r"^\s*(repeated |optional )?(map<string, (\w+)>|\w+) (\w+) = \d+;", re.M)


def read(text):
    """Fields by message: name, (repeated, type). A map is of type "map TYPE"."""
    messages = {}
    for name, body in re.findall(r"^message (\w+) \{\n(.*?)^\}", text, re.M | re.S):
        messages[name] = {
            field: (repeated == "repeated ", f"map {of}" if of else kind)
            for repeated, kind, of, field in FIELD.findall(body)
        }
    for name, body in re.findall(r"^enum (\w+) \{\n(.*?)^\}", text, re.M | re.S):
        messages[name] = set(re.findall(r"^\s*(\w+) = \d+;", body, re.M))
    return messages


def faults(messages, kind, value, where):
    """What in a value is not as the messages say."""
    if kind in NUMBERS:
        right = isinstance(value, NUMBERS[kind]) and not isinstance(value, bool) and (kind[0] != "u" or value >= 0)
        return [] if right else [f"{where}: {value!r} is no {kind}"]
    if kind in ("string", "bool"):
        return [] if isinstance(value, str if kind == "string" else bool) else [f"{where}: {value!r} is no {kind}"]
    if isinstance(messages.get(kind), set):
        return [] if value in messages[kind] else [f"{where}: {value!r} is no {kind}"]
    if kind not in messages or not isinstance(value, dict):
        return [f"{where}: is no {kind}"]
    found = []
    for name, part in value.items():
        if name not in messages[kind]:
            found.append(f"{where}.{name}: {kind} has no such field")
            continue
        repeated, of = messages[kind][name]
        if repeated:
            for i, element in enumerate(part):
                found += faults(messages, of, element, f"{where}.{name}[{i}]")
        elif of.startswith("map "):
            for key, element in part.items():
                found += faults(messages, of[4:], element, f"{where}.{name}[{key}]")
        else:
            found += faults(messages, of, part, f"{where}.{name}")
    return found
