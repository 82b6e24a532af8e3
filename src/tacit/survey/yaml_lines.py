"""YAML that remembers its lines, so that every refusal can point to one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from tacit.errors import InvalidInput, suggestion

DEEPEST, MOST_PARTS = 20, 2_000_000
# Control characters, and those that turn the reading of whatever stands behind them around.
UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\ufffe\uffff]")
LARGEST_FILE = 64 << 20  # of words or of answers in all languages, beside a questionnaire


@dataclass(frozen=True, slots=True)
class Located:
    """A value of a YAML file with the place it was read from."""

    value: Any
    file: str
    line: int
    written: str = ""  # a number as it stands in the file: 01234 is a postal code, not the octal number 668

    def refuse(self, message: str) -> NoReturn:
        raise InvalidInput(f"{self.file}, line {self.line}: {message}")

    def file_beside(self, folder: Path | None, what: str, advice: str = "") -> Path:
        """A file that it names, in the questionnaire's folder or below: a questionnaire of somebody else's reads no other."""
        name, home = self.text(what), (folder or Path()).resolve()
        path = (home / name).resolve()
        if not path.is_relative_to(home):
            self.refuse(f"{name!r} lies outside the folder of this file. Copy it there, and give its name.")
        if not path.is_file():
            self.refuse(f"there is no {what.removeprefix('A ')} {name!r} beside this one.{advice}")
        if path.stat().st_size > LARGEST_FILE:
            self.refuse(f"{name!r} has more than {LARGEST_FILE >> 20} MB, more than any page could ask for.")
        return path

    def mapping(self, what: str, allowed: Mapping[str, bool]) -> dict[str, Located]:
        """Its entries, if it is a mapping with none but the `allowed` keys and all of those marked True."""
        if not isinstance(self.value, dict):
            self.refuse(f"{what} must be a mapping with the keys {', '.join(allowed)}, not {self.plain()!r}.")
        for key, (located, _) in self.value.items():
            if key not in allowed:
                located.refuse(f"{what} has no key {key!r}. {suggestion(key, allowed)}")
        missing = [key for key, required in allowed.items() if required and key not in self.value]
        if missing:
            self.refuse(f"{what} needs the key{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))}.")
        return {key: entry for key, (_, entry) in self.value.items()}

    def entries(self) -> dict[str, Located]:
        """Its entries, if it is a mapping of any keys."""
        if not isinstance(self.value, dict):
            self.refuse(f"A mapping is wanted here, not {self.plain()!r}.")
        return {key: entry for key, (_, entry) in self.value.items()}

    def items(self, what: str) -> list[Located]:
        if not isinstance(self.value, list):
            self.refuse(f"{what} must be a list, not {self.plain()!r}.")
        return list(self.value)

    def text(self, what: str) -> str:
        # YAML reads a bare yes, no, 1 or 2.50 as something other than text; an answer called so means its text.
        if isinstance(self.value, bool):
            return self.written if self.written.lower() in ("on", "off") else "yes" if self.value else "no"
        if not isinstance(self.value, str | int | float) or str(self.value).strip() == "":
            self.refuse(f"{what} must be a text, not {self.plain()!r}.")
        text = self.value if isinstance(self.value, str) else self.written or str(self.value)
        hidden = UNREADABLE.search(text)
        if hidden:
            self.refuse(
                f"{what} holds the character U+{ord(hidden[0]):04X}, which nobody sees and some files cannot hold. Take it out."
            )
        return text.strip()

    def number(self, what: str) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.refuse(f"{what} must be a number, not {self.plain()!r}.")
        return self.value

    def flag(self, what: str) -> bool:
        if not isinstance(self.value, bool):
            self.refuse(f"{what} must be true or false, not {self.plain()!r}.")
        return self.value

    def one_of(
        self, what: str, allowed: Iterator[str] | tuple[str, ...], meanings: Mapping[str, str] | None = None
    ) -> str:
        """Its text, one of those `allowed`; `meanings` are other words for them, which are suggested before alike spellings."""
        choices = tuple(allowed)
        text = self.text(what)
        if text not in choices:
            meant = (meanings or {}).get(text.lower())
            hint = f"Did you mean {meant!r}? There are {', '.join(choices)}." if meant else suggestion(text, choices)
            self.refuse(f"{what} {text!r} does not exist. {hint}")
        return text

    def plain(self) -> Any:
        """The value without its places."""
        if isinstance(self.value, dict):
            return {key: entry.plain() for key, (_, entry) in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        return self.value


def read(path: Path) -> Located:
    """The YAML file at `path` with its lines."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {str(path)!r}. Write one with: tacit survey new {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{str(path)!r} cannot be read as UTF-8 text: {error}.") from None
    return parse(text, path.name)


