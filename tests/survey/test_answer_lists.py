"""Questions with thousands of answers: read from a file, frozen by their hash, disguised by a law that is never written out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tacit.channel.document import canonical, document_hash
from tacit.errors import InvalidInput
from tacit.randomness import ONE, SeededRandomness
from tacit.survey import answer_lists
from tacit.survey.answer_lists import put_together
from tacit.survey.app import SurveyServer
from tacit.survey.dashboard import dashboard, results_document
from tacit.survey.definition import Definition
from tacit.survey.exports import export_folder
from tacit.survey.headers import ServerSettings
from tacit.survey.inspection import inspect_page
from tacit.survey.promise import promise
from tacit.survey.store.surveys import Store
from tacit.survey.verification import examine
from tests.survey.page import node
from tests.survey.test_dashboard import fill

N = 2000
TEXT = """
name: places
title: Places
introduction: Where people were born.
contact: A university.
pages:
- questions:
  - {name: region, kind: choice, answers: [north, south], text: "Region?", sensitive: false}
  - {name: place, kind: choice, answers: {file: codes.csv}, text: "Where were you born?", sensitive: true WHEN}
GROUPS
"""
GROUP = "groups:\n- {questions: [place], channel: {kind: KIND, gamma: 4}}"
KINDS = ["hadamard", "local-hashing"]
Document = dict[str, Any]


def codes(n: int = N) -> str:
    return "name,label\n" + "".join(f"{10_000 + i},{10_000 + i} Place {i * 7919 % n}\n" for i in range(n))


def opened(folder: Path, text: str, answers: str | None = None) -> Definition:
    (folder / "codes.csv").write_text(codes() if answers is None else answers, encoding="utf-8")
    (folder / "survey.yaml").write_text(text, encoding="utf-8")
    return Definition.read(folder / "survey.yaml")


def written(kind: str, when: str = "") -> str:
    return TEXT.replace("GROUPS", GROUP.replace("KIND", kind)).replace(" WHEN", when)


@pytest.fixture(scope="module", params=KINDS)
def survey(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Definition:
    return opened(tmp_path_factory.mktemp("lists"), written(request.param))


def on_the_page(*documents: Document) -> list[Document]:
    return list(node("examine", script="page_checks.mjs", documents=list(documents)))


def test_the_page_holds_the_hash_of_a_list_and_not_the_list(survey: Definition) -> None:
    assert len(canonical(survey.bare)) < 5_000 < len(survey.to_json())
    assert "10042" not in canonical(survey.bare)
    (mark,) = survey.lists
    assert hashlib.sha256(survey.lists[mark].encode()).hexdigest() == mark
    assert survey.bare["pages"][0]["questions"][1]["answers"] == {"list": mark, "count": N}
    assert survey.hash == document_hash(survey.bare)
    assert put_together(survey.bare, survey.lists) == survey.document


def test_a_stored_definition_is_the_same_again_and_a_changed_list_is_refused(survey: Definition) -> None:
    again = Definition.from_json(survey.to_json())
    assert again.document == survey.document
    assert again.issued_by({"key": "x"}).hash == survey.issued_by({"key": "x"}).hash != survey.hash
    with pytest.raises(InvalidInput, match="was changed after the definition was made"):
        Definition.from_json(survey.to_json().replace('"10042 Place', '"10042 Palace'))


def test_one_other_text_makes_another_definition(tmp_path: Path) -> None:
    one, other = (
        opened(tmp_path, written("hadamard"), codes().replace("10042 ", text)) for text in ("10042 ", "1 0042 ")
    )
    assert one.hash != other.hash


def test_page_and_python_work_out_the_same_promise(tmp_path: Path, survey: Definition) -> None:
    routed = [opened(tmp_path, written(kind, ", when: {region: north}")) for kind in KINDS]
    definitions = [survey, *routed]
    for definition, page in zip(definitions, on_the_page(*(one.bare for one in definitions)), strict=True):
        assert page["reasons"] == []
        ((block,),) = page["deals"]
        label = definition.document["label"]
        assert block["gamma"] == pytest.approx(label["gamma"], rel=1e-9)
        assert block["worst"] == pytest.approx(label["answers"], rel=1e-9)
        assert label["gamma"] == pytest.approx(4, rel=1e-6)
        assert label["gamma"] <= 4
        # Nobody becomes surer than the amplification allows of one among so many.
        assert 1 / N < label["answers"]["place"] <= 4 / (4 + N - 1)
        assert definition.whole.gamma == pytest.approx(label["gamma"])
        (told,) = definition.whole.answers()
        assert told.even.worst_posterior == pytest.approx(label["answers"]["place"], rel=1e-9)


def test_a_privacy_level_alone_chooses_a_channel_for_many_answers(tmp_path: Path) -> None:
    text = TEXT.replace("GROUPS", "privacy: strong").replace(" WHEN", "")
    (group,) = opened(tmp_path, text).scheme.groups
    assert group.channel.kind == "hadamard"  # 9,220 respondents for a margin of .05; local hashing takes 9,860
    assert group.channel.amplification <= 7 / 3


# What claims to be such a disguise and is none: a right hash, no label that could be held against it.


def changed(survey: Definition, change: Callable[[Document], None]) -> tuple[Document, Document]:
    """What the page sees and what `verify` sees of a definition that its owner altered after the checks."""
    bare = json.loads(canonical(survey.bare))
    del bare["label"]
    change(bare)
    bare["hash"] = document_hash(bare)
    return bare, put_together(bare, survey.lists)


def coin(share: float) -> int:
    return round(share * ONE)


def half(bound: int, parity: int) -> Document:
    return {"half": [bound, parity]}


def hashed(then: Document) -> Document:
    return {"hash": {"width": 12, "buckets": 4}, "then": then}


def by_truth(rows: list[list[float]]) -> Document:
    return {"weigh": [[*map(coin, row[:-1]), ONE - sum(map(coin, row[:-1]))] for row in rows], "into": [4]}


UNEVEN = by_truth([[0.97, 0.01, 0.01, 0.01], *([[0.25] * 4] * 3)])
CHEATS = {
    "both halves are the truth's": ({"toss": coin(0.8), "heads": half(2048, 0), "tails": half(2048, 0)}, "unbounded"),
    "the coin is nearly always heads": (
        {"toss": coin(0.99), "heads": half(2048, 0), "tails": half(2048, 1)},
        "amplified",
    ),
    "the other half, nearly always": (
        {"toss": coin(0.01), "heads": half(2048, 0), "tails": half(2048, 1)},
        "amplified",
    ),
    "a coin within a coin": (
        {
            "toss": ONE // 2,
            "heads": half(2048, 0),
            "tails": {"toss": coin(0.97), "heads": half(2048, 0), "tails": half(2048, 1)},
        },
        "amplified",
    ),
    "the bucket as it is": (hashed({"same": 1}), "unbounded"),
    "the bucket, nearly always": (
        hashed({"toss": coin(0.96), "heads": {"same": 1}, "tails": {"even": "other"}}),
        "amplified",
    ),
    "one bucket is told": (hashed(UNEVEN), "amplified"),
    "too few numbers": ({"toss": coin(0.8), "heads": half(1024, 0), "tails": half(1024, 1)}, "program"),
    "a hash that tells pairs": ({"hash": {"width": 4, "buckets": 4}, "then": {"even": "any"}}, "program"),
    "the truth behind the other half": ({"toss": coin(0.8), "heads": half(2048, 0), "tails": {"same": 1}}, "program"),
}


def with_program(program: Document) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["programs"][0][0] = program

    return change


def test_a_program_that_cheats_is_refused_by_page_and_verify(tmp_path: Path, survey: Definition) -> None:
    routed = opened(tmp_path, written("hadamard", ", when: {region: north}"))
    asked = [(definition, name) for definition in (survey, routed) for name in CHEATS]
    made = [changed(definition, with_program(CHEATS[name][0])) for definition, name in asked]
    pages = on_the_page(*(bare for bare, _ in made))
    for (_, name), (_, whole), page in zip(asked, made, pages, strict=True):
        refused = {one.reason for one in examine(whole).objections}
        assert CHEATS[name][1] in refused, name
        assert {one for one, _ in page["reasons"]} == refused, name


def depend_on_it(document: Document) -> None:
    region = document["pages"][0]["questions"][0]
    later = {
        **region,
        "name": "later",
        "text": {"en": "Later?"},
        "attributes": [{"attribute": "later", "option": None}],
    }
    later["when"] = [{"question": "place", "answers": ["10001"]}]
    document["pages"][0]["questions"].append(later)
    document["scheme"]["attributes"].append({"name": "later", "answers": ["north", "south", "not asked"]})


def other_count(document: Document) -> None:
    document["scheme"]["attributes"][1]["answers"]["count"] -= 1


def no_way_to_decline(document: Document) -> None:
    document["scheme"]["attributes"][1]["answers"]["more"] = []


def test_lists_that_do_not_fit_their_attribute_are_refused(survey: Definition) -> None:
    bare, whole = changed(survey, depend_on_it)
    assert "routing" in {one.reason for one in examine(whole).objections}
    others = [json.loads(canonical(survey.bare)) for _ in range(2)]
    other_count(others[0])
    no_way_to_decline(others[1])
    for wanted, page in zip(("routing", "answers_differ", "answers_differ"), on_the_page(bare, *others), strict=True):
        assert wanted in {one for one, _ in page["reasons"]}
    with pytest.raises(InvalidInput, match="has 2,000"):
        changed(survey, other_count)
    _, whole = changed(survey, no_way_to_decline)
    assert "answers_differ" in {one.reason for one in examine(whole).objections}


def test_the_page_takes_no_list_but_the_one_named() -> None:
    good = {"names": ["a", "b"], "texts": {"en": ["A", "B"], "de": ["Ä", "B"]}}
    bad: list[Document] = [
        {**good, "names": ["a", "a"]},
        {**good, "names": ["a"]},
        {**good, "texts": {"en": ["A", "A"], "de": ["Ä", "B"]}},
        {**good, "texts": {"en": ["A", "B"]}},
        {**good, "texts": {"en": ["A", " "], "de": ["Ä", "B"]}},
        {},
    ]
    taken = node("take", script="page_lists.mjs", lists=[good, *bad], count=2, languages=["en", "de"])
    assert taken == [True] + [False] * len(bad)
    text = canonical(good)
    mark = hashlib.sha256(text.encode()).hexdigest()
    questions = [{"answers": {"list": mark, "count": 2}}]
    told = {"name": "b", "text": {"en": "B", "de": "B"}}
    assert node("fetched", script="page_lists.mjs", text=text, questions=questions, languages=["en"]) == [True, told]
    swapped = text.replace('["A","B"]', '["B","A"]')
    assert node("fetched", script="page_lists.mjs", text=swapped, questions=questions, languages=["en"]) == [
        False,
        None,
    ]


def test_codes_follow_the_list_and_what_can_be_said_instead() -> None:
    attribute = {"list": "mark", "count": 2, "more": ["prefer not to say"]}
    asked = ["a", "b", "prefer not to say", "c"]
    told = node("codes", script="page_lists.mjs", list="mark", names=["a", "b"], attribute=attribute, asked=asked)
    assert told == [3, [0, 1, 2, -1], ["a", "b", "prefer not to say", None]]


def test_a_search_forgives_case_and_accents_and_says_how_many_more() -> None:
    texts = ["8001 Zürich", "10115 Berlin", "1180 Wien", "75001 Paris", "11800 Berlín", "6020 Innsbruck Straße"]
    typed = ["zurich", "BERLIN", "115 ber", "1180", "strasse", "nowhere", ""]
    told = node("search", script="page_lists.mjs", texts=texts, typed=typed, most=2)
    assert [one["hits"] for one in told] == [[0], [1, 4], [1], [2, 4], [5], [], [0, 1]]
    assert [one["more"] for one in told] == [0, 0, 0, 0, 0, 0, 4]


def test_a_running_page_is_verified_with_its_lists_and_a_swapped_one_is_not(
    tmp_path: Path, survey: Definition, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = SurveyServer(tmp_path / "s.db", ServerSettings(rate=0))
    stored = server.store.add(survey, "source")
    client = TestClient(server, base_url="http://127.0.0.1")
    address = f"/s/{stored.fingerprint}"
    page = client.get(address)
    assert "10042" not in page.text
    (mark,) = stored.definition.lists
    answer = client.get(f"{address}/answers/{mark}")
    assert answer.text == stored.definition.lists[mark]
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "no-store"
    plain = client.get(f"{address}/answers/{mark}", headers={"accept-encoding": ""})
    assert plain.text == answer.text
    assert client.get(f"{address}/answers/{'0' * 64}").status_code == 404

    served = {f"http://127.0.0.1{address}": page.text, f"http://127.0.0.1{address}/answers/{mark}": answer.text}
    monkeypatch.setattr("tacit.survey.inspection._fetch_page", served.__getitem__)
    assert inspect_page(f"http://127.0.0.1{address}").problems == ()
    served[f"http://127.0.0.1{address}/answers/{mark}"] = answer.text.replace("10042 Place", "10042 Palace")
    with pytest.raises(InvalidInput, match="was changed after the definition was made"):
        inspect_page(f"http://127.0.0.1{address}")
    (tmp_path / "definition.json").write_text(stored.definition.to_json(), encoding="utf-8")
    assert inspect_page(str(tmp_path / "definition.json")).problems == ()
    (tmp_path / "page.html").write_text(page.text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="names a list of answers that is missing"):
        inspect_page(str(tmp_path / "page.html"))
    server.close()


def test_reports_of_many_answers_are_stored_estimated_and_exported(tmp_path: Path, survey: Definition) -> None:
    store = Store.open(tmp_path / "s.db")
    stored = store.add(survey, "source")
    (group,) = stored.definition.scheme.groups
    truth = np.random.default_rng(31)
    people = 3000
    born = np.where(truth.random(people) < 0.4, 77, truth.integers(0, N, people))
    (shown,) = group.channel.sample([born], SeededRandomness(32))
    regions = [("north", "south")[code] for code in truth.integers(0, 2, people)]
    if shown.ndim == 1:
        rows: list[Any] = list(zip(map(str, shown.tolist()), regions, strict=True))
    else:
        seeds = group.channel.hashing.seeds(shown)  # type: ignore[attr-defined]
        rows = list(zip(shown[:, 0].tolist(), seeds.tolist(), regions, strict=True))
    wire = stored.wire
    assert [wire.decode(wire.encode(row)) for row in rows[:50]] == rows[:50]
    fill(store, stored, rows)
    document = results_document(store, stored)
    table = document["questions"][1]
    # One answer stands out; the thousands that nobody can tell from none are counted, not listed.
    assert [cell["answer"] for cell in table["cells"]] == ["10077"]
    (cell,) = table["cells"]
    assert cell["low"] < 0.4 < cell["high"]
    assert table["unlisted"] == N
    assert len(json.dumps(document)) < 4000
    view = dashboard(store, stored, "place", "region")
    assert view.asked.by is None
    assert "too many to compare each" in view.fits[0].verdict
    assert view.models[0].text.startswith("Not mined")
    assert "cannot be told from none" in view.tables[1].note
    paths = {path.name: path for path in export_folder(store, stored, tmp_path / "out")}
    assert paths["codebook.csv"].stat().st_size < 1500
    assert paths["codebook.ddi.xml"].stat().st_size < 5000
    again = opened(tmp_path, written(group.channel.kind), paths["answers-place.csv"].read_text(encoding="utf-8"))
    assert again.document["pages"] == survey.document["pages"]
    from tacit import Reports, Scheme, estimate

    reports = Reports.read(paths["reports.parquet"], Scheme.read(paths["scheme.json"]))
    assert estimate(reports, ["place"]).probabilities[77] == pytest.approx(cell["probability"])
    store.close()


def test_what_is_promised_is_said_where_it_is_less_than_a_percent(survey: Definition) -> None:
    _, lines = promise(survey)
    sure = survey.document["label"]["answers"]["place"]
    assert f"at most {100 * sure:.2g}% sure" in lines[1].replace(" \n", " ")


REFUSED = {
    "there is no file of answers 'codes.csv'": (None, None),
    "'../codes.csv' lies outside the folder of this file": (codes(), ("codes.csv", "../codes.csv")),
    "'/dev/zero' lies outside the folder of this file": (codes(), ("codes.csv", "/dev/zero")),
    "there is no file of answers '.' beside this one": (codes(), ("codes.csv", ".")),
    "line 2: the answer 'a' stands here twice": ("name,label\na,A\na,B\n", None),
    "has a column 'labels'": ("name,labels\na,A\nb,B\n", None),
    "must begin with a line that names its columns": ("a,A\nb,B\n".replace("a,A", "label,label_en"), None),
    "this line has 3 cells, the first line 2": ("name,label\na,A, or B\nb,B\n", None),
    "a name or a label is empty": ("name,label\na,\nb,B\n", None),
    "begins as a formula does": ("name,label\n=a,A\nb,B\n", None),
    "cannot be read as CSV": ('name,label\n"a,A\nb,B\n', None),
    "a choice needs at least two answers": ("name,label\na,A\n", None),
    "is missing, or two are the same": ("name,label\na,A\nb,A\n", None),
    "shuffle goes with at most 500 answers": (codes(), ("sensitive: true", "shuffle: true, sensitive: true")),
    "known goes with at most 500 answers": (codes(), ("sensitive: true", "known: {'10000': 1}, sensitive: true")),
    "a prior can be stated for at most 500": (codes(), ("gamma: 4}", "gamma: 4}, prior: [1]")),
    "Disguise it with channel: {kind: local-hashing": (codes(), ("kind: hadamard", "kind: gamma-diagonal")),
    "Give a question with very many answers a group of its own": (codes(), ("[place]", "[place, other]")),
    "2,000 answers, too many to decide what is asked next": (codes(), ("AFTER", "when: {place: '10001'}")),
    "the page refuses more than 19": (codes(), ("gamma: 4", "gamma: 40")),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_asked_is_refused_in_one_sentence(tmp_path: Path, message: str) -> None:
    answers, change = REFUSED[message]
    text = written("hadamard")
    if change is not None:
        other = '  - {name: other, kind: yes-no, text: "Other?", sensitive: true, AFTER}\n'
        text = text.replace("groups:", f"{other}privacy: strong\ngroups:").replace(*change).replace(", AFTER", "")
    (tmp_path / "survey.yaml").write_text(text, encoding="utf-8")
    if answers is not None:
        (tmp_path / "codes.csv").write_text(answers, encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        Definition.read(tmp_path / "survey.yaml")
    assert message in str(refused.value)


def test_more_answers_than_a_page_can_offer_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_lists, "MOST_ANSWERS", 1999)
    with pytest.raises(InvalidInput, match="2,000 answers are more than a page can offer; at most 1,999 are allowed"):
        opened(tmp_path, written("hadamard"))
    monkeypatch.undo()
    monkeypatch.setattr("tacit.survey.definition.LARGEST_LIST", 1000)
    with pytest.raises(InvalidInput, match=r"a page takes at most 1,000\. Shorten its labels"):
        opened(tmp_path, written("hadamard"))


def test_each_language_has_a_column_and_label_stands_for_the_rest(tmp_path: Path) -> None:
    text = written("hadamard").replace("title: Places", "languages: [en, de]\ntitle: {en: P, de: O}")
    text = text.replace("introduction: Where people were born.", "introduction: {en: W, de: W}")
    text = text.replace("contact: A university.", "contact: {en: U, de: U}").replace('"Region?"', "{en: R, de: R}")
    text = text.replace("[north, south]", "{n: {en: n, de: n}, s: {en: s, de: s}}")
    text = text.replace('"Where were you born?"', "{en: Where, de: Wo}")
    rows = "".join(f"{i},Place {i},Ort {i}\n" for i in range(600))
    answers = opened(tmp_path, text, "name,label,label_de\n" + rows).questions[1]["answers"]
    assert answers[7] == {"name": "7", "text": {"en": "Place 7", "de": "Ort 7"}}


def test_of_a_public_question_with_many_answers_only_the_frequent_ones_are_shown(tmp_path: Path) -> None:
    text = TEXT.replace("sensitive: true WHEN", "sensitive: false").replace("GROUPS", "privacy: strong")
    text = text.replace(
        'answers: [north, south], text: "Region?", sensitive: false', "answers: [n, s], text: R, sensitive: true"
    )
    definition = opened(tmp_path, text)
    store = Store.open(tmp_path / "s.db")
    stored = store.add(definition, text)
    places = ["10007"] * 120 + ["10008"] * 60 + [f"{10_100 + person % 40}" for person in range(80)]
    fill(store, stored, [(("n", "s")[person % 2], place) for person, place in enumerate(places)])
    table = results_document(store, stored)["questions"][1]
    assert [(cell["answer"], round(cell["probability"] * len(places))) for cell in table["cells"]] == [
        ("10007", 120),
        ("10008", 60),
    ]
    # Nobody learns that two people come from a place, nor that nobody does.
    assert table["hidden"] == N - 2
    assert "unlisted" not in table
    store.close()
