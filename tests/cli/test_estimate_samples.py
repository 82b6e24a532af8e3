"""`tacit estimate` on files as they lie: weights, strata, clusters, and columns that nobody asked about."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as library
from tacit import Attribute, SampleDesign, Scheme, channels
from tests.cli.run import refused, tacit

N = 300
SCHEME = Scheme.of([Attribute("cheats", ("no", "yes"))], [(["cheats"], channels.warner(0.8))])


@pytest.fixture
def study(tmp_path):
    random = np.random.default_rng(1965)
    answers = random.choice(["no", "yes"], N)
    columns = {"w": random.uniform(0.5, 2, N), "s": np.arange(N) % 3, "c": np.arange(N) // 10}
    rows = ["id,cheats,w,s,c"]
    rows += [f"{n},{answers[n]},{columns['w'][n]},{columns['s'][n]},{columns['c'][n]}" for n in range(N)]
    (tmp_path / "study.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    SCHEME.write(tmp_path / "scheme.json")
    return tmp_path, answers, columns


def asked(folder, *options):
    return ("estimate", folder / "study.csv", "--scheme", folder / "scheme.json", "--attributes", "cheats", *options)


def test_weights_strata_and_clusters_are_columns_of_the_file(study):
    folder, answers, columns = study
    sample = ("--weights", "w", "--strata", "s", "--clusters", "c", "--sampled", "10%", "--drop-others")
    cell = tacit(*asked(folder, *sample, "--json")).json["cells"][1]
    design = SampleDesign.of(N, weights=columns["w"], strata=columns["s"], clusters=columns["c"], sampled=0.1)
    reports = library.Reports.from_arrow({"cheats": answers}, SCHEME)
    expected = library.estimate(reports, "cheats", sample=design)
    assert cell["probability"] == pytest.approx(expected.unbiased[1])
    assert cell["standard_error"] == pytest.approx(expected.standard_errors[1])
    assert cell["low"] == pytest.approx(expected.interval().low[1])


def test_other_columns_are_refused_unless_they_are_dropped(study):
    folder, _, _ = study
    assert "'id'" in refused(*asked(folder, "--weights", "w", "--strata", "s", "--clusters", "c"))
    assert tacit(*asked(folder, "--drop-others", "--json")).json["n_reports"] == N


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--weights", "wait", "--drop-others"), "Column 'wait' does not exist"),
        (("--weights", "s", "--drop-others"), "weights must be above 0"),
        (("--clusters", "nobody", "--drop-others"), "Column 'nobody' does not exist"),
        (("--strata", "id", "--drop-others"), "has only one cluster"),
        (("--weights", "w", "--drop-others", "--method", "likelihood"), "method 'inversion'"),
        (("--weights", "w", "--join", "id"), "belong to one"),
        (("--sampled", "2", "--drop-others"), "a chance lies between 0 and 1"),
    ],
)
def test_what_does_not_fit_is_refused(study, options, message):
    folder, _, _ = study
    assert message in refused(*asked(folder, *options))
