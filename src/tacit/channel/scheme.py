"""The scheme: attributes, groups of them, and a channel for each group.

Whoever disguises, estimates, measures or mines reads the same one.
"""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Channel
from tacit.channel.chances import checked_distribution, integer_weights
from tacit.channel.document import FORMAT, checked_document, document_hash, plain_numbers, read_json
from tacit.channel.recipe import Recipe
from tacit.channel.registry import KINDS
from tacit.channel.routed import RoutedChannel
from tacit.channel.routing import Records, may_skip
from tacit.display import Shown
from tacit.errors import InvalidInput, UndisguisedColumns, UnknownName
from tacit.schema import Attribute, Schema
from tacit.table.columns import file_columns
from tacit.table.outputs import written_whole


class GroupRecipe(NamedTuple):
    """Names and a channel; `records` lists the legal records of a routed group, None where a question was not asked."""

    names: Sequence[str]
    recipe: Recipe
    records: list[list[str | None]] | None = None


@dataclass(frozen=True, eq=False)
class Group:
    """Attributes that are disguised together, and how.

    Parameters
    ----------
    attributes : tuple of Attribute
        What is disguised together.
    channel : Channel
        How.
    records : optional
        The legal records, where routing leaves some combinations out.

    Examples
    --------
    >>> from tacit import Attribute, Scheme, channels
    >>> scheme = Scheme.of([Attribute("smokes", ("no", "yes"))], [(["smokes"], channels.warner(0.7))])
    >>> scheme.groups[0].names
    ('smokes',)
    """

    attributes: tuple[Attribute, ...]
    channel: Channel
    records: Records | None = (
        None  # the legal ones, where routing leaves not all; the channel then acts on their numbers
    )

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(attribute.size for attribute in self.attributes)

    @cached_property
    def legal(self) -> Records:
        """The records that its attributes can have."""
        return self.records or Records.every(self.attributes)

    @property
    def is_routed(self) -> bool:
        """Whether not every question of the group is asked of everybody."""
        return self.records is not None or any(may_skip(attribute) for attribute in self.attributes)

    @property
    def law(self) -> NDArray[np.float64]:
        """The chance of each report given each legal record: ``[report, record]``."""
        return self.channel.inner.matrix if isinstance(self.channel, RoutedChannel) else self.channel.matrix

    @cached_property
    def report_attributes(self) -> tuple[Attribute, ...]:
        return self.channel.report_attributes(self.attributes)

    def to_document(self) -> dict[str, Any]:
        """Its entry in the scheme document."""
        records = {} if self.records is None else {"records": self.records.to_document()}
        channel = {"kind": self.channel.kind, **self.channel.parameters}
        return {"attributes": list(self.names), **records, "channel": channel}

    @property
    def recipe(self) -> GroupRecipe:
        """What makes this group again, as `Scheme.of` takes it."""
        records = None if self.records is None else self.records.to_document()
        return GroupRecipe(self.names, Recipe.of(self.channel), records)


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """One of several sets of questions; each respondent is dealt one, with a known probability.

    A scheme that deals nothing is a single questionnaire without a name, which asks everything.

    Parameters
    ----------
    name : str
        What it is called in the reports.
    probability : float
        The chance of being dealt it.
    groups : tuple of Group
        What it asks disguised.
    public : tuple of Attribute
        What it asks in the clear.

    Examples
    --------
    >>> from tacit import Attribute, Scheme
    >>> scheme = Scheme.of([Attribute("smokes", ("no", "yes"))])
    >>> [questionnaire.attributes for questionnaire in scheme.questionnaires]
    [('smokes',)]
    """

    name: str
    probability: float
    groups: tuple[Group, ...]
    public: tuple[Attribute, ...]

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """Names of what is asked, groups first."""
        grouped = [name for group in self.groups for name in group.names]
        return (*grouped, *(attribute.name for attribute in self.public))

    @cached_property
    def report_schema(self) -> Schema:
        """The columns of its reports: those of its groups, then the public attributes."""
        columns = [column for group in self.groups for column in group.report_attributes]
        return Schema((*columns, *self.public))

    def group_of(self, name: str) -> Group | None:
        """The group that disguises an attribute; None if the attribute is public."""
        try:
            return self._group_by_name[name]
        except KeyError:
            raise UnknownName("Attribute", name, self.attributes) from None

    @cached_property
    def _group_by_name(self) -> dict[str, Group | None]:
        public: dict[str, Group | None] = {attribute.name: None for attribute in self.public}
        return public | {name: group for group in self.groups for name in group.names}

    def groups_of(self, names: Iterable[str]) -> list[Group]:
        """The groups that disguise some attributes, in the order of the questionnaire."""
        touched = {id(group): group for group in map(self.group_of, names) if group is not None}
        return sorted(touched.values(), key=lambda group: self._place_of[id(group)])

    @cached_property
    def _place_of(self) -> dict[int, int]:
        return {id(group): place for place, group in enumerate(self.groups)}


