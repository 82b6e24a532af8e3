"""The role of every column in a release: proposed with a reason, kept in a small YAML file, read back.

Nothing is published without a role. What nothing is known about is proposed as a quasi-identifier, because somebody may know it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow.compute as pc

from tacit.errors import InvalidInput, UnknownName
from tacit.publish.column_types import ColumnType, found_type, words_of
from tacit.publish.opening import is_stored, stored_table
from tacit.publish.settings import Preferences, Protection
from tacit.table import as_arrow, read_table
from tacit.table.columns import as_text, missing_values, plain

if TYPE_CHECKING:
    import pyarrow as pa

Role = Literal[
    "identifier", "pseudonym", "quasi-identifier", "sensitive", "person", "household", "weight", "kept", "ignored"
]
SAMPLED_ROWS = 100_000  # of a database table
NEARLY_ALL = 0.95  # of the rows: different values of a column that names its rows
LONG_TEXT = 40  # characters on average
FEWEST_NUMBERED = 20  # different values of a column that numbers people or households without saying so

IDENTIFYING = {
    "name", "surname", "lastname", "firstname", "forename", "email", "mail", "phone", "telephone", "mobile", "fax", "ssn",
    "address", "street", "passport", "iban", "account", "licence", "license", "url", "ip", "username", "login",
}  # fmt: skip
NUMBERING = {
    "id",
    "ids",
    "uuid",
    "guid",
    "key",
    "nr",
    "no",
    "number",
    "index",
    "rowid",
    "recordid",
    "personid",
    "patientid",
}
PERSONS = {"person", "patient", "customer", "client", "member", "respondent", "subject", "user", "student", "employee"}
HOUSEHOLDS = {"household", "family", "hh", "hhid"}
BODY = {"height", "bmi"}
WEIGHTS = {"weight", "weights", "wgt", "pweight", "fnlwgt", "fweight", "wt"}
SENSITIVE = {
    "illness", "disease", "diagnosis", "diagnoses", "icd", "condition", "disorder", "hiv", "cancer", "medication", "drug",
    "drugs", "treatment", "therapy", "income", "salary", "wage", "wages", "earnings", "wealth", "debt", "loan", "balance",
    "religion", "party", "vote", "political", "orientation", "crime", "criminal", "offence", "offense", "arrest", "conviction",
    "alcohol", "abortion", "pregnant", "score", "grade", "violence", "abuse", "cheated", "pain", "stroke", "depression",
}  # fmt: skip
KNOWN_OF_PEOPLE = {
    "age", "birth", "born", "dob", "birthday", "sex", "gender", "zip", "zipcode", "postal", "postcode", "plz", "race",
    "ethnicity", "marital", "education", "occupation", "job", "workclass", "country", "nationality", "city", "town", "region",
    "state", "county", "district", "municipality", "admission", "visit", "discharge", "date", "relationship", "children",
    "height", "employer", "school",
}  # fmt: skip


@dataclass(frozen=True)
class ColumnRole:
    """What a column is to a release, what it holds, and why."""

    name: str
    role: Role
    type: ColumnType | None  # None: found from the values
    reason: str


@dataclass(frozen=True)
class Roles:
    """The roles of a table's columns."""

    columns: tuple[ColumnRole, ...]

    def named(self, *roles: Role) -> list[str]:
        return [column.name for column in self.columns if column.role in roles]

    def to_document(self) -> dict[str, Any]:
        return {"columns": [asdict(column) for column in self.columns]}

    def to_yaml(self, table: str) -> str:
        """The roles as a file to be read, mended and kept beside the table."""
        import yaml

        head = f"# Roles of the columns of {table}. Change what is wrong; columns without a role are not published.\n"
        head += f"# Roles: {', '.join(get_args(Role))}.\n# Types: {', '.join(get_args(ColumnType))}.\n"
        return head + yaml.safe_dump(self.to_document(), sort_keys=False, allow_unicode=True, width=120)

    @property
    def person(self) -> str | None:
        """The column that says whose row it is; households go before persons, since k households are k persons."""
        return next(iter([*self.named("household"), *self.named("person")]), None)

    def protection(self, protection: Protection) -> Protection:
        """The protection with the columns of these roles, where it names none itself."""
        quasi_identifiers = self.named("quasi-identifier")
        if not quasi_identifiers:
            raise InvalidInput(
                "No column has the role quasi-identifier: what may somebody know of a person? Give at least one that role."
            )
        return replace(
            protection,
            attributes=quasi_identifiers if protection.attributes is None else protection.attributes,
            sensitive=protection.sensitive or self.named("sensitive"),
            keep=protection.keep or self.named("kept"),
            pseudonyms=protection.pseudonyms or self.named("pseudonym"),
            person=protection.person or self.person,
            survey_weights=protection.survey_weights or self._unused_weights(protection),
        )

    def _unused_weights(self, protection: Protection) -> str | None:
        """The first column of survey weights, unless it is asked for as something else or the people are known better."""
        sets: Any = protection.attributes or ()
        used = {*protection.others, protection.person, *(name for members in sets for name in members)}
        unused = [name for name in self.named("weight") if name not in used]
        return unused[0] if unused and protection.people is None else None

    def preferences(self, preferences: Preferences) -> Preferences:
        """The preferences with the types of these columns."""
        types = {column.name: column.type for column in self.columns if column.type is not None}
        return replace(preferences, types=types | dict(preferences.types or {}))


