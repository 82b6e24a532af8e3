"""K-anonymous releases: every row hidden among at least k, as little detail lost as possible.

>>> from tacit.publish import Effort, anonymize, check_release
>>> people = {"age": ["31", "32", "61", "62"], "town": ["Ulm", "Ulm", "Rom", "Rom"]}
>>> release = anonymize(people, k=2, effort=Effort(seed=1))
>>> check_release(release, ["age", "town"]).k
2
"""

from tacit.extras import require

require("publish")

from tacit.publish.anonymization import anonymize, remake  # noqa: E402 - the extra is asked for first
from tacit.publish.check import ReleaseCheck, check_release  # noqa: E402
from tacit.publish.methods import Alternative  # noqa: E402
from tacit.publish.release import Release  # noqa: E402
from tacit.publish.settings import Effort, Preferences, Protection  # noqa: E402
from tacit.publish.synthesis import SyntheticRelease, synthesize  # noqa: E402

__all__ = [
    "Alternative",
    "Effort",
    "Preferences",
    "Protection",
    "Release",
    "ReleaseCheck",
    "SyntheticRelease",
    "anonymize",
    "check_release",
    "remake",
    "synthesize",
]
