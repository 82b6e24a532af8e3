"""What can be asked: what each kind becomes, and what is refused with its line because it would tell or identify."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from tacit.errors import InvalidInput
from tacit.reports import Reports
from tacit.survey.answer_tables import AnswerTables
from tacit.survey.app import SurveyServer
from tacit.survey.comparing import control_items
from tacit.survey.definition import Definition
from tacit.survey.exports import _harmless, export_folder
from tacit.survey.promise import promise
from tacit.survey.quotas import full_quotas, quota_counts
from tacit.survey.store.backup import back_up, contents, restore
from tacit.survey.store.submissions import TEXTS_AT_ONCE
from tacit.survey.store.surveys import Store
from tacit.survey.verification import examine
from tacit.survey.withdrawing import receipt_hash, texts_hash
from tests.browser.asked import ASKED
from tests.survey.page import node


@pytest.fixture(scope="module")
def definition() -> Definition:
    return Definition.from_yaml(ASKED)


def question(definition: Definition, name: str) -> dict[str, Any]:
    return next(one for one in definition.questions if one["name"] == name)


def test_a_grid_becomes_alike_scales(definition: Definition) -> None:
    schema = definition.scheme.schema
    assert [schema[f"stress_{item}"].answers for item in ("work", "home")] == [("1", "2", "3")] * 2
    assert schema["stress_work"].ordered
    assert definition.label("stress_work") == "How hard is it for you {region}? At work"


def test_days_and_typed_numbers_become_ranges(definition: Definition) -> None:
    schema = definition.scheme.schema
    assert schema["born"].answers == ("before 1980-01-01", "1980-01-01 to 1999-12-31", "2000-01-01 or later")
    assert question(definition, "born")["edges"] == ["1980-01-01", "2000-01-01"]
    assert question(definition, "spent")["edges"] == [100, 1000]


def test_an_open_text_is_in_no_report(definition: Definition) -> None:
    assert question(definition, "remarks")["attributes"] == []
    assert "remarks" not in definition.scheme.schema.names


def test_an_option_routes_and_is_disguised_with_what_it_leads_to(definition: Definition) -> None:
    (block,) = [group for group in definition.scheme.groups if "often" in group.names]
    assert set(block.names) == {"takes_pills", "takes_powder", "takes_drops", "often"}
    assert block.records is not None
    # Seven ways to take something, each with two answers, and one way to take nothing.
    assert len(block.records) == 7 * 2 + 1


def test_a_control_item_states_its_known_shares(definition: Definition) -> None:
    assert question(definition, "birthday")["known"] == [0.75, 0.25]


def test_a_control_item_is_held_against_what_is_known() -> None:
    text = (
        "{name: a, title: A, introduction: A, contact: A, privacy: strong, pages: [{questions: [{name: b, kind: yes-no, "
        "text: B, sensitive: true, prefer_not_to_say: false, known: {'yes': 0.25}}]}]}"
    )
    control = Definition.from_yaml(text)
    # 4,000 reports as they come from people of whom a quarter are true: 40% show yes. Under 52% something is amiss.
    for shown, is_noticed in ((1600, False), (2080, True)):
        told = Reports.from_arrow({"b": ["yes"] * shown + ["no"] * (4000 - shown)}, control.scheme)
        compared = {one.answer: one for one in control_items(told, control)}
        assert compared["yes"].other == 0.25
        assert compared["yes"].disguised == pytest.approx((shown / 4000 - 0.3) / 0.4)
        assert (compared["yes"].p < 1e-6) == is_noticed


def test_whoever_does_not_want_to_say_makes_no_control_item_differ() -> None:
    control = Definition.from_yaml(
        "{name: a, title: A, introduction: A, contact: A, privacy: strong, pages: [{questions: [{name: b, kind: yes-no, "
        "text: B, sensitive: true, known: {'yes': 0.25}}]}]}"
    )
    (group,) = control.scheme.groups
    (answers,) = (attribute.answers for attribute in group.attributes)
    # Of 100 people 60 say no, 20 yes and 20 nothing: a quarter of the answers are yes.
    expected = np.round(100_000 * group.channel.apply(np.array([0.6, 0.2, 0.2]))).astype(int)
    told = Reports.from_arrow({"b": np.repeat(answers, expected).tolist()}, control.scheme)
    for one, share in zip(control_items(told, control), (0.75, 0.25), strict=True):
        assert one.disguised == pytest.approx(share, abs=1e-4)
        assert one.p > 0.9
        assert 0 < one.standard_error < 0.02


def test_a_definition_without_anything_new_has_no_new_keys() -> None:
    plain = Definition.from_yaml(
        "{name: a, title: A, introduction: A, contact: A, privacy: strong, pages: [{questions: [{name: b, kind: yes-no, "
        "text: B, sensitive: true}]}]}"
    )
    assert {"words", "quotas", "screen_out"} & set(plain.document) == set()
    assert {"edges", "grid", "shuffle", "known", "correct", "longest"} & set(plain.questions[0]) == set()


REFUSED = {
    "the open text 'remarks' is called sensitive, but nothing can disguise": (
        "{name: remarks, kind: text, text: What should we know?, sensitive: false,",
        "{name: remarks, kind: text, text: What should we know?, sensitive: true,",
    ),
    "the quota depends on the answer to 'birthday', which is sensitive, and would send that answer undisguised. Name public "
    "questions only: region": (
        "{when: {region: south}, most: 1}", "{when: {birthday: yes}, most: 1}",
    ),
    "the screen-out depends on the answer to 'often', which is sensitive": ("{region: abroad}", "{often: daily}"),
    "most must be a whole number of reports, at least 1, not 0.5": ("most: 1", "most: 0.5"),
    "the text repeats {spent}, which": ("How hard is it for you {region}?", "How hard is it for you {nobody}?"),
    "the text depends on the answer to 'birthday', which is sensitive": (
        "How hard is it for you {region}?", "How hard is it for you {birthday}?",
    ),
    "shuffle goes with answers that have no order of their own": ("typed: true,", "typed: true, shuffle: true,"),
    "known has a share for 'maybe', which is no answer": ('known: {"yes": 0.25}', "known: {maybe: 0.25}"),
    "known states the true share of each answer": ('known: {"yes": 0.25}', 'known: {"yes": 1.25}'),
    "a comprehension check is a public question with both `correct` and `explain`": ('        correct: "yes"\n', ""),
    "correct must be one of the answers: no, yes; not 'perhaps'": ('correct: "yes"', "correct: perhaps"),
    "when: 'takes' has no answer 'pill'. Its answers: pills, powder, drops": ("[pills, drops]", "[pill, drops]"),
    "when: 'remark' must be an earlier question that has answers": ("{takes: powder}]", "{remark: powder}]"),
    "when needs an earlier question and an answer": ("when: [{takes: [pills, drops]}, {takes: powder}]", "when: []"),
    "ranges must be a list of ascending days": ("[1980-01-01, 2000-01-01]", "[2000-01-01, 1980-01-01]"),
    "An edge must be a day such as 2030-12-31, not 'soon'": ("[1980-01-01, 2000-01-01]", "[soon]"),
    "needs the key 'items'": ("        items: {work: At work, home: At home}\n", ""),
    "the key 'typed' belongs to questions of kind 'number' or 'date'": (
        "options: {pills: Pills, powder: Powder, drops: Drops}",
        "options: {pills: Pills, powder: Powder, drops: Drops}\n        typed: true",
    ),
    "longest must be a whole number of characters up to 3,000": ("longest: 200", "longest: 5000"),
    "the question 'stress_work' stands also in line": ("name: remarks, kind: text", "name: stress_work, kind: text"),
}  # fmt: skip


def test_a_condition_of_the_first_question_is_refused_in_a_whole_sentence() -> None:
    first = "      - name: region\n"
    with pytest.raises(InvalidInput, match=r"when: 'later' must be an earlier question .* Before this one: none\.$"):
        Definition.from_yaml(ASKED.replace(first, first + "        when: {later: south}\n", 1), "survey.yaml")


@pytest.mark.parametrize("message", REFUSED)
def test_what_would_tell_or_identify_is_refused_with_its_line(message: str) -> None:
    before, after = REFUSED[message]
    assert before in ASKED
    expected = message.replace("{spent}", "{nobody}")
    with pytest.raises(InvalidInput, match=re.escape(expected)) as refusal:
        Definition.from_yaml(ASKED.replace(before, after), "survey.yaml")
    assert re.match(r"survey\.yaml, line \d+: ", str(refusal.value))


def test_a_question_that_can_never_be_asked_is_refused_with_its_line() -> None:
    follow = (
        "{name: whom, kind: yes-no, text: Whom?, sensitive: true, when: {birthday: 'yes', often: daily, takes: pills}}"
    )
    never = "{name: never, kind: yes-no, text: Never?, sensitive: true, when: {birthday: 'no', whom: 'yes'}}"
    text = ASKED.replace("  - questions:\n", f"  - questions:\n      - {follow}\n      - {never}\n")
    with pytest.raises(
        InvalidInput, match=r"line \d+: 'never' can never be asked: the conditions of its `when` exclude"
    ):
        Definition.from_yaml(text)


def told(document: dict[str, Any]) -> dict[str, Any]:
    document["quotas"][0]["when"] = [{"question": "birthday", "answers": ["yes"]}]
    return document


def repeated(document: dict[str, Any]) -> dict[str, Any]:
    document["pages"][2]["questions"][2]["text"]["en"] = "You said {birthday}."
    return document


def called_sensitive(document: dict[str, Any]) -> dict[str, Any]:
    document["pages"][2]["questions"][2] |= {"mode": "disguised", "sensitive": True}
    return document


def other_ranges(document: dict[str, Any]) -> dict[str, Any]:
    document["pages"][0]["questions"][1]["edges"] = ["2000-01-01", "1980-01-01"]
    return document


def unknown_option(document: dict[str, Any]) -> dict[str, Any]:
    document["pages"][1]["questions"][3]["when"][0]["any"][0][0]["option"] = "potions"
    return document


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (told, "telling"), (repeated, "telling"), (called_sensitive, "open"), (other_ranges, "answers_differ"),
        (unknown_option, "routing"),
    ],
)  # fmt: skip
def test_page_and_python_refuse_alike_what_was_slipped_into_a_definition(change: Any, reason: str) -> None:
    document = change(Definition.from_yaml(ASKED).document)
    document.pop("label")
    (page,) = node("examine", script="page_checks.mjs", documents=[document])
    assert reason in [one for one, _ in page["reasons"]]
    assert reason in [one.reason for one in examine(document).objections]


def test_page_and_python_accept_with_the_same_figures(definition: Definition) -> None:
    (page,) = node("examine", script="page_checks.mjs", documents=[definition.document])
    assert page["reasons"] == []
    worst = {name: one for block in page["deals"][0] for name, one in block["worst"].items()}
    assert worst == pytest.approx(definition.document["label"]["answers"])


RECEIPT = "0123456789abcdef0123"


def submission(definition: Definition, **texts: str) -> dict[str, Any]:
    from tacit.survey.wire import Wire

    return {
        "report": "".join(next(iter(column.table)) * (column.members or 1) for column in Wire.of(definition).columns),
        "receipt": receipt_hash(RECEIPT),
        **({"texts": {"key": texts_hash(RECEIPT), "answers": texts}} if texts else {}),
    }


def test_open_texts_lie_apart_and_are_withdrawn_with_their_report(
    server: SurveyServer, definition: Definition, tmp_path: Path
) -> None:
    survey = server.store.add(definition, ASKED)
    client = TestClient(server, base_url="http://survey.test")
    base = f"/s/{survey.fingerprint}"
    body = submission(survey.definition, remarks='=HYPERLINK("x")')
    # A subset's digits ascend; the first ones are the same, so the report is made by hand from the wire's own encoder.
    body["report"] = survey.wire.encode(
        [
            "[" + ", ".join(f'"{one}"' for one in list(column.table.values())[: column.members]) + "]"
            if column.members
            else next(iter(column.table.values()))
            for column in survey.wire.columns
        ]
    )
    assert client.put(f"{base}/reports/{'a' * 64}", json=body).status_code == 201
    assert client.put(f"{base}/reports/{'a' * 64}", json=body).status_code == 200
    assert server.store.texts(survey) == []  # until nine more have come
    for number in range(TEXTS_AT_ONCE - 1):
        other = {"key": f"{number:064}", "answers": {"remarks": '=HYPERLINK("x")'}}
        assert client.put(f"{base}/reports/{number:064}", json=body | {"texts": other}).status_code == 201
    written = [("remarks", '=HYPERLINK("x")')] * TEXTS_AT_ONCE
    assert server.store.texts(survey) == written
    # No column of the two tables has a value in common: nothing that is kept joins a text with its report.
    rows = dict(contents(server.store))
    joined = [value for row in rows[survey.table("reports")] + rows["tacit_receipts"] for value in row]
    keys = [row[0] for row in rows["tacit_texts"]]
    assert not set(keys) & set(joined)
    export_folder(server.store, survey, tmp_path / "export")
    assert (tmp_path / "export/texts.csv").read_text().splitlines() == [
        "question,text",
        *['remarks,"\'=HYPERLINK(""x"")"'] * TEXTS_AT_ONCE,
    ]
    back_up(server.store, tmp_path / "backup.db")
    copy = Store.open(tmp_path / "copy.db")
    restore(tmp_path / "backup.db", copy)
    assert copy.texts(copy.surveys()[0]) == server.store.texts(survey)
    copy.close()
    assert client.post(f"{base}/withdrawals", json={"receipt": RECEIPT}).status_code == 200
    assert server.store.texts(survey) == written[1:]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("=1+1", "'=1+1"), (" \t@x", "' \t'@x"), ("＝1+1", "'＝1+1"), ("a;=1+1", "a;'=1+1"), ('a\n"=1', "a\n'\"=1"),
        ("one; two - three, = four", "one; two - three, = four"), ("a=b", "a=b"),
    ],
)  # fmt: skip
def test_no_cell_begins_a_formula_wherever_a_spreadsheet_splits_it(written: str, kept: str) -> None:
    assert _harmless(written) == kept


@pytest.mark.parametrize(
    "texts",
    [
        {"key": "00", "answers": {"remarks": "a"}}, {"key": "0" * 64, "answers": {"spent": "a"}}, {"answers": {}}, "a",
        {"key": "0" * 64, "answers": {"remarks": "a" * 201}}, {"key": "0" * 64, "answers": {"remarks": 1}},
        {"key": None, "answers": {"remarks": "a"}}, {"key": "0" * 64, "answers": {"remarks": "a\ud800"}},
        {"key": "0" * 64, "answers": {"remarks": "a\0"}},
    ],
)  # fmt: skip
def test_texts_that_no_page_sends_are_refused(server: SurveyServer, definition: Definition, texts: Any) -> None:
    survey = server.store.add(definition, ASKED)
    client = TestClient(server, base_url="http://survey.test")
    body = submission(survey.definition) | {"texts": texts}
    sent = {"content": json.dumps(body), "headers": {"content-type": "application/json"}}
    answer = client.put(f"/s/{survey.fingerprint}/tests/{'a' * 64}", **sent)
    assert answer.status_code == 400
    assert server.store.texts(survey) == []


def test_a_quota_is_full_when_as_many_have_come_as_were_wanted(server: SurveyServer, definition: Definition) -> None:
    survey = server.store.add(definition, ASKED)
    assert full_quotas(server.store, survey) == []
    place = survey.wire.names.index("region")
    row = ["x"] * len(survey.wire.names)
    for key, region in (("a", "north"), ("b", "south")):
        row[place] = region
        names = ", ".join(f'"{name}"' for name in ("report_key", *survey.wire.names))
        marks = ", ".join("?" * (len(row) + 1))
        table = survey.table("reports")
        server.store.database.run(f"INSERT INTO {table} ({names}) VALUES ({marks})", (key, *row))
        assert full_quotas(server.store, survey) == ([0] if region == "south" else [])


def test_quotas_are_told_in_words_and_in_steps_of_ten(server: SurveyServer) -> None:
    text = ASKED.replace("{when: {region: south}, most: 1}", "{when: [{region: south}, {understood: 'no'}], most: 12}")
    definition = Definition.from_yaml(text)
    survey = server.store.add(definition, text)
    names = ", ".join(f'"{name}"' for name in ("report_key", *survey.wire.names))
    marks = ", ".join("?" * (len(survey.wire.names) + 1))
    told = []
    for n in range(13):
        row = ["south" if name == "region" else "no" if name == "understood" else "x" for name in survey.wire.names]
        server.store.database.run(f"INSERT INTO {survey.table('reports')} ({names}) VALUES ({marks})", (str(n), *row))
        told.append(*map(str, quota_counts(server.store, survey)))
    who = "Where do you live? In the south or If your answer is Yes, can No be sent? No"
    assert told[8] == f"{who}: fewer than 10 of 12 (open)"
    assert told[10] == f"{who}: at least 10 of 12 (open)"
    assert told[11] == f"{who}: at least 10 of 12 (full)"
    assert told[12] == f"{who}: at least 10 of 12 (full, and exceeded)"
    _, lines = promise(definition)
    assert any("Who is about to send when a quota fills up still counts" in line for line in lines)


def test_an_answer_that_ends_the_questions_hides_no_other() -> None:
    """Nobody's report says abroad: the empty row is no small group that the south must be hidden with."""
    text = (
        "{name: a, title: A, introduction: A, contact: A, privacy: strong, screen_out: [{when: {region: abroad}}], pages: "
        "[{questions: [{name: region, kind: choice, text: Where?, answers: [north, south, abroad], sensitive: false}, "
        "{name: b, kind: yes-no, text: B, sensitive: true, prefer_not_to_say: false}]}]}"
    )
    definition = Definition.from_yaml(text)
    columns = {"region": ["north"] * 35 + ["south"] * 25, "b": ["yes", "no", "no"] * 20}
    tables = AnswerTables(definition, Reports.from_arrow(columns, definition.scheme), 10)
    table = tables.question("region")
    assert [row.answer for row in table.rows] == ["north", "south"]
    assert table.hidden == 0
    crossed = tables.cross_tables("b", "region")
    assert {row.group for row in crossed.rows} == {"north", "south"}
    assert crossed.hidden == 0
