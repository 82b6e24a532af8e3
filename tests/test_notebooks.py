"""The notebooks run from top to bottom, and are kept without outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_the_four_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["design", "mining", "publishing", "study"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in notebook.cells)


@pytest.mark.slow
@pytest.mark.xdist_group("notebooks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_results_show_themselves(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    shown = [(cell.source, set(output["data"])) for cell in notebook.cells for output in _results(cell)]
    assert any("text/html" in kinds for _, kinds in shown)
    drawn = [(source, kinds) for source, kinds in shown if ".plot(" in source or "draw_fronts(" in source]
    assert drawn or path.stem == "publishing"
    assert all("image/png" in kinds for _, kinds in drawn), drawn


def _results(cell: Any) -> list[Any]:
    return [output for output in cell.get("outputs", ()) if "data" in output]
