"""What ``tacit publish`` answers: the release in words and tables, or as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tacit.cli.output import print_json, print_table, print_text

if TYPE_CHECKING:
    from tacit.cli.publish import ReleaseRequest
    from tacit.publish import Release


def print_release(
    release: Release, document: dict[str, Any], survived: dict[str, Any], written: dict[str, Any], asked: ReleaseRequest
) -> None:
    from tacit.count.connections import safe_address

    out, said = asked.out, written.pop("written_warnings", [])
    named = {} if asked.is_try else {"out": safe_address(out).strip("'")}
    if asked.json:
        warnings = [*document["warnings"], *said]
        print_json(document | written | named | {"warnings": warnings, "survival": survived})
        return
    print_text(release.describe())
    if len(release.methods) > 1:
        _print_methods(release)
    if asked.is_try or asked.alternatives is not None:
        _print_alternatives(release, asked)
    for warning in said:
        print_text(f"Note: {warning}")
    if words := _survival_words(survived, is_alone=len(release.recoding.tally.names) == 1):
        print_text(words)
    if asked.is_try:
        print_text("Nothing was published: this was a try (--dry-run).")
        return
    print_text(f"Written and verified: {safe_address(out)}")
    print_text(_verified_words(written["verified"], entropy=release.publication.settings.protection.entropy))
    private = written.get("private_manifest", f"{out}.private.json")
    if asked.new_table is None:
        print_text(f"To give away: {out}, and {out}.manifest.json, which says what its labels mean")
    report = "" if asked.report is None else f", and {asked.report}"
    print_text(f"Keep to yourself: {private} (it makes this release again from its input){report}")


def _verified_words(verified: Mapping[str, Any], *, entropy: bool) -> str:
    """What was counted from the written rows, as the field names it."""
    shown = [f"k = {verified['k']:,}"]
    if verified["l"] is not None:
        shown.append(f"l = {verified['l']:.3g}{' by entropy' * entropy}, t = {verified['t']:.3g}")
    if "recursive" in verified:
        shown.append(f"recursive for every c above {verified['recursive']:.3g}")
    if "beta" in verified:
        shown.append(f"beta = {verified['beta']:.3g}")
    if "k_map" in verified:
        least, most = verified["presence"]
        shown.append(f"k-map = {verified['k_map']:,}, presence {least:.3g} to {most:.3g}")
    return f"Counted from what was written: {', '.join(shown)}."


def _print_methods(release: Release) -> None:
    from tacit.publish.comparison import lost_groups, side_by_side

    columns, rows = side_by_side(release.methods)
    print_table("The methods side by side; the query error is the median over random queries", columns, rows)
    for sentence in lost_groups(release.methods):
        print_text(sentence)


MOST_LISTED = 12  # alternatives on the screen


def _print_alternatives(release: Release, asked: ReleaseRequest) -> None:
    """The numbered alternatives; of many, some from all over the front."""
    numbers = range(0, len(release.front), -(-len(release.front) // MOST_LISTED) or 1)
    rows = [
        (str(number), entry.way, f"{entry.nwp:.4f}", f"{entry.effective_k:,}", f"{entry.suppressed:,}")
        for number, entry in ((number, release.front[number]) for number in numbers)
    ]
    title = f"{len(rows)} of {len(release.front)} alternatives"
    print_table(title, ("pick", "method", "loss", "k", "suppressed"), rows)
    if asked.alternatives is not None:
        print_text(
            f"Kept: {asked.alternatives}. --alternatives {asked.alternatives} --pick N --out OUT writes number N."
        )


def survival(release: Release, target: str | None) -> dict[str, Any]:
    """What is left of tables of two attributes and, for a target, of classifiers under every method."""
    from tacit.publish.usefulness import table_error

    survived: dict[str, Any] = {"pair_error": table_error(release.recoding)}
    if target is None:
        return survived
    by_method = {method: vars(own) for method, own in release.compared.classifiers(target).items()}
    written = next(result.method for result in release.compared.methods if result.written)
    is_known = target in release.recoding.tally.names
    return survived | {
        "classifier": by_method[written],
        "classifiers": by_method,
        "target_is_quasi_identifier": is_known,
    }


def _survival_words(survived: dict[str, Any], *, is_alone: bool) -> str:
    """What is left of the data; of one attribute `is_alone` there are no tables of two."""
    error = survived["pair_error"]
    words = (
        ""
        if is_alone
        else f"Tables of two attributes read off the release are off by {error:.1%} of the rows on average."
    )
    if "classifier" in survived:
        c = survived["classifier"]
        words += f" Unseen rows whose {c['target']} is guessed right, on the original and on the release: "
        words += ", ".join(f"{model} {before:.1%} and {after:.1%}" for model, (before, after) in c["models"].items())
        words += f"; by the most frequent answer alone {c['majority_share']:.1%}."
        if survived["target_is_quasi_identifier"]:
            words += (
                f" {c['target']} is a quasi-identifier: it took part in making the classes, whose labels therefore hint at it,"
                " and its own answers are generalized in the release. So the second figure is better than an analyst gets;"
                f" name {c['target']} under --sensitive or --keep for a fair one."
            )
    return words
