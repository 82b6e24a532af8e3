"""What the interviewer and the respondent do, step by step, in plain words: one page per device that can be printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from tacit.channel.device_laws import Chances
from tacit.channel.devices import DeviceDesign, Sample
from tacit.table.outputs import GENERATOR

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
# A pack of more cards than this is no longer shuffled well by hand.
MOST_CARDS = 60


@dataclass(frozen=True)
class DevicePage:
    """A device as it is used: both sides of the interview, and what each report tells."""

    title: str
    source: str
    law: str
    needs: tuple[str, ...]
    interviewer: tuple[str, ...]
    respondent: tuple[str, ...]
    meaning: tuple[str, ...]
    costs: tuple[str, ...] = ()

    @property
    def _sections(self) -> list[tuple[str, tuple[str, ...]]]:
        sections = [
            ("What is needed", self.needs),
            ("The interviewer", self.interviewer),
            ("The respondent", self.respondent),
            ("What a report tells", self.meaning),
            ("What it costs", self.costs),
        ]
        return [(heading, lines) for heading, lines in sections if lines]

    @property
    def _opening(self) -> list[str]:
        return [*([f"Source: {self.source}."] if self.source else []), f"Law: {self.law}."]

    def to_text(self) -> str:
        """The page as plain text that Markdown readers understand as well."""
        parts = [f"# {self.title}", *self._opening]
        for heading, lines in self._sections:
            parts.append(f"## {heading}")
            parts.append("\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1)))
        return "\n\n".join(parts) + "\n"

    def to_html(self) -> str:
        """The page as HTML to print: no script, nothing from elsewhere."""
        parts = [f"<h1>{escape(self.title)}</h1>", *(f"<p>{escape(line)}</p>" for line in self._opening)]
        for heading, lines in self._sections:
            items = "".join(f"<li>{escape(line)}</li>" for line in lines)
            parts.append(f"<h2>{escape(heading)}</h2><ol>{items}</ol>")
        style = "body{font:12pt/1.5 serif;max-width:42em;margin:2em auto;padding:0 1em}h2{break-after:avoid}"
        head = f'{GENERATOR}<meta charset="utf-8"><title>{escape(self.title)}</title><style>{style}</style>'
        return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def page(design: DeviceDesign, question: str = "Have you ever ...?", costs: Sequence[str] = ()) -> DevicePage:
    """The page of a device with these chances; `costs` are sentences on errors and respondents."""
    device = design.device
    needs: list[str] = []
    steps: list[str] = []
    for sample in design.samples:
        tool, instructions = _instructions(design, sample, question)
        where = "" if sample.name is None else f"Sample {sample.name}: "
        needs.append(where + tool)
        steps.extend(where + line for line in instructions)
    return DevicePage(
        device.title,
        device.source,
        device.law,
        tuple(needs),
        tuple(_interviewer(design)),
        tuple(steps),
        tuple(_meaning(design)),
        tuple(costs),
    )


def _interviewer(design: DeviceDesign) -> list[str]:
    lines = [
        _promise(design),
        "Let the respondent try the device once with a harmless question, and answer questions about it.",
        "Turn away. You never see the die, the card, the spinner or the birthday, and you do not ask about it.",
        f"Write down the report and nothing else: {' or '.join(map(repr, design.reports[:6]))}"
        + (" ..." if len(design.reports) > 6 else "")
        + ".",
    ]
    if len(design.samples) > 1:
        dealt = " or ".join(f"{sample.name}" for sample in design.samples)
        lines.insert(0, f"Assign every respondent by chance to sample {dealt}, and write the sample down.")
    return lines


def _promise(design: DeviceDesign) -> str:
    """What the interviewer may promise: no more than the law does."""
    proofs = {
        f"{report!r} can come only from those whose answer is {design.answers[int(chances.argmax())]!r}"
        for sample in design.samples
        for report, chances in zip(design.reports, design.honest_law(sample), strict=True)
        if chances.any() and not chances.all()
    }
    if not proofs:
        return "Explain that chance protects the respondent: nobody, you included, can know what a single report means."
    return f"Explain what chance protects and what it does not: {', and '.join(sorted(proofs))}."


def _instructions(design: DeviceDesign, sample: Sample, question: str) -> tuple[str, list[str]]:
    """What is needed, and what the respondent does with it."""
    chances, name = sample.chances, design.name
    if name in ("crosswise", "extended-crosswise", "triangular"):
        return _harmless_statement(design, chances["p"], question)
    if name in ("kuk", "disguised-response"):
        return _packs(design, sample, question)
    if name == "matrix":
        tool = "A spinner or a table of chances for each answer."
        return tool, ["Look up your true answer and draw the report from its column of chances.", _say(design)]
    tool, draw, outcomes = _randomizer(_outcomes(design, sample, question))
    before = [f"Think of your true answer to: {question}"] if name in ("mangat", "stochastic-lie-detector") else []
    if before:
        before.append("If it is yes: say yes, whatever the draw below. If it is no, go on.")
    return tool, [*before, f"{draw} Keep the outcome to yourself.", *outcomes, "Tell only the answer."]


def _outcomes(design: DeviceDesign, sample: Sample, question: str) -> list[tuple[Fraction, str]]:
    """Each thing the draw may ask for, with its chance."""
    c, name = sample.chances, design.name
    truthfully = f"answer truthfully: {question}"
    if name == "forced-response":
        forced = c.get("yes")
        if isinstance(forced, Fraction):
            return [(c["truth"], truthfully), (forced, "say yes"), (1 - c["truth"] - forced, "say no")]
        return [(c["truth"], truthfully), (1 - c["truth"], "say an answer drawn by a second draw")]
    if name == "unrelated-question":
        note = f" (its share of yes is known: {c['y']})" if isinstance(c.get("y"), Fraction) else ""
        return [(c["p"], truthfully), (1 - c["p"], f"answer the harmless question{note}: {_harmless_example(c)}")]
    if name == "cheating-detection":
        no = c.get("no", Fraction(0))
        return [(1 - c["p"] - no, truthfully), (c["p"], "say yes"), (no, "say no")]
    if name in ("mangat", "stochastic-lie-detector"):
        return [(c["p"], "say no"), (1 - c["p"], "say yes")]
    if len(design.answers) > 2:
        return [(c["p"], truthfully), (1 - c["p"], "say one of the other answers, each as likely")]
    return [
        (c["p"], truthfully),
        (1 - c["p"], f"answer the opposite of the question: is it untrue that ... ({question})"),
    ]


def _harmless_example(chances: Chances) -> str:
    y = chances.get("y")
    if isinstance(y, Fraction):
        return _statement(y).question
    return "any that has nothing to do with the sensitive one, such as a birthday"


def _randomizer(outcomes: Sequence[tuple[Fraction, str]]) -> tuple[str, str, list[str]]:
    """The simplest thing to draw with that has these chances, how it is drawn, and one line per outcome."""
    possible = [(chance, what) for chance, what in outcomes if chance > 0]
    whole = math.lcm(*(chance.denominator for chance, _ in possible))
    if 6 % whole == 0:
        return "A die.", "Roll the die.", _numbered_outcomes(possible, 6, "If it shows {}")
    if whole <= MOST_CARDS:
        tool = f"{whole} cards, numbered 1 to {whole}, well shuffled."
        return tool, "Draw one card, and put it back.", _numbered_outcomes(possible, whole, "If its number is {}")
    degrees = [f"a field of {float(chance) * 360:.1f} degrees" for chance, _ in possible]
    lines = [
        f"If it stops in {size} (chance {chance}): {what.rstrip('?')}{'?' if what.endswith('?') else '.'}"
        for size, (chance, what) in zip(degrees, possible, strict=True)
    ]
    return "A spinner.", "Turn the spinner.", lines


def _numbered_outcomes(outcomes: Sequence[tuple[Fraction, str]], numbers: int, phrase: str) -> list[str]:
    lines, start = [], 1
    for chance, what in outcomes:
        end = start + int(chance * numbers) - 1
        span = f"{start}" if end == start else f"{start} {'or' if end == start + 1 else 'to'} {end}"
        lines.append(f"{phrase.format(span)} (chance {chance}): {what.rstrip('?')}{'?' if what.endswith('?') else '.'}")
        start = end + 1
    return lines


@dataclass(frozen=True)
class _Harmless:
    """A statement true of a known share of people, the question that asks for it, and a note about it."""

    statement: str
    question: str
    note: str


def _statement(share: Fraction) -> _Harmless:
    if 12 % share.denominator == 0 and 0 < share < 1:
        count = int(share * 12)
        when = f"in {MONTHS[0]}" if count == 1 else f"in one of the months {MONTHS[0]} to {MONTHS[count - 1]}"
        note = f"Months differ in length and in births, so {share} is only near: use the true share of your country."
        return _Harmless(f"My mother's birthday is {when}", f"is your mother's birthday {when}?", note)
    if 10 % share.denominator == 0 and 0 < share < 1:
        count = int(share * 10)
        digits = "0" if count == 1 else f"0 to {count - 1}"
        number = "the last digit of a phone number I know by heart"
        note = "Last digits of phone numbers are as good as evenly spread."
        return _Harmless(f"{number.capitalize()} is {digits}", f"is {number.replace('I', 'you')} {digits}?", note)
    claim = f"one that is known to apply to {share} of all people"
    return _Harmless(f"({claim})", claim, "Its share must be known well.")


def _harmless_statement(design: DeviceDesign, p: Fraction, question: str) -> tuple[str, list[str]]:
    harmless = _statement(p)
    tool = f"A harmless statement that applies to {p} of all people: '{harmless.statement}.' {harmless.note}"
    asked = [f"Read both: A. {harmless.statement}. B. {question}", "Do not say which of them is true."]
    if design.name == "triangular":
        choice = "If neither is true of you, say 'neither'. If A, or B, or both are true, say 'at least one'."
    else:
        choice = "If both are true of you or both are not, say 'same'. If only one of them is true, say 'different'."
    return tool, [*asked, choice]


def _packs(design: DeviceDesign, sample: Sample, question: str) -> tuple[str, list[str]]:
    c = sample.chances
    red = {"yes": c["p1"], "no": c["p2"]} if design.name == "kuk" else {"yes": c["p"], "no": 1 - c["p"]}
    tool = f"Two packs of red and black cards: {red['no']} red in the left-hand pack, {red['yes']} red in the right-hand one."
    draws = c.get("k", 1)
    steps = [
        f"Think of your true answer to: {question}",
        "If it is no, use the left-hand pack, if it is yes, the right-hand one; nobody sees which.",
    ]
    if design.name == "disguised-response" or draws == 1:
        return tool, [*steps, "Draw a card and put it back.", _say(design)]
    return tool, [*steps, f"Draw a card, put it back and shuffle, {draws} times.", "Tell how many cards were red."]


def _say(design: DeviceDesign) -> str:
    return f"Tell only the report: {' or '.join(map(repr, design.reports[:6]))}."


def _meaning(design: DeviceDesign) -> list[str]:
    """Posterior after each report for a person about whom nothing was known before."""
    lines = []
    for sample in design.samples:
        law = design.honest_law(sample)
        where = "" if sample.name is None else f"Sample {sample.name}: "
        for report, chances in zip(design.reports, law, strict=True):
            if not chances.any():
                continue
            best = int(chances.argmax())
            sure = chances[best] / chances.sum()
            held = f"{design.answers[best]!r} with chance {sure:.3g}"
            lines.append(f"{where}{report!r} of somebody as likely to be either before means {held}.")
    gamma = design.amplification
    if math.isinf(gamma):
        lines.append(
            "One report is impossible under one of the answers: it proves the other one. Say so to those asked."
        )
    else:
        lines.append(f"No report is more than {gamma:.3g} times as likely under one answer as under another.")
    return lines