@dataclass(frozen=True, eq=False, repr=False)
class Scheme(Shown):
    """How a table is disguised: a channel for each group; attributes in no group are public.

    Parameters
    ----------
    schema : Schema
        What is asked.
    questionnaires : tuple of Questionnaire
        What each respondent may be dealt; `Scheme.of` makes a single one.
    prior : mapping, optional
        The distribution the design assumed.
    document : mapping, optional
        The document it was read from.

    Examples
    --------
    >>> from tacit import Attribute, Scheme, channels
    >>> smokes, drinks = (Attribute(name, ("no", "yes")) for name in ("smokes", "drinks"))
    >>> scheme = Scheme.of([smokes, drinks], [(["smokes"], channels.warner(0.7))])
    >>> scheme.public_names
    ('drinks',)
    """

    schema: Schema
    questionnaires: tuple[Questionnaire, ...]
    prior: Mapping[str, tuple[float, ...]] | None = None
    document: Mapping[str, Any] | None = None  # as it was read, so that its hash does not change

    def __post_init__(self) -> None:
        report_columns: dict[str, Attribute] = {}
        owner: dict[str, str] = {}
        for questionnaire in self.questionnaires:
            if not questionnaire.attributes:
                raise InvalidInput(
                    f"The questionnaire {questionnaire.name!r} asks nothing. Give it a group, or leave it out."
                )
            for column in questionnaire.report_schema:
                if report_columns.setdefault(column.name, column).shows != column.shows:
                    raise InvalidInput(
                        f"The report column {column.name!r} shows one answer in one questionnaire and a set in another; one "
                        "file cannot hold both. Use the same kind of channel for it, or group it differently."
                    )
                for written in file_columns(column):
                    if owner.setdefault(written, column.name) != column.name:
                        raise InvalidInput(
                            f"The report columns of {owner[written]!r} and {column.name!r} would both be called {written!r} in a "
                            "file. Rename one of the two attributes."
                        )

    plotted = "amplification"

    def headline(self) -> str:
        asked = f"{len(self.schema.names)} attributes, " + ("dealt in " if self.is_dealt else "in ")
        groups = sum(len(questionnaire.groups) for questionnaire in self.questionnaires)
        dealt = f"{len(self.questionnaires)} questionnaires, " if self.is_dealt else ""
        public = f"; public: {', '.join(self.public_names)}" if self.public_names else ""
        return f"{asked}{dealt}{groups} disguised groups{public}"

    def shown_rows(self) -> list[dict[str, Any]]:
        """One row for each group: what is asked, how it is disguised, and how much of one person it can tell."""
        return [
            {
                "questionnaire": questionnaire.name,
                "attributes": ", ".join(group.names),
                "channel": group.channel.kind,
                "parameters": ", ".join(
                    f"{name} = {_short(value)}" for name, value in group.channel.parameters.items()
                ),
                "amplification": group.channel.amplification,
            }
            for questionnaire in self.questionnaires
            for group in questionnaire.groups
        ]

    @classmethod
    def of(
        cls,
        schema: Schema | Sequence[Attribute],
        groups: Sequence[GroupRecipe | tuple[Sequence[str], Recipe]] = (),
        *,
        public: Sequence[str] | None = None,
        prior: Mapping[str, Sequence[float]] | None = None,
    ) -> Scheme:
        """A scheme from attributes and ``(names, recipe)`` pairs; attributes in no group go out as they are.

        Name those as `public`, so that none is forgotten: in this version a warning asks for it, later ones will refuse. A
        scheme without groups disguises nothing and needs no names.
        """
        scheme = cls.from_groups(schema, groups, prior=prior)
        open_names = scheme.public_names
        if public is None and groups and open_names:
            warnings.warn(
                f"These columns go out undisguised: {', '.join(open_names)}. Say that they are public, with "
                f"public={list(open_names)!r}, or give them a channel.",
                UndisguisedColumns,
                stacklevel=2,
            )
        if public is not None and set(public) != set(open_names):
            _refuse_other_public(scheme, list(public))
        return scheme

    @classmethod
    def from_groups(
        cls,
        schema: Schema | Sequence[Attribute],
        groups: Sequence[GroupRecipe | tuple[Sequence[str], Recipe]] = (),
        *,
        prior: Mapping[str, Sequence[float]] | None = None,
    ) -> Scheme:
        """As `of`, for documents and designs that have stated already what is public: all that is in no group."""
        schema = _checked_schema(schema)
        made = tuple(_group(schema, group) for group in _checked_groups(groups))
        questionnaire = _questionnaire(schema, "", 1.0, made, ask_all=True)
        return cls(schema, (questionnaire,), _checked_prior(schema, prior, made))

    @classmethod
    def dealt(
        cls,
        schema: Schema | Sequence[Attribute],
        questionnaires: Sequence[tuple[str, float, Sequence[GroupRecipe | tuple[Sequence[str], Recipe]]]],
        *,
        prior: Mapping[str, Sequence[float]] | None = None,
    ) -> Scheme:
        """A split questionnaire: ``(name, probability, groups)`` of which each respondent is dealt one.

        Attributes in no group of any questionnaire are public and asked in all of them.
        """
        schema = _checked_schema(schema)
        checked_distribution("The probabilities of the questionnaires", [chance for _, chance, _ in questionnaires])
        names = [name for name, _, _ in questionnaires]
        if len(set(names)) < len(names) or not all(names):
            raise InvalidInput(f"Give each questionnaire a name of its own, not {names}.")
        everywhere = {name for _, _, groups in questionnaires for group in groups for name in group[0]}
        made = []
        for name, chance, groups in questionnaires:
            parts = tuple(_group(schema, group) for group in _checked_groups(groups))
            made.append(_questionnaire(schema, name, float(chance), parts, ask_all=False, grouped=everywhere))
        every = [group for questionnaire in made for group in questionnaire.groups]
        return cls(schema, tuple(made), _checked_prior(schema, prior, every))

    @property
    def is_dealt(self) -> bool:
        """Whether respondents answer different questionnaires."""
        return self.questionnaires[0].name != ""

    @property
    def is_identity(self) -> bool:
        """Whether nothing is disguised."""
        return not any(questionnaire.groups for questionnaire in self.questionnaires)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of a scheme that deals only one questionnaire."""
        if self.is_dealt:
            raise InvalidInput(
                "This scheme deals several questionnaires, each with groups of its own. Read them from one questionnaire: "
                "scheme.questionnaires[0].groups."
            )
        return self.questionnaires[0].groups

    @cached_property
    def routed_records(self) -> tuple[Records, ...]:
        """The legal records of its routed groups."""
        every = [group for questionnaire in self.questionnaires for group in questionnaire.groups]
        return tuple(group.records for group in every if group.records is not None)

    @property
    def public_names(self) -> tuple[str, ...]:
        """Attributes that are reported as they are."""
        return tuple(attribute.name for attribute in self.questionnaires[0].public)

    @cached_property
    def dealing_weights(self) -> NDArray[np.int64]:
        """Chances of the questionnaires as integers over 2**32."""
        chances = [questionnaire.probability for questionnaire in self.questionnaires]
        return integer_weights(checked_distribution("The probabilities of the questionnaires", chances))

    def questionnaire(self, name: str) -> Questionnaire:
        """The questionnaire of this name."""
        for questionnaire in self.questionnaires:
            if questionnaire.name == name:
                return questionnaire
        raise UnknownName("Questionnaire", name, [questionnaire.name for questionnaire in self.questionnaires])

    @property
    def report_schema(self) -> Schema:
        """The columns of a report, for a scheme that deals only one questionnaire."""
        if self.is_dealt:
            raise InvalidInput(
                "This scheme deals several questionnaires, each with a report schema of its own. Read it from one "
                "questionnaire: scheme.questionnaires[0].report_schema."
            )
        return self.questionnaires[0].report_schema

    @cached_property
    def _bare_document(self) -> dict[str, Any]:
        if self.document is not None:
            return {key: value for key, value in self.document.items() if key != "hash"}
        document: dict[str, Any] = {
            "format": FORMAT,
            "attributes": [attribute.to_document() for attribute in self.schema],
        }
        if self.is_dealt:
            document["questionnaires"] = [
                {
                    "name": questionnaire.name,
                    "probability": questionnaire.probability,
                    "groups": [group.to_document() for group in questionnaire.groups],
                }
                for questionnaire in self.questionnaires
            ]
        else:
            document["groups"] = [group.to_document() for group in self.groups]
        if self.prior is not None:
            document["prior"] = {name: list(chances) for name, chances in self.prior.items()}
        return dict(plain_numbers(document))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical document: two schemes with one hash disguise alike."""
        return document_hash(self._bare_document)

    def to_document(self) -> dict[str, Any]:
        """The scheme document, with its hash."""
        return {**self._bare_document, "hash": self.hash}

    @classmethod
    def from_document(cls, document: Any, where: str = "The scheme document") -> Scheme:
        """The scheme a document describes; a wrong hash, version or name is refused."""
        checked = checked_document(document, where)
        schema = Schema(tuple(Attribute.from_document(attribute) for attribute in checked["attributes"]))
        prior = checked.get("prior")
        if "questionnaires" in checked:
            if checked.get("groups"):
                raise InvalidInput(f"{where} has both `groups` and `questionnaires`; only one of them may be there.")
            scheme = cls.dealt(schema, _questionnaire_recipes(checked["questionnaires"]), prior=prior)
        else:
            scheme = cls.from_groups(schema, _recipes(checked.get("groups", [])), prior=prior)
        return dataclasses.replace(scheme, document=checked)

    @classmethod
    def read(cls, path: str | Path) -> Scheme:
        """The scheme in a JSON file."""
        return cls.from_document(read_json(path), where=repr(str(path)))

    def write(self, path: str | Path) -> None:
        """Write the scheme document, whole or not at all."""
        with written_whole(path) as temporary:
            Path(temporary).write_text(
                json.dumps(self.to_document(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )


def _refuse_other_public(scheme: Scheme, public: list[str]) -> None:
    """Refuse names of public attributes that the groups contradict."""
    for name in public:
        if name not in scheme.schema:
            raise UnknownName("Public attribute", name, scheme.schema.names)
        if name not in scheme.public_names:
            raise InvalidInput(f"{name!r} is public and in a group that disguises it. Leave it out of one of them.")
    left = [name for name in scheme.public_names if name not in public]
    raise InvalidInput(
        f"{', '.join(left)} would go out undisguised. Name them in public as well, or give them a channel."
    )


def _questionnaire_recipes(questionnaires: Any) -> list[tuple[str, float, list[GroupRecipe]]]:
    if not isinstance(questionnaires, list) or not questionnaires:
        raise InvalidInput(f"`questionnaires` must be a list of at least one, not {questionnaires!r}.")
    made = []
    for questionnaire in questionnaires:
        if not isinstance(questionnaire, Mapping) or not {"name", "probability", "groups"} <= set(questionnaire):
            raise InvalidInput(
                f"A questionnaire must be an object with a name, a probability and groups, not {questionnaire!r}."
            )
        made.append((str(questionnaire["name"]), questionnaire["probability"], _recipes(questionnaire["groups"])))
    return made


def _recipes(groups: Any) -> list[GroupRecipe]:
    if not isinstance(groups, list):
        raise InvalidInput(f"`groups` must be a list, not {groups!r}.")
    made = []
    for group in groups:
        if not isinstance(group, Mapping) or not _are_texts(group.get("attributes")):
            raise InvalidInput(f"A group must be an object with a list of attributes and a channel, not {group!r}.")
        recipe = Recipe.from_document(group.get("channel", {}))
        made.append(GroupRecipe(group["attributes"], recipe, group.get("records")))
    return made


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _checked_schema(schema: Schema | Sequence[Attribute]) -> Schema:
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, str | Mapping) or not isinstance(schema, Sequence):
        raise InvalidInput(
            f"A scheme begins with a Schema or a list of attributes, not {type(schema).__name__}. Of a dataset take its "
            "schema: Scheme.of(dataset.schema, groups); of a data frame Scheme.of(tacit.Dataset(frame).schema, groups)."
        )
    return Schema(tuple(schema))


EXAMPLE = '[(["smokes"], channels.warner(0.75))]'


def _checked_groups(groups: Any) -> list[GroupRecipe]:
    """Pairs of names and a recipe, else a refusal that shows how they are written."""
    if isinstance(groups, Schema):
        raise InvalidInput(f"The schema comes first, then the groups: Scheme.of(schema, {EXAMPLE}).")
    if isinstance(groups, str | Mapping) or not isinstance(groups, Sequence):
        raise InvalidInput(
            f"Groups are a list of (names, channel) pairs such as {EXAMPLE}, not {type(groups).__name__}."
        )
    made = []
    for group in groups:
        if not isinstance(group, tuple | list) or len(group) not in (2, 3):
            raise InvalidInput(
                f"Groups are a list of (names, channel) pairs such as {EXAMPLE}; {group!r} is no such pair."
            )
        made.append(GroupRecipe(*group))
        _check_recipe(made[-1].recipe)
    return made


def _check_recipe(recipe: Any) -> None:
    if hasattr(recipe, "build"):
        return
    name = recipe if isinstance(recipe, str) else getattr(recipe, "__name__", "")
    if name.replace("_", "-") in KINDS:
        written = f"Write the channel with its chance, such as channels.{name.replace('-', '_')}(...)"
    else:
        written = "Give a channel such as channels.warner(0.75), or the recipe of a device"
    raise InvalidInput(f"{recipe!r} is no channel. {written}.")


def _group(schema: Schema, group: GroupRecipe) -> Group:
    names = group.names
    if isinstance(names, str) or not names:
        raise InvalidInput(f"A group needs a list of attribute names, not {names!r}.")
    attributes = tuple(schema[name] for name in names)
    if group.records is None:
        return Group(attributes, group.recipe.build(tuple(attribute.size for attribute in attributes)))
    records = Records.from_document(attributes, group.records)
    return Group(attributes, RoutedChannel(records, group.recipe.build((len(records),))), records)


def _questionnaire(
    schema: Schema,
    name: str,
    probability: float,
    groups: tuple[Group, ...],
    *,
    ask_all: bool,
    grouped: set[str] | None = None,
) -> Questionnaire:
    asked = [member for group in groups for member in group.names]
    repeated = next((member for member in asked if asked.count(member) > 1), None)
    if repeated is not None:
        raise InvalidInput(
            f"{repeated!r} is in two groups; each attribute is disguised once. Take it out of one of them."
        )
    private = set(asked) if ask_all else grouped or set()
    public = tuple(attribute for attribute in schema if attribute.name not in private)
    return Questionnaire(name, probability, groups, public)


def _checked_prior(
    schema: Schema, prior: Mapping[str, Sequence[float]] | None, groups: Sequence[Group]
) -> dict[str, tuple[float, ...]] | None:
    """The distributions a design assumed: one per attribute, or per group under its joint name ``a+b``.

    That of a routed group may list its legal records only; it is kept over all combinations of answers.
    """
    if prior is None:
        return None
    if not isinstance(prior, Mapping):
        raise InvalidInput(f"`prior` must give a distribution for each name, not {prior!r}.")
    legal = {"+".join(group.names): group.records for group in groups if group.records is not None}
    checked = {}
    for name, chances in prior.items():
        sizes = schema.shape([name]) if name in schema else schema.shape(name.split("+"))
        distribution = checked_distribution(f"The prior of {name!r}", chances)
        if name in legal and len(distribution) == len(legal[name]):
            chances = legal[name].table(distribution).reshape(-1).tolist()
        elif len(distribution) != int(np.prod(sizes)):
            raise InvalidInput(
                f"The prior of {name!r} has {len(distribution)} entries; {int(np.prod(sizes))} are needed."
            )
        checked[name] = tuple(float(chance) for chance in chances)
    return checked


def _short(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 20 else f"{text[:17]}..."
