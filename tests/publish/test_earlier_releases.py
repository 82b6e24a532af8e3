"""Two releases of one input: refused, unless it is said that they add up."""

from __future__ import annotations

from collections import Counter

import pytest

from tacit.errors import InvalidInput
from tacit.publish.earlier_releases import _classes
from tacit.publish.writing import write_file
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize


def rows(release) -> list[tuple[str, ...]]:
    return list(zip(*(column.to_pylist() for column in release.to_arrow().columns), strict=True))


def test_a_second_release_of_the_same_input_is_refused(tmp_path):
    anonymize(people(), 6, **QUICK).write(tmp_path / "out.csv")
    second = anonymize(people(), 6, method="local")
    for name in ("second.csv", "out.csv"):
        with pytest.raises(InvalidInput, match=r"'out.csv.private.json' says that this input was released before"):
            second.write(tmp_path / name)
    assert not (tmp_path / "second.csv").exists()
    # The same people in another order are another input, and so is next month's table: said, not refused.
    other = {name: values[::-1] for name, values in people().items()}
    written = write_file(anonymize(other, 6, **QUICK), tmp_path / "other.csv")
    assert "Another table with some of these columns was released before (out.csv.private.json)" in written.warnings[0]
    strangers = {"colour": ["red", "blue"] * 10, "size": ["s", "l"] * 10}
    assert not write_file(anonymize(strangers, 5, **QUICK), tmp_path / "strangers.csv").warnings


@pytest.mark.parametrize("suppress", [0, 0.05])
def test_again_says_what_k_remains_of_both(tmp_path, suppress):
    names = ["age", "town", "sex"]
    first = anonymize(people(), 6, names, keep_order=True, **QUICK)
    first.write(tmp_path / "first.csv")
    (tmp_path / "notes.private.json").write_text("{}")  # of another program
    second = anonymize(people(), 6, names, suppress=suppress, keep_order=True, seed=5, evaluations=300)
    written = write_file(second, tmp_path / "second.csv", again=True)
    if not suppress:
        together = Counter(zip(rows(first), rows(second), strict=True))
        assert written.k_together == min(together.values())
    assert written.k_together < 6
    assert f"the k of all together is {written.k_together}" in written.warnings[0]
    assert "first.csv.private.json" in written.warnings[0]


def test_the_k_of_both_counts_the_rows_of_every_pair_of_classes_and_leaves_out_rows_that_nobody_sees(tmp_path):
    names = ["age", "town", "sex"]
    first = anonymize(people(), 6, names, suppress=0.05, seed=0, evaluations=300)
    first.write(tmp_path / "first.csv")
    second = anonymize(people(), 6, names, suppress=0.08, seed=20, evaluations=300)
    pairs = Counter(zip(_classes(first).tolist(), _classes(second).tolist(), strict=True))
    assert pairs.pop((-1, -1))
    assert write_file(second, tmp_path / "second.csv", again=True).k_together == min(pairs.values())
