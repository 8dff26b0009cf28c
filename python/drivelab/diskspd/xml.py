"""XML from strangers as a tree of elements with their lines: no declared entities, no depth and no size without limit.

Namespaces are left out: of `ds:Profile` the name is `Profile`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

_DEPTH_MAX, _ELEMENTS_MAX, _TEXT_MAX = 32, 20_000, 100_000


class XmlError(Exception):
    """A text that is no XML, or more than is read; with the line."""

    def __init__(self, line: int, what: str) -> None:
        """Create it with the line and the reason."""
        super().__init__(what)
        self.line = line


@dataclass
class Node:
    """An element: its name without a namespace, its line, its text without blanks around it."""

    name: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    children: list[Node] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Node]:
        """The elements of that name directly below."""
        return (one for one in self.children if one.name == name)

    def one(self, name: str) -> Node | None:
        """The first element of that name directly below."""
        return next(self.all(name), None)


class _Reader:
    """Builds the tree while the text is parsed."""

    def __init__(self, before: int) -> None:
        """Create it with the number of lines before the XML."""
        self.before = before
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.add
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.open: list[Node] = []
        self.root: Node | None = None
        self.count = 0

    @property
    def line(self) -> int:
        return self.before + self.parser.CurrentLineNumber

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        line = self.line
        self.count += 1
        if len(self.open) >= _DEPTH_MAX or self.count > _ELEMENTS_MAX:
            raise XmlError(
                line, f"more than {_DEPTH_MAX} elements within each other, or {_ELEMENTS_MAX:,} in all"
            )
        node = Node(name.rpartition(":")[2], line, attributes)
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)

    def end(self, _: str) -> None:
        node = self.open.pop()
        node.text = node.text.strip()

    def add(self, text: str) -> None:
        node = self.open[-1]
        node.text += text
        if len(node.text) > _TEXT_MAX:
            raise XmlError(node.line, f"{node.name}: more than {_TEXT_MAX:,} characters in an element")

    def refuse(self, *_: object) -> None:
        raise XmlError(self.line, "it has a DOCTYPE, which could declare entities: leave that out")


def root_of(text: str) -> Node:
    """The outermost element. Raises XmlError."""
    begun = text.lstrip()
    reader = _Reader(text.count("\n", 0, len(text) - len(begun)))
    try:
        reader.parser.Parse(begun, True)
    except expat.ExpatError as error:
        what = f"this is no XML: {expat.errors.messages[error.code]}"
        raise XmlError(reader.before + error.lineno, what) from error
    except UnicodeEncodeError as error:
        raise XmlError(text.count("\n", 0, error.start) + 1, "this is no UTF-8 text") from error
    if reader.root is None:
        raise XmlError(1, "this is no XML: there is no element in it")
    return reader.root
