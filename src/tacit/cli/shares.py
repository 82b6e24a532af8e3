"""The expected distribution of the answers, from the arguments of a command."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import InvalidInput, UnknownName


def expected_shares(
    distribution: str | None,
    categories: int,
    prior: str | None,
    data: Path | None,
    attribute: str | None,
    schema: Path | None = None,
) -> tuple[list[float], list[str] | None, int | None]:
    """Shares, answers where they have names, and rows where they were counted."""
    if sum(source is not None for source in (distribution, prior, data)) != 1:
        message = (
            "Say how the answers are expected to be distributed, in one way: --distribution NAME, --prior SHARES, "
        )
        raise InvalidInput(message + "or --data FILE --attribute NAME. If nothing is known: --distribution uniform.")
    if schema is not None and data is None:
        raise InvalidInput("--schema says how the answers in a file are read: give --data FILE with it.")
    if distribution is not None:
        from tacit.design import named_prior

        return named_prior(distribution, categories).tolist(), None, None
    if prior is not None:
        return numbers("--prior", prior), None, None
    assert data is not None
    if attribute is None:
        raise InvalidInput("--data needs --attribute: the column whose answers are to be disguised.")
    return _counted(data, attribute, schema)


def _counted(data: Path, attribute: str, document: Path | None) -> tuple[list[float], list[str], int]:
    import numpy as np

    from tacit.channel.scheme import Scheme
    from tacit.dataset import Dataset
    from tacit.table.files import column_names, read_table

    names = column_names(data)
    if attribute not in names:
        raise UnknownName("Attribute", attribute, names)
    schema = None if document is None else Scheme.read(document).schema.select([attribute])
    truths = Dataset.from_arrow(read_table(data, [attribute]), schema)
    counts = np.bincount(truths.table[attribute], minlength=truths.schema[attribute].size)
    seen = counts > 0
    answers = [answer for answer, kept in zip(truths.schema[attribute].answers, seen, strict=True) if kept]
    return (counts[seen] / counts.sum()).tolist(), answers, int(counts.sum())


def numbers(option: str, text: str) -> list[float]:
    """The numbers of an option that takes several, separated by commas."""
    try:
        parsed = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        parsed = []
    if not parsed:
        raise InvalidInput(f"{option} is {text!r}; it must be numbers separated by commas, such as 0.5,0.3,0.2.")
    return parsed