def parse(text: str, file: str = "questionnaire") -> Located:
    try:
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        raise InvalidInput(f"{file}, {_problem(error)}") from None
    except yaml.YAMLError as error:
        raise InvalidInput(f"{file}: this is not YAML: {error}.") from None
    if node is None:
        raise InvalidInput(f"{file} is empty. Write one with: tacit survey new")
    _check_aliases(node, file)
    return _locate_node(node, file, depth=0)


def _check_aliases(root: yaml.Node, file: str) -> None:
    """Refuse a file that aliases of aliases would blow up, before anything is written out."""
    parts: dict[int, int] = {}  # of each node, as often as it is repeated

    def counted(node: yaml.Node, depth: int) -> int:
        if id(node) not in parts:
            children = [] if isinstance(node, yaml.ScalarNode) else node.value
            inner = [one for child in children for one in (child if isinstance(child, tuple) else (child,))]
            if depth > DEEPEST:
                raise InvalidInput(f"{file}, line {node.start_mark.line + 1}: nested too deeply.")
            parts[id(node)] = 1 + sum(counted(child, depth + 1) for child in inner)
        return parts[id(node)]

    if counted(root, 0) > MOST_PARTS:
        raise InvalidInput(f"{file} repeats itself to more than {MOST_PARTS:,} parts. Use fewer aliases (*name).")


def _problem(error: yaml.MarkedYAMLError) -> str:
    """The line, what is wrong there, and what usually is the cause."""
    line = error.problem_mark.line + 1 if error.problem_mark else 1
    said = f"line {line}: this is not YAML: {error.problem}."
    if error.context and "flow" in error.context and error.context_mark:
        return (
            f"{said} The braces or brackets were opened in line {error.context_mark.line + 1}: close them there, and put a "
            'text that holds a comma, a colon or a brace into quotes, as in {text: "Often: yes, or no?"}.'
        )
    if error.context and "quoted" in error.context and error.context_mark:
        return f"{said} The quotes were opened in line {error.context_mark.line + 1}: close them there."
    if error.problem and "mapping values are not allowed" in error.problem:
        return f'{said} Put a text that holds a colon into quotes, as in text: "Often: yes or no?".'
    if error.problem and "another document" in error.problem:
        return f"{said} Write one questionnaire into a file, without a line of three dashes in the middle."
    return f"{said} Lines of one list or mapping begin in the same column, after spaces and not tabs."


def _locate_node(node: yaml.Node, file: str, depth: int) -> Located:
    line = node.start_mark.line + 1
    if depth > DEEPEST:
        raise InvalidInput(f"{file}, line {line}: nested too deeply.")
    if isinstance(node, yaml.MappingNode):
        return Located(_entries(node, file, depth), file, line)
    if isinstance(node, yaml.SequenceNode):
        return Located([_locate_node(item, file, depth + 1) for item in node.value], file, line)
    return Located(_scalar(node, file), file, line, node.value)


def _entries(node: yaml.MappingNode, file: str, depth: int) -> dict[str, tuple[Located, Located]]:
    entries: dict[str, tuple[Located, Located]] = {}
    for key_node, value_node in node.value:
        key = _locate_node(key_node, file, depth + 1)
        name = key.text("A key")
        if name == "<<" and not key_node.style:
            key.refuse("parts cannot be merged into each other here (<<). Write them out.")
        if name in entries:
            key.refuse(f"the key {name!r} stands here twice (first in line {entries[name][0].line}). Remove one.")
        if node.flow_style and value_node.value == "" and not value_node.style:
            key.refuse(
                f"{name!r} has no value. Between braces a comma ends a text: put a text that holds one into quotes, as in "
                '{text: "One, two?"}.'
            )
        entries[name] = (key, _locate_node(value_node, file, depth + 1))
    return entries


def _scalar(node: yaml.Node, file: str) -> Any:
    if node.tag == "tag:yaml.org,2002:merge":
        return node.value
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node)
    except (yaml.YAMLError, ValueError):  # a day that no month has is a ValueError
        raise InvalidInput(
            f"{file}, line {node.start_mark.line + 1}: {node.value!r} is no number, text or day that exists. Correct it, or put "
            "it into quotes if it is a text."
        ) from None
    finally:
        loader.dispose()
