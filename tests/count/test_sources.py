from __future__ import annotations

from pathlib import Path

import pytest

from tacit import Dataset, Reports
from tacit.count import StoredReports, sources
from tacit.errors import InvalidInput

REPORTS = Reports.from_truth(Dataset.from_arrow({"smokes": ["no", "yes", "no"]}))


def test_reports_in_memory_and_stored_ones_stand_side_by_side(tmp_path: Path) -> None:
    REPORTS.write(tmp_path / "reports.csv")
    stored = StoredReports.open(tmp_path / "reports.csv", REPORTS.scheme)
    assert [source.engine.tally(["smokes"]).tolist() for source in sources([REPORTS, stored])] == [[2, 1], [2, 1]]


@pytest.mark.parametrize("given", [Dataset.from_arrow({"smokes": ["no", "yes"]}), "reports.csv", 3])
def test_what_is_no_report_is_refused(given: object) -> None:
    with pytest.raises(InvalidInput, match="Disguise a Dataset first"):
        sources(given)  # type: ignore[arg-type]
