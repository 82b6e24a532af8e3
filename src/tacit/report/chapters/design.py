"""Which disguise has the least error for a wanted privacy, by the classic families and exactly."""

from __future__ import annotations

import numpy as np

from tacit.design import Front, exact_front
from tacit.design.problem import DesignProblem
from tacit.design.sweeps import family_front
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, Curves, Text, WrittenTable

QUESTION = "marital-status"
DELTA = 0.8
RECORDS = 10_000
CROPPED_AT = 30  # times the least error: close to the largest privacy every error grows without limit
POINTS = 30  # of a line


def design(data: DemoData) -> Chapter:
    prior = data.true_shares([QUESTION])
    exact = exact_front(prior, records=RECORDS, delta=DELTA, points=8)
    # Without the bounds of `optimal_front`: the exact front stands beside it.
    warner = family_front(DesignProblem.of(prior, RECORDS, delta=DELTA), "warner")
    least = min(point.privacy for point in warner.points)
    rows = []
    for point in exact.points[::2]:
        rival = min((p.mse for p in warner.points if p.privacy >= point.privacy - 1e-9), default=np.inf)
        times = f"{rival / point.mse:.1f} times" if np.isfinite(rival) else "no such channel"
        rows.append((f"{point.privacy:.0%}", f"{np.sqrt(point.mse):.2%}", times, len(point.reports)))
    return Chapter(
        "Design: the best disguise for a wanted privacy",
        (
            Text(
                "Before anyone is asked, one can choose the channel: the chances by which an answer becomes a report. For "
                f"{QUESTION}, asked of {RECORDS:,} people, with no report allowed to make anyone more than {DELTA:.0%} sure, the "
                "lower line is the least error that any channel can have, with a proof. Warner's classic channel lies above "
                f"it: for the same privacy its error is larger, and below {least:.0%} none of its channels keeps to the limit."
            ),
            Curves(
                _line(exact),
                _line(warner),
                ("best possible", "Warner"),
                ("best guess is wrong", "error of a share"),
                "Privacy, the chance that the best guess is wrong, against the standard error of an estimated share.",
            ),
            WrittenTable(
                ("best guess is wrong", "error of a share", "Warner's squared error", "different reports"), rows
            ),
            Text(
                "Warner's error is the least that it has at this privacy or more.",
                "note",
            ),
            Text(
                'The best channels send reports such as "my answer is one of these three". They rule some answers out, so '
                "their promise holds only if the assumed distribution is right; the disguise used on this page makes a promise "
                "that needs no such assumption.",
                "note",
            ),
        ),
    )


def _line(front: Front) -> list[tuple[float, float]]:
    """Privacy and standard error, of not too many points and without those far above the others."""
    points = sorted((point.privacy, float(np.sqrt(point.mse))) for point in front.points)
    least = min(error for _, error in points)
    return [(privacy, error) for privacy, error in points[:: len(points) // POINTS + 1] if error < CROPPED_AT * least]
