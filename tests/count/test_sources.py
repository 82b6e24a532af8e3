from __future__ import annotations

from pathlib import Path

import pytest

from tacit import Dataset, Reports
from tacit.count import StoredReports, sources
from tacit.errors import InvalidInput

REPORTS = Reports.from_truth(Dataset.from_arrow({"smokes": ["no", "yes", "no"]}))


def test_parts_of_one_table_are_added_wherever_they_are(tmp_path: Path) -> None:
    REPORTS.write(tmp_path / "reports.csv")
    stored = StoredReports.open(tmp_path / "reports.csv", REPORTS.scheme)
    (source,) = sources([REPORTS, stored])
    assert source.engine.tally(["smokes"]).tolist() == [4, 2]
    assert source.engine.n_rows == 6


def test_reports_of_different_schemes_stay_apart() -> None:
    other = Reports.from_truth(Dataset.from_arrow({"drinks": ["no", "yes", "no"]}))
    assert [source.engine.schema.names for source in sources([REPORTS, other, REPORTS])] == [("smokes",), ("drinks",)]


@pytest.mark.parametrize("given", [Dataset.from_arrow({"smokes": ["no", "yes"]}), "reports.csv", 3])
def test_what_is_no_report_is_refused(given: object) -> None:
    with pytest.raises(InvalidInput, match=r"tacit\.disguise\(data, scheme\)"):
        sources(given)  # type: ignore[arg-type]
