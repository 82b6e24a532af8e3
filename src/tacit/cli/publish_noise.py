"""``tacit publish --epsilon``: synthetic rows from noisy counts, and which options would void the promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tacit.cli.names import listed_groups
from tacit.cli.output import print_json, print_text
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.cli.publish import ReleaseRequest
    from tacit.schema import Schema


@dataclass(frozen=True)
class NoiseRequest:
    """What is asked for with --epsilon."""

    epsilon: float
    delta: float
    tables: str | None
    rows_per_person: int
    person: str | None
    missing: Literal["refuse", "answer", "drop"]


VOID = {
    "roles": "Roles are proposed from the data",
    "granularity": "Steps are found from the data",
    "order": "An order is computed from the data",
    "hierarchies": "Answers are those of the schema",
    "seed": "Noise that can be drawn again hides nothing",
}


def publish_noisy(asked: ReleaseRequest, promise: NoiseRequest, schema: Schema | None, refused: dict[str, Any]) -> None:
    """Synthetic rows; whatever would be found from the data voids the epsilon and is refused."""
    if schema is None:
        raise InvalidInput(
            "--epsilon needs --schema: answers, bins or orders found from the data would void the epsilon. Write the schema "
            "without looking at the data."
        )
    for option, value in refused.items():
        if value is not None:
            why = VOID.get(option, "It promises or shows something else")
            raise InvalidInput(f"--{option} does not go with --epsilon. {why}. Leave out one of the two.")
    from tacit.publish.synthesis import synthesize

    release = synthesize(
        asked.people, promise.epsilon, schema, None if promise.tables is None else listed_groups(promise.tables),
        delta=promise.delta, person=promise.person, rows_per_person=promise.rows_per_person, missing=promise.missing,
    )  # fmt: skip
    release.write(asked.out)
    if asked.json:
        print_json(release.to_document() | {"verified": {"rows": release.model.rows}, "out": asked.out})
        return
    print_text(release.describe())
    print_text(f"Written and verified: {asked.out}")
