"""Four public data sets, bundled, and the forms in which published studies used them.

>>> from tacit import bundled
>>> bundled.load_votes().n_rows
435
>>> bundled.census().schema.shape()
(4, 5, 5, 5, 2, 2)
"""

from tacit.bundled.binary import binary_adult, binary_breast_cancer, binary_votes
from tacit.bundled.general import load_adult, load_breast_cancer, load_nursery, load_votes
from tacit.bundled.health import health_table
from tacit.bundled.published import adult_attribute_priors, adult_fourteen, adult_nine, census
from tacit.bundled.raw import adult_nine_document, raw_adult, raw_breast_cancer, raw_nursery, raw_votes
from tacit.bundled.students import STUDENT_ITEMS, student_pairs, student_reports

__all__ = [
    "STUDENT_ITEMS",
    "adult_attribute_priors",
    "adult_fourteen",
    "adult_nine",
    "adult_nine_document",
    "binary_adult",
    "binary_breast_cancer",
    "binary_votes",
    "census",
    "health_table",
    "load_adult",
    "load_breast_cancer",
    "load_nursery",
    "load_votes",
    "raw_adult",
    "raw_breast_cancer",
    "raw_nursery",
    "raw_votes",
    "student_pairs",
    "student_reports",
]
