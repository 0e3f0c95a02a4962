"""Messages of a .proto file with their comments, as protoc tells them.

A field's unit stands in square brackets at the beginning of its comment, `// [cycles] until ...`. A comment above a message
that says `[cycles] unless a field says otherwise` gives that unit to each of its numbers without one.
"""
import dataclasses
import pathlib
import re
import subprocess
import tempfile

NUMBERS = ("double", "float", "int32", "int64", "uint32", "uint64")
UNIT = re.compile(r"\[([^\[\]]+)\]\s*")
COMMON_UNIT = re.compile(r"\[([^\[\]]+)\] unless a field says otherwise\.?\s*")


@dataclasses.dataclass
class Field:
    name: str
    kind: str  # "uint64", "bool", "string", or the name of a message or an enumeration
    message: str  # full name of the message that it is; else empty
    enumeration: str  # likewise
    repeated: bool
    keys: str  # of a map: the kind of its keys
    choice: str  # name of the oneof that it belongs to
    unit: str
    comment: str

    @property
    def is_number(self):
        return self.kind in NUMBERS


@dataclasses.dataclass
class Message:
    name: str  # full
    comment: str
    fields: list

    @property
    def short(self):
        return self.name.rsplit(".", 1)[-1]


@dataclasses.dataclass
class Enumeration:
    name: str
    comment: str
    values: list  # of (name, comment)

    @property
    def short(self):
        return self.name.rsplit(".", 1)[-1]


def _words(text):
    """A comment as one paragraph; an empty line stays a break."""
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return "\n\n".join(part for part in paragraphs if part)


class Definitions:
    """All messages and enumerations of a .proto file and of those that it imports."""

    def __init__(self, root, path):
        from google.protobuf import descriptor_pb2  # pylint: disable=import-outside-toplevel

        self._kinds = descriptor_pb2.FieldDescriptorProto
        self.messages, self.enumerations = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "set"
            subprocess.run(
                [
                    "protoc",
                    f"-I{root}",
                    f"--descriptor_set_out={out}",
                    "--include_source_info",
                    "--include_imports",
                    str(pathlib.Path(root) / path),
                ],
                check=True,
            )
            files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
        for file in files.file:
            comments = {
                tuple(place.path): _words(" \n\n".join(filter(None, (place.leading_comments, place.trailing_comments))))
                for place in file.source_code_info.location
            }
            for number, message in enumerate(file.message_type):
                self._add_message(message, file.package, (4, number), comments)
            for number, enumeration in enumerate(file.enum_type):
                self._add_enumeration(enumeration, file.package, (5, number), comments)

    def _add_enumeration(self, enumeration, scope, path, comments):
        name = f"{scope}.{enumeration.name}"
        values = [(value.name, comments.get(path + (2, number), "")) for number, value in enumerate(enumeration.value)]
        self.enumerations[name] = Enumeration(name, comments.get(path, ""), values)

    def _add_message(self, message, scope, path, comments):
        name = f"{scope}.{message.name}"
        maps = {f".{name}.{entry.name}": entry for entry in message.nested_type if entry.options.map_entry}
        comment = comments.get(path, "")
        common = COMMON_UNIT.search(comment)
        fields = [
            self._field(field, maps, message, common[1] if common else "", comments.get(path + (2, number), ""))
            for number, field in enumerate(message.field)
        ]
        self.messages[name] = Message(name, COMMON_UNIT.sub("", comment).strip(), fields)
        for number, nested in enumerate(message.nested_type):
            if not nested.options.map_entry:
                self._add_message(nested, name, path + (3, number), comments)
        for number, nested in enumerate(message.enum_type):
            self._add_enumeration(nested, name, path + (4, number), comments)

    def _field(self, field, maps, message, common, comment):
        kind = lambda of: of.type_name.rsplit(".", 1)[-1] or self._kinds.Type.Name(of.type)[len("TYPE_") :].lower()
        entry = maps.get(field.type_name)
        value = entry.field[1] if entry else field
        unit = UNIT.match(comment)
        found = Field(
            field.name,
            kind(value),
            "",
            "",
            field.label == self._kinds.LABEL_REPEATED and entry is None,
            kind(entry.field[0]) if entry else "",
            "",
            unit[1] if unit else "",
            UNIT.sub("", comment, count=1) if unit else comment,
        )
        if value.type == self._kinds.TYPE_MESSAGE:
            found.message = value.type_name[1:]
        elif value.type == self._kinds.TYPE_ENUM:
            found.enumeration = value.type_name[1:]
        elif found.is_number and not found.unit:
            found.unit = common
        if field.HasField("oneof_index") and not field.proto3_optional:
            found.choice = message.oneof_decl[field.oneof_index].name
        return found

    def below(self, name):
        """The message and all that its fields lead to, each once, in the order in which a reader meets them."""
        found = []

        def visit(of):
            if of in found:
                return
            found.append(of)
            for field in self.messages[of].fields:
                if field.message:
                    visit(field.message)

        visit(name)
        return found

    def paths(self, name):
        """message -> [paths of the fields that hold it], from the message `name`; a list is marked by []."""
        found = {}

        def visit(of, path):
            found.setdefault(of, []).append(path)
            for field in self.messages[of].fields:
                if field.message:
                    visit(field.message, f"{path}.{field.name}".lstrip(".") + ("[]" if field.repeated else ""))

        visit(name, "")
        return found
