"""Counting: the two questions that are ever asked of stored reports, and who answers them.

>>> from tacit import Dataset, Reports
>>> from tacit.count import sources
>>> reports = Reports.from_truth(Dataset.from_arrow({"smokes": ["no", "yes", "no"]}))
>>> sources(reports)[0].engine.tally(["smokes"]).tolist()
[2, 1]
"""

from tacit.count.memory import MemoryEngine
from tacit.count.protocol import CountEngine, Product, Source, SparseTally, Totals, Weight
from tacit.count.sources import ReportSource, sources
from tacit.count.stored import StoredReports
from tacit.count.table import TableEngine
from tacit.count.tally import Tally

__all__ = [
    "CountEngine",
    "MemoryEngine",
    "Product",
    "ReportSource",
    "Source",
    "SparseTally",
    "StoredReports",
    "TableEngine",
    "Tally",
    "Totals",
    "Weight",
    "sources",
]
