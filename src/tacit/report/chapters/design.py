"""Which disguise has the least error for a wanted privacy, by the classic families and exactly."""

from __future__ import annotations

import numpy as np

from tacit.design import exact_front, optimal_front
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, Picture, Text, WrittenTable
from tacit.report.plots import draw_fronts

QUESTION = "marital-status"
DELTA = 0.8
PHONE = 3.7  # inches, the width of a phone: a wider picture is made smaller there, and its letters with it


def design(data: DemoData) -> Chapter:
    prior = data.true_shares([QUESTION])
    exact = exact_front(prior, records=10_000, delta=DELTA, points=8)
    warner = optimal_front(prior, records=10_000, delta=DELTA, method="warner")
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
                f"{QUESTION}, with no report allowed to make anyone more than {DELTA:.0%} sure, the black line is the least "
                "error that any channel can have, with a proof. Warner's classic channel lies above it: for the same privacy "
                "its error is larger."
            ),
            Picture(
                draw_fronts([exact, warner], width=PHONE),
                "Privacy, the chance that the best guess is wrong, against the mean squared error.",
            ),
            WrittenTable(
                ("best guess is wrong", "error of a share", "Warner's squared error", "different reports"), rows
            ),
            Text(
                'The best channels send reports such as "my answer is one of these three". They rule some answers out, so '
                "their promise holds only if the assumed distribution is right; the disguise used on this page makes a promise "
                "that needs no such assumption.",
                "note",
            ),
        ),
    )
