"""The devices of the literature: what each is called, what it needs to know, and where it was described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """One device of the literature: its name, source, law and parameters, and what it estimates beside the shares."""

    name: str
    title: str
    source: str
    law: str  # the chance of a report, in words and symbols
    parameters: Mapping[str, str]  # name: meaning
    example: str
    optional: tuple[str, ...] = ()
    two_samples: bool = False
    many_answers: bool = False
    opens: tuple[str, ...] = ()  # what the device estimates beside the shares


DEVICES: dict[str, Device] = {
    device.name: device
    for device in (
        Device(
            "warner",
            "Warner's device",
            "Warner 1965",
            "yes with chance p π + (1-p)(1-π)",
            {"p": "the chance of being asked the sensitive question itself rather than its opposite"},
            "p=3/4",
            many_answers=True,
        ),
        Device(
            "unrelated-question",
            "Unrelated question",
            "Horvitz, Shah and Simmons 1967; Greenberg and others 1969",
            "yes with chance p π + (1-p) y",
            {
                "p": "the chance of being asked the sensitive question",
                "y": "the share that answers the harmless question with yes (left out: two samples, and y is estimated)",
            },
            "p=1/2,y=1/12",
            optional=("y",),
            many_answers=True,
            opens=("y",),
        ),
        Device(
            "forced-response",
            "Forced response",
            "Boruch 1971; Fox and Tracy 1986",
            "yes with chance t π + f",
            {"truth": "the chance of being told to answer truthfully", "yes": "the chance of being told to say yes"},
            "truth=2/3,yes=1/6",
            optional=("yes",),
            many_answers=True,
        ),
        Device(
            "crosswise",
            "Crosswise model",
            "Yu, Tian and Tang 2008",
            "'same' with chance p π + (1-p)(1-π)",
            {"p": "the share to whom the harmless statement applies"},
            "p=1/4",
        ),
        Device(
            "triangular",
            "Triangular model",
            "Yu, Tian and Tang 2008",
            "'at least one' with chance π + (1-π) p",
            {"p": "the share to whom the harmless statement applies"},
            "p=1/4",
        ),
        Device(
            "mangat",
            "Mangat's device",
            "Mangat 1994",
            "yes with chance π + (1-π)(1-p)",
            {"p": "the chance that somebody who does not carry the trait is told to say so"},
            "p=3/4",
        ),
        Device(
            "kuk",
            "Kuk's cards",
            "Kuk 1990",
            "number of red cards: Binomial(k, p1) for carriers, Binomial(k, p2) for all others",
            {
                "p1": "the share of red cards in the pack for those who carry the trait",
                "p2": "the share of red cards in the other pack",
                "k": "the number of draws (1 if not said)",
            },
            "p1=3/4,p2=1/4,k=2",
            optional=("k",),
        ),
        Device(
            "mirrored-question",
            "Mirrored question",
            "Warner 1965, under the name it has in Blair, Imai and Zhou 2015",
            "yes with chance p π + (1-p)(1-π)",
            {"p": "the chance of the question as it stands, not mirrored"},
            "p=3/4",
        ),
        Device(
            "disguised-response",
            "Disguised response",
            "Kuk 1990, under the name it has in Blair, Imai and Zhou 2015",
            "'red' with chance p π + (1-p)(1-π)",
            {"p": "the share of red cards in the right-hand pack, and of black ones in the left-hand pack"},
            "p=3/4",
        ),
        Device(
            "cheating-detection",
            "Cheating detection",
            "Clark and Desharnais 1998; symmetric: Ostapczuk, Moshagen, Zhao and Musch 2009",
            "yes with chance π (1-no) + β p; cheaters, 1-π-β, say no whatever is asked",
            {
                "p": "the chance of being told to say yes, different in the two samples",
                "no": "the chance of being told to say no, so that a no proves nothing either (left out: nobody is)",
            },
            "p=1:1/4,2:3/4",
            optional=("no",),
            two_samples=True,
            opens=("cheaters",),
        ),
        Device(
            "stochastic-lie-detector",
            "Stochastic lie detector",
            "Moshagen, Musch and Erdfelder 2012",
            "yes with chance π t + (1-π)(1-p); t is the honesty of carriers",
            {"p": "the chance that those who do not carry the trait are told to say so, different in the two samples"},
            "p=1:1/6,2:5/6",
            two_samples=True,
            opens=("t",),
        ),
        Device(
            "extended-crosswise",
            "Extended crosswise model",
            "Heck, Hoffmann and Moshagen 2018",
            "'same' with chance p π + (1-p)(1-π), p in one sample and 1-p in the other",
            {"p": "the share to whom the harmless statement applies: p in one sample, 1-p in the other"},
            "p=1:1/4,2:3/4",
            two_samples=True,
        ),
        Device(
            "matrix",
            "Any matrix",
            "",
            "rows[report][truth]: the chance of each report, given each truth",
            {"rows": "the chances, rows are reports, columns truths", "reports": "names of the reports"},
            "rows=.8,.3;.2,.7",
            optional=("reports",),
            many_answers=True,
        ),
    )
}
