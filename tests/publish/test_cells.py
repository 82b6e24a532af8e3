"""Where rows may be left out, rare ones lose single cells instead, and everyone is still hidden among k."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import numpy as np
import pytest

from tacit.publish import check_release, remake
from tests.publish.wishes import anonymize

NAMES = ["age", "town", "sex", "job"]
BRIEF = {"seed": 1, "evaluations": 3_000}


def people(rows: int = 600, seed: int = 4) -> dict[str, list[str]]:
    """People of whom some have one rare answer, and a few several."""
    rng = np.random.default_rng(seed)
    town = np.where(rng.random(rows) < 0.03, rng.choice(["Au", "Ob", "Ed"], rows), rng.choice(["Ulm", "Rom"], rows))
    job = np.where(rng.random(rows) < 0.03, rng.choice(["poet", "diver"], rows), rng.choice(["nurse", "clerk"], rows))
    return {
        "age": [f"{a}0s" for a in rng.integers(2, 6, rows)],
        "town": town.tolist(),
        "sex": rng.choice(["f", "m"], rows).tolist(),
        "job": job.tolist(),
        "ill": rng.choice(["flu", "cold", "gout"], rows, p=[0.6, 0.3, 0.1]).tolist(),
    }


def classes_of(release) -> dict[tuple[str, ...], Counter]:
    shown = release.to_arrow().to_pydict()
    classes = defaultdict(Counter)
    for row in range(len(shown["age"])):
        classes[tuple(shown[name][row] for name in NAMES)][shown["ill"][row]] += 1
    return classes


def test_hidden_cells_lose_less_than_lost_rows_and_everyone_hides_among_k(tmp_path):
    rows = anonymize(people(), 8, NAMES, sensitive="ill", suppress=0.05, cells=False, **BRIEF)
    cells = anonymize(people(), 8, NAMES, sensitive="ill", suppress=0.05, **BRIEF)
    assert cells.nwp < rows.nwp - 0.005
    assert rows.recoding.hidden_cells == 0 < cells.recoding.hidden_cells
    assert cells.suppressed * len(NAMES) + cells.recoding.hidden_cells <= 0.05 * 600 * len(NAMES)
    classes = classes_of(cells)
    assert min(own.total() for own in classes.values()) == cells.effective_k >= 8
    starred = [own for own in classes if "*" in own]
    assert starred
    assert any("*" not in own for own in classes)
    path = cells.write(tmp_path / "out.csv")
    assert check_release(path, NAMES).k == cells.effective_k
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["hidden_cells"] == cells.recoding.hidden_cells
    again = remake(tmp_path / "out.csv.private.json", people())
    assert again.to_arrow().equals(cells.to_arrow())


def test_the_loss_is_that_of_every_cell_as_it_is_defined():
    data = people()
    release = anonymize(data, 8, NAMES, suppress=0.05, keep_order=True, **BRIEF)
    behind, lost, place = release.recoding.released_labels(), 0.0, 0
    shown = release.to_arrow().to_pydict()
    sizes = {name: release.input.schema[name].size for name in NAMES}
    kept = release.recoding.classes[release.recoding.combinations.places(
        [np.array([release.input.schema[name].encode(value) for value in data[name]]) for name in NAMES]
    )] >= 0  # fmt: skip
    for row in range(len(kept)):
        if not kept[row]:
            lost += 1
            continue
        for name in NAMES:
            answers = behind[name][shown[name][place]]
            assert data[name][row] in answers
            lost += (len(answers) - 1) / (sizes[name] - 1) / len(NAMES)
        place += 1
    assert release.nwp == pytest.approx(lost / len(kept))


@pytest.mark.parametrize("wishes", [{"l": 2}, {"l": 2, "entropy": True}, {"l": 2, "recursive": 3.0}])
def test_classes_with_hidden_cells_show_the_demanded_l(wishes):
    release = anonymize(people(), 6, NAMES, sensitive="ill", suppress=0.08, **wishes, **BRIEF)
    assert release.recoding.hidden_cells
    for own in classes_of(release).values():
        shares = np.array(sorted(own.values(), reverse=True)) / own.total()
        assert own.total() >= 6
        if "recursive" in wishes:
            assert shares[0] < 3 * shares[1:].sum()
        elif "entropy" in wishes:
            assert np.exp(-(shares * np.log(shares)).sum()) >= 2 - 1e-9
        else:
            assert len(own) >= 2


@pytest.mark.parametrize("wishes", [{"sensitive": "ill", "t": 0.4}, {"method": "exact", "seconds": 2}])
def test_t_and_proofs_are_about_whole_rows(wishes):
    release = anonymize(people(), 8, ["town", "sex", "job"], suppress=0.05, **(BRIEF | wishes))
    assert release.recoding.hidden_cells == 0


def test_nothing_of_a_row_that_is_left_out_stays():
    data = people()
    for name, value in (("age", "90s"), ("town", "Nowhere"), ("sex", "x"), ("job", "king")):
        data[name][7] = value
    release = anonymize(data, 8, NAMES, sensitive="ill", suppress=0.05, **BRIEF)
    assert release.suppressed > 0
    told = json.dumps(release.recoding.released_labels())
    assert not [name for name, value in (("town", "Nowhere"), ("job", "king")) if value in told]


def test_what_a_method_would_write_is_in_the_menu_and_beaten_by_no_other_entry():
    release = anonymize(people(), 8, NAMES, sensitive="ill", suppress=0.05, method="compare", **BRIEF)
    for result in release.methods:
        own = [entry for entry in release.front if entry.way == result.name]
        assert any(
            (entry.nwp, entry.effective_k, entry.hidden_cells) == (result.nwp, result.effective_k, result.hidden_cells)
            for entry in own
        )
        assert not any(
            one.nwp < other.nwp and one.necd <= other.necd and one.effective_k >= other.effective_k
            for one in own
            for other in own
        )