def propose_roles(data: Any) -> Roles:
    """A role and a type for every column of a file, a data frame or a database table, with the reason for each."""
    table = _table(data)
    if not table.num_rows:
        raise InvalidInput("The table has no rows, so nothing can be proposed for its columns.")
    columns = tuple(_proposed_role(name, table.column(name)) for name in table.column_names)
    if any(words_of(name) & BODY for name in table.column_names):
        columns = tuple(_body_weight(column) if column.role == "weight" else column for column in columns)
    return Roles(columns)


def _body_weight(column: ColumnRole) -> ColumnRole:
    """A weight beside a height: what a person weighs, unless its name is one that only surveys use."""
    if not words_of(column.name) & {"weight", "wt"}:
        return column
    return replace(
        column, role="quasi-identifier", reason="beside a height it is what a person weighs, which others know"
    )


def _table(data: Any) -> pa.Table:
    if is_stored(data):
        from tacit.count.backend import answer

        return answer(stored_table(data).limit(SAMPLED_ROWS))
    return read_table(data) if isinstance(data, str | Path) else as_arrow(data)


def _proposed_role(name: str, column: pa.ChunkedArray) -> ColumnRole:
    present = plain(column).filter(~missing_values(column))
    texts = as_text(present)
    distinct, rows = len(texts.unique()), len(column)
    kind: ColumnType = found_type(name, column) if distinct else "nominal"
    role, reason = _role(name, kind, texts, distinct, rows)
    return ColumnRole(name, role, kind, reason)


def _role(name: str, kind: ColumnType, texts: pa.ChunkedArray, distinct: int, rows: int) -> tuple[Role, str]:

    words = words_of(name)
    if distinct < 2:
        return "ignored", "it says the same in every row"
    if words & WEIGHTS and kind == "number":
        return "weight", f"its name says that it weighs the rows ({_shared_words(words, WEIGHTS)})"
    numbering = _numbering_role(words, distinct, rows)
    if numbering is not None:
        return numbering
    if words & IDENTIFYING:
        return "identifier", f"its name says that it names people ({_shared_words(words, IDENTIFYING)})"
    if words & SENSITIVE:
        return "sensitive", f"its name suggests something private ({_shared_words(words, SENSITIVE)})"
    if words & KNOWN_OF_PEOPLE:
        return "quasi-identifier", f"others know this of people ({_shared_words(words, KNOWN_OF_PEOPLE)})"
    if kind == "nominal" and distinct >= NEARLY_ALL * rows and rows > 20:
        if pc.mean(pc.utf8_length(texts)).as_py() > LONG_TEXT:
            return "ignored", "it is free text, which may name people"
        return "identifier", f"{distinct:,} of {rows:,} rows differ in it"
    return "quasi-identifier", "nothing says that nobody knows it"


def _numbering_role(words: set[str], distinct: int, rows: int) -> tuple[Role, str] | None:
    """The role of a column whose name says that it numbers something; None where it does not."""
    joined = any(word.endswith("id") and word[:-2] in PERSONS | HOUSEHOLDS for word in words)
    # A column called "household" alone numbers them where it has very many values; a few are kinds of households.
    alone = len(words) == 1 and bool(words & (PERSONS | HOUSEHOLDS)) and distinct >= max(FEWEST_NUMBERED, rows / 10)
    if not (words & NUMBERING or joined or alone):
        return None
    if distinct == rows:
        return "identifier", "its name says that it numbers the rows, and it is different in each"
    if words & HOUSEHOLDS or words & {f"{word}id" for word in HOUSEHOLDS}:
        return "household", f"its name says that it numbers households; {rows / distinct:.1f} rows each"
    if distinct > rows / 50:
        return "person", f"its name says that it numbers somebody, and it repeats: {rows / distinct:.1f} rows each"
    return None


def _shared_words(words: set[str], known: set[str]) -> str:
    return ", ".join(sorted(words & known))


def read_roles(path: str | Path, columns: Sequence[str] | None = None) -> Roles:
    """The roles in a YAML file; with the `columns` of the table, a role for a missing one is refused."""
    import yaml

    try:
        document = yaml.safe_load(Path(path).read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"There is no file {str(path)!r} of roles. 'tacit roles FILE --out F' writes one.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", in line {mark.line + 1}"
        raise InvalidInput(f"{str(path)!r} cannot be read as YAML{line}: {str(error).splitlines()[0]}.") from None
    entries = document.get("columns", document) if isinstance(document, dict) else None
    if isinstance(entries, dict):  # name: role, or name: {role: ..., type: ...}
        entries = [{"name": name} | (own if isinstance(own, dict) else {"role": own}) for name, own in entries.items()]
    if not isinstance(entries, list) or not entries:
        raise InvalidInput(
            f"{str(path)!r} must list columns with their roles, as 'tacit roles FILE --out F' writes them."
        )
    roles = Roles(tuple(_read(entry, str(path)) for entry in entries))
    for name in [column.name for column in roles.columns] if columns is not None else ():
        if name not in (columns or ()):
            raise UnknownName(f"Column that {str(path)!r} gives a role", name, list(columns or ()))
    return roles


def _read(entry: Any, path: str) -> ColumnRole:
    if not isinstance(entry, Mapping) or "name" not in entry or "role" not in entry:
        raise InvalidInput(f"{path!r} has the entry {entry!r}, where a column needs a name and a role.")
    role, kind = str(entry["role"]), entry.get("type")
    if role not in get_args(Role):
        raise UnknownName("Role", role, get_args(Role))
    if kind is not None and kind not in get_args(ColumnType):
        raise UnknownName("Type", str(kind), get_args(ColumnType))
    return ColumnRole(str(entry["name"]), role, kind, str(entry.get("reason", "")))  # type: ignore[arg-type]
