"""Questionnaires of other tools: what is carried over answers in the same way, and what is not is named."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import openpyxl.styles
import pytest
import yaml

from tacit.errors import InvalidInput
from tacit.survey.definition import Definition
from tacit.survey.imports import carried_over, questionnaire_text, xlsform

SURVEY = [
    [
        "type",
        "name",
        "label::English (en)",
        "label::Deutsch (de)",
        "hint::English (en)",
        "relevant",
        "constraint",
        "parameters",
        "required",
    ],
    ["start", "start", "", "", "", "", "", "", ""],
    ["begin group", "you", "About you", "Über Sie", "", "", "", "", ""],
    ["integer", "age", "How old are you?", "Wie alt sind Sie?", "In years", "", ". >= 18 and . <= 98", "", "yes"],
    ["select_one yes_no", "Smokes", "Do you smoke?", "Rauchen Sie?", "", "", "", "", ""],
    ["end group", "", "", "", "", "", "", "", ""],
    ["select_one brand", "brand", "Which brand?", "Welche Marke?", "", "${Smokes} = 'yes'", "", "", ""],
    [
        "select_multiple where",
        "where",
        "Where?",
        "Wo?",
        "",
        "selected(${Smokes}, 'yes') and ${brand} = 'a'",
        "",
        "",
        "",
    ],
    ["range", "mood", "How are you?", "Wie geht es Ihnen?", "", "", "", "start=1 end=5 step=1", ""],
    ["text", "comment", "Anything else?", "Noch etwas?", "", "", "", "", ""],
    ["select_one brand", "other_brand", "And before?", "Und früher?", "", "${age} > 30", "", "", ""],
    ["begin repeat", "child", "Child", "Kind", "", "", "", "", ""],
    ["integer", "child_age", "Age?", "Alter?", "", "", "", "", ""],
    ["end repeat", "", "", "", "", "", "", "", ""],
    ["geopoint", "place", "Where are you?", "Wo sind Sie?", "", "", "", "", ""],
]
CHOICES = [
    ["list_name", "name", "label::English (en)", "label::Deutsch (de)"],
    ["yes_no", "yes", "Yes", "Ja"],
    ["yes_no", "no", "No", "Nein"],
    ["brand", "a", "Brand A", "Marke A"],
    ["brand", "b", "Brand B", "Marke B"],
    ["where", "at home", "At home", "Zu Hause"],
    ["where", "at work", "At work", "Bei der Arbeit"],
]
SETTINGS = [["form_title", "form_id", "default_language"], ["Smoking", "smoking_1", "English (en)"]]


def workbook(path: Path, survey: list[list[str]] = SURVEY, choices: list[list[str]] = CHOICES) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in (("survey", survey), ("choices", choices), ("settings", SETTINGS)):
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


SURVEYJS: dict[str, Any] = {
    "title": {"default": "Work", "fr": "Travail"},
    "description": "We ask about work.",
    "pages": [
        {
            "name": "page1",
            "elements": [
                {
                    "type": "radiogroup",
                    "name": "sex",
                    "title": {"default": "You are", "fr": "Vous êtes"},
                    "choices": ["f", {"value": "m", "text": "male"}],
                },
                {"type": "boolean", "name": "stole", "title": "Did you ever steal?"},
                {
                    "type": "checkbox",
                    "name": "what",
                    "title": "What?",
                    "choices": ["paper", {"value": 2, "text": "Money"}],
                    "visibleIf": "{stole} = true",
                },
                {
                    "type": "rating",
                    "name": "content",
                    "title": "Are you content?",
                    "rateMax": 7,
                    "minRateDescription": "no",
                    "maxRateDescription": "yes",
                },
                {
                    "type": "panel",
                    "elements": [
                        {"type": "text", "name": "hours", "title": "Hours?", "inputType": "number", "min": 0, "max": 60}
                    ],
                },
                {
                    "type": "matrix",
                    "name": "agree",
                    "title": "Agree?",
                    "columns": ["no", "somewhat", "fully"],
                    "rows": ["pay", {"value": "team", "text": "Team"}],
                },
                {"type": "comment", "name": "more", "title": "More?"},
                {
                    "type": "dropdown",
                    "name": "town",
                    "choicesByUrl": {"url": "x"},
                    "choices": ["A", "B"],
                    "visibleIf": "{hours} > 10",
                },
            ],
        }
    ],
    "triggers": [{"type": "complete"}],
}


def surveyjs(path: Path, document: Any = SURVEYJS) -> Path:
    path.write_text(json.dumps(document))
    return path


def questions(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for page in document["pages"] for one in page["questions"]}


def test_a_workbook_becomes_a_questionnaire_that_can_be_opened(tmp_path: Path) -> None:
    document, left_out = carried_over(workbook(tmp_path / "form.xlsx"), public=["age"])
    asked = questions(document)
    assert list(asked) == ["age", "smokes", "brand", "where", "mood", "comment", "other_brand"]
    assert document["languages"] == ["en", "de"]
    assert document["title"] == {"en": "Smoking", "de": "Smoking"}
    assert document["pages"][0]["title"] == {"en": "About you", "de": "Über Sie"}
    assert asked["age"] == {
        "name": "age", "kind": "number", "text": {"en": "How old are you?", "de": "Wie alt sind Sie?"},
        "sensitive": False, "ranges": [38, 58, 78], "help": {"en": "In years", "de": "In years"},
    }  # fmt: skip
    assert asked["smokes"]["kind"] == "yes-no"
    assert asked["brand"]["answers"]["b"] == {"en": "Brand B", "de": "Marke B"}
    assert asked["brand"]["when"] == {"smokes": "yes"}
    assert asked["where"]["when"] == {"smokes": "yes", "brand": "a"}
    assert asked["where"]["options"]["at_home"] == {"en": "At home", "de": "Zu Hause"}
    assert asked["mood"]["scale"] == {"from": 1, "to": 5}
    said = "\n".join(left_out)
    for part in ("start", "'comment'", "repeat 'child'", "geopoint 'place'", "other_brand' (${age} > 30)", "'Smokes'"):
        assert part in said
    assert "integer 'child_age': it is repeated" in said
    Definition.from_yaml(questionnaire_text(document, "form.xlsx", left_out))


def test_a_surveyjs_document_becomes_a_questionnaire_that_can_be_opened(tmp_path: Path) -> None:
    document, left_out = carried_over(surveyjs(tmp_path / "work.json"), public=["sex"])
    asked = questions(document)
    assert list(asked) == ["sex", "stole", "what", "content", "hours", "agree_pay", "agree_team", "more", "town"]
    assert document["languages"] == ["en", "fr"]
    assert asked["sex"]["text"] == {"en": "You are", "fr": "Vous êtes"}
    assert asked["what"]["when"] == {"stole": "yes"}
    assert asked["what"]["options"]["o_2"] == {"en": "Money", "fr": "Money"}
    assert asked["content"]["scale"] == {
        "from": 1,
        "to": 7,
        "low": {"en": "no", "fr": "no"},
        "high": {"en": "yes", "fr": "yes"},
    }
    assert asked["agree_team"]["text"]["en"] == "Agree?: Team"
    said = "\n".join(left_out)
    for part in (
        "open text 'more'",
        "choicesByUrl of 'town'",
        "'town' ({hours} > 10)",
        "triggers",
        "exact number of 'hours'",
    ):
        assert part in said
    Definition.from_yaml(questionnaire_text(document, "work.json", left_out))


def test_the_file_says_at_its_top_what_was_left_out(tmp_path: Path) -> None:
    document, left_out = carried_over(surveyjs(tmp_path / "work.json"))
    text = questionnaire_text(document, "work.json", left_out)
    assert all(f"# - {line}" in text for line in left_out)
    assert yaml.safe_load(text)["pages"] == document["pages"]


def test_everything_is_disguised_unless_said(tmp_path: Path) -> None:
    path = workbook(tmp_path / "form.xlsx")
    document, _ = carried_over(path)
    assert [name for name, one in questions(document).items() if not one["sensitive"]] == ["comment"]
    document, _ = carried_over(path, sensitive=["smokes"])
    assert [name for name, one in questions(document).items() if one["sensitive"]] == ["smokes", "brand", "where"]


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [{"public": ["brand", "age"]}, {"sensitive": ["smokes"]}], ids=str)
def test_follow_ups_of_a_sensitive_question_inherit_it_with_their_conditions(tmp_path: Path, chosen: Any) -> None:
    document, left_out = carried_over(workbook(tmp_path / "form.xlsx"), **chosen)
    asked = questions(document)
    assert asked["brand"]["sensitive"]
    assert asked["brand"]["when"] == {"smokes": "yes"}
    assert asked["where"]["sensitive"]  # a follow-up of both
    assert not asked["age"]["sensitive"]
    assert any("'brand': it follows the sensitive question 'smokes'" in line for line in left_out)
    Definition.from_yaml(questionnaire_text(document, "form.xlsx", left_out))


def test_follow_ups_in_surveyjs_inherit_also_where_their_condition_is_not_carried_over(tmp_path: Path) -> None:
    document, _ = carried_over(surveyjs(tmp_path / "work.json"), sensitive=["stole", "hours"])
    asked = questions(document)
    assert asked["what"]["sensitive"]
    assert asked["what"]["when"] == {"stole": "yes"}
    assert asked["town"]["sensitive"]  # asked after {hours} > 10, which no list of answers can say
    assert not asked["sex"]["sensitive"]
    panel = {
        "type": "panel",
        "name": "p",
        "visibleIf": "{hours} > 10",
        "elements": [SURVEYJS["pages"][0]["elements"][0]],
    }
    hours = {"type": "text", "name": "hours", "inputType": "number", "min": 0, "max": 60}
    document, _ = carried_over(surveyjs(tmp_path / "panel.json", {"elements": [hours, panel]}), sensitive=["hours"])
    assert questions(document)["sex"]["sensitive"]


def test_a_workbook_is_refused_by_its_unpacked_size_before_it_is_read(tmp_path: Path) -> None:
    """A few kilobytes unpack to gigabytes: half a megabyte took 1.6 GB of memory."""
    path, blown = workbook(tmp_path / "form.xlsx"), tmp_path / "blown.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(blown, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            padding = b" " * xlsform.MOST_UNPACKED if member.filename.endswith("sheet1.xml") else b""
            new.writestr(member.filename, old.read(member) + padding)
    assert blown.stat().st_size < 100_000
    with pytest.raises(
        InvalidInput, match=r"'blown.xlsx' has 40,\d\d\d,\d\d\d bytes when it is unpacked; a form has at most"
    ):
        carried_over(blown)


def test_a_workbook_that_lies_about_its_unpacked_size_is_unpacked_no_further(tmp_path: Path) -> None:
    path = workbook(tmp_path / "form.xlsx")
    with zipfile.ZipFile(path) as packed:
        size = packed.getinfo("xl/worksheets/sheet1.xml").file_size
    path.write_bytes(path.read_bytes().replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little")))
    with pytest.raises(InvalidInput, match="cannot be read as an Excel workbook"):
        carried_over(path)


def test_more_rows_than_a_form_has_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsform, "MOST_ROWS", len(CHOICES) - 2)
    with pytest.raises(InvalidInput, match="The sheet 'survey' has more than 5 rows"):
        carried_over(workbook(tmp_path / "form.xlsx"))


def test_a_surveyjs_document_is_refused_by_its_size_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.survey.imports.surveyjs.MOST_BYTES", 1000)
    with pytest.raises(InvalidInput, match=r"'work.json' has [\d,]+ bytes; a form has at most 1,000"):
        carried_over(surveyjs(tmp_path / "work.json"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.xlsx", None, "There is no file"),
        ("form.docx", b"x", "neither an XLSForm workbook"),
        ("form.xlsx", b"no workbook", "cannot be read as an Excel workbook"),
        ("form.json", b"{", "is not JSON"),
        ("form.json", b"{}", "no SurveyJS document"),
        (
            "form.json",
            b'{"elements": [{"type": "comment", "name": "x"}]}',
            "Nothing in the file can be disguised: the disguise of the open text 'x'",
        ),
        (
            "form.json",
            b'{"elements": [{"type": "file", "name": "x"}]}',
            "No question of the file can be carried over: file 'x': files are not sent",
        ),
        ("form.qsf", b"{}", "Save it as one of them, or write it anew: tacit survey new"),
    ],
)
def test_what_is_no_questionnaire_is_refused(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        carried_over(tmp_path / name)


def test_unknown_languages_sheets_and_questions_are_refused(tmp_path: Path) -> None:
    survey = [["type", "name", "label::Klingon"], ["select_one yes_no", "a", "A?"]]
    with pytest.raises(InvalidInput, match=r"Klingon.*no tag"):
        carried_over(workbook(tmp_path / "a.xlsx", survey))
    with pytest.raises(InvalidInput, match="no question 'nobody'"):
        carried_over(workbook(tmp_path / "b.xlsx"), public=["nobody"])
    book = openpyxl.Workbook()
    book.save(tmp_path / "c.xlsx")
    with pytest.raises(InvalidInput, match="no sheet 'survey'"):
        carried_over(tmp_path / "c.xlsx")


def test_a_list_that_is_not_there_is_named(tmp_path: Path) -> None:
    survey = [*SURVEY, ["select_one nowhere", "lost", "Lost?", "", "", "", "", "", ""]]
    _, left_out = carried_over(workbook(tmp_path / "form.xlsx", survey))
    assert any("'lost'" in line and "'nowhere'" in line for line in left_out)


def form(*rows: list[str]) -> list[list[str]]:
    return [["type", "name", "label", "relevant", "constraint", "required"], *([*row, "", "", ""][:6] for row in rows)]


def test_no_answer_is_lost_without_a_word(tmp_path: Path) -> None:
    """Values that differ only in what short names leave out, values in other scripts, and one value twice."""
    elements = [
        {"type": "checkbox", "name": "w", "title": "W?", "choices": ["是", "否", "A", "a", "at home", "at-home"]},
        {"type": "radiogroup", "name": "c", "title": "C?", "choices": ["x", {"value": "x", "text": "again"}, "y"]},
        {"type": "radiogroup", "name": "d", "title": "D?", "choices": [{"value": True, "text": "Ja"}, False]},
        {"type": "boolean", "name": "e", "title": "E?", "visibleIf": "{d} = true and {w} contains '否'"},
    ]  # fmt: skip
    document, left_out = carried_over(surveyjs(tmp_path / "s.json", {"elements": elements}))
    asked = questions(document)
    assert asked["w"]["options"] == {
        "option": "是", "option_2": "否", "a": "A", "a_2": "a", "at_home": "at home", "at_home_2": "at-home",
    }  # fmt: skip
    assert asked["c"]["answers"] == {"x": "x", "y": "y"}
    assert any("the answer 'x' of 'c': it is listed twice" in line for line in left_out)
    assert asked["d"]["answers"] == {"true": "Ja", "false": "false"}
    assert asked["e"]["when"] == {"d": "true", "w": "option_2"}


def test_days_of_a_workbook_become_ranges(tmp_path: Path) -> None:
    bounds = ". >= date('2000-01-01') and . <= date('2020-01-01')"
    rows = form(
        ["date", "born", "When were you born?"],
        ["date", "came", "When did you come?", "", bounds],
        ["dateTime", "left", "When did you leave?", "", ". > date('2010-01-01')"],
    )
    with pytest.raises(InvalidInput, match=r"no question 'left'"):
        carried_over(workbook(tmp_path / "form.xlsx", rows), public=["left"])
    document, left_out = carried_over(workbook(tmp_path / "form.xlsx", rows))
    asked = questions(document)
    assert [day.isoformat() for day in asked["born"]["ranges"]] == ["1960-01-01", "1980-01-01", "2000-01-01"]
    assert [day.isoformat() for day in asked["came"]["ranges"]] == ["2005-01-01", "2010-01-01", "2015-01-01"]
    said = "\n".join(left_out)
    assert "the exact day of 'born': it is asked in ranges that begin 1960-01-01, 1980-01-01, 2000-01-01" in said
    assert "the day 'left': days are asked in ranges, and none is clear between 2010-01-01 and any day" in said
    assert "the time of day of 'left'" in said
    schema = Definition.from_yaml(questionnaire_text(document, "form.xlsx", left_out)).scheme.schema
    assert schema["came"].answers[:2] == ("before 2005-01-01", "2005-01-01 to 2009-12-31")


def test_open_texts_are_public_with_a_warning_and_never_tell_a_sensitive_answer(tmp_path: Path) -> None:
    rows = form(
        ["select_one yes_no", "smokes", "Do you smoke?"],
        ["text", "why", "Why?", "${smokes} = 'yes'"],
        ["text", "since", "Since when?", "${smokes} != 'no'"],
        ["begin group", "smokers", "Smokers", "${smokes} = 'yes'"],
        ["text", "what", "What do you smoke?"],
        ["end group", ""],
        ["text", "Comment", "Anything else?", "", "", "yes"],
    )
    path = workbook(tmp_path / "form.xlsx", rows)
    document, left_out = carried_over(path)
    asked = questions(document)
    assert list(asked) == ["smokes", "comment"]
    assert asked["comment"] == {
        "name": "comment", "kind": "text", "text": "Anything else?", "sensitive": False, "longest": 500,
    }  # fmt: skip
    said = "\n".join(left_out)
    for name in ("why", "since", "what"):
        assert f"the open text '{name}'" in said
        assert f"the disguise of the open text '{name}'" not in said
    assert "it would tell the sensitive answer to 'smokes'" in said
    assert (
        "the disguise of the open text 'Comment': nothing can disguise what people write, and it identifies them"
        in said
    )
    Definition.from_yaml(questionnaire_text(document, "form.xlsx", left_out))
    with pytest.raises(InvalidInput, match="'comment' is an open text: nothing can disguise what people write"):
        carried_over(path, sensitive=["comment"])
    # After a public answer it is asked as before.
    other = workbook(tmp_path / "public.xlsx", [*rows, ["select_one brand", "b", "B?"]])
    asked = questions(carried_over(other, public=["smokes"])[0])
    assert asked["why"]["when"] == {"smokes": "yes"}


def test_typed_answers_of_surveyjs_are_carried_over_or_named(tmp_path: Path) -> None:
    parts = [{"name": "make"}, {"name": "year", "inputType": "week"}]
    elements = [
        {"type": "boolean", "name": "stole", "title": "Did you steal?"},
        {"type": "text", "name": "born", "title": "Born?", "inputType": "date", "min": "1980-01-01", "max": "2000-01-01"},
        {"type": "text", "name": "met", "title": "Met?", "inputType": "datetime-local"},
        {"type": "text", "name": "job", "title": "Your job?", "maxLength": 80, "isRequired": True},
        {"type": "text", "name": "mail", "title": "Your address?", "inputType": "email"},
        {"type": "multipletext", "name": "car", "title": "Car", "items": parts},
        {"type": "panel", "visibleIf": "{stole} = true", "elements": [{"type": "comment", "name": "what", "title": "What?"}]},
    ]  # fmt: skip
    document, left_out = carried_over(surveyjs(tmp_path / "work.json", {"elements": elements}))
    asked = questions(document)
    assert {name: one["kind"] for name, one in asked.items()} == {
        "stole": "yes-no", "born": "date", "met": "date", "job": "text", "car_make": "text",
    }  # fmt: skip
    assert str(asked["born"]["ranges"][1]) == "1990-01-01"
    assert asked["job"]["longest"] == 80
    assert "optional" not in asked["job"]
    assert asked["car_make"]["text"] == "Car: make"
    assert asked["car_make"]["optional"]
    said = "\n".join(left_out)
    for part in (
        "email 'mail'",
        "week 'car_year'",
        "the open text 'what': it would tell the sensitive answer to 'stole'",
        "time of day of 'met'",
    ):
        assert part in said
    Definition.from_yaml(questionnaire_text(document, "work.json", left_out))


def test_the_short_forms_of_surveyjs_are_understood(tmp_path: Path) -> None:
    elements = [
        {"type": "radiogroup", "name": "job", "title": "Job?", "choices": ["a|Baker", "b|Smith"], "showNoneItem": True},
        {"type": "dropdown", "name": "children", "title": "Children?", "choicesMax": 5},
        {"type": "dropdown", "name": "age", "title": "Age?", "choicesMin": 18, "choicesMax": 98},
        {"type": "slider", "name": "mood", "title": "Mood?"},
        {"type": "dropdown", "name": "best", "title": "Best?", "choicesFromQuestion": "job"},
    ]
    document, left_out = carried_over(surveyjs(tmp_path / "work.json", {"elements": elements}))
    asked = questions(document)
    assert asked["job"]["answers"] == {"a": "Baker", "b": "Smith", "none": "None"}
    assert list(asked["children"]["answers"]) == ["0", "1", "2", "3", "4", "5"]
    assert asked["age"]["ranges"] == [38, 58, 78]
    assert asked["mood"]["ranges"] == [25, 50, 75]
    assert any("choicesFromQuestion of 'best'" in line for line in left_out)
    Definition.from_yaml(questionnaire_text(document, "work.json", left_out))


@pytest.mark.slow
def test_what_changes_a_question_of_surveyjs_is_carried_over_or_named(tmp_path: Path) -> None:
    agrees = [{"value": "yes", "text": "I agree"}, {"value": "no", "text": "I do not"}]
    elements = [
        {"type": "boolean", "name": "sex", "title": "Sex?", "labelTrue": "Male", "labelFalse": "Female"},
        {"type": "boolean", "name": "own", "title": "Own?", "valueTrue": "m", "valueFalse": "f", "visibleIf": "{sex} = false"},
        {"type": "boolean", "name": "plain", "title": "Plain?", "labelTrue": "Yes", "visibleIf": "{own} = 'm'"},
        {"type": "radiogroup", "name": "agrees", "title": "Agreed?", "choices": agrees, "choicesOrder": "random"},
        {"type": "radiogroup", "name": "knows", "title": "Knows?", "choices": ["a", "b"],
         "showDontKnowItem": True, "showRefuseItem": True},
        {"type": "checkbox", "name": "takes", "title": "Takes?", "choices": ["p", {"value": "q", "visibleIf": "{sex} = true"}]},
        {"type": "radiogroup", "name": "unseen", "title": "Unseen?", "choices": ["a", "b"], "visible": False},
        {"type": "matrixdropdown", "name": "table", "columns": [{"name": "c"}], "rows": ["r"]},
    ]  # fmt: skip
    pages = [{"elements": elements, "questionsOrder": "random"}]
    document, left_out = carried_over(surveyjs(tmp_path / "s.json", {"pages": pages, "completedHtmlOnCondition": [{}]}))
    asked = questions(document)
    assert asked["sex"]["answers"] == {"true": "Male", "false": "Female"}
    assert (asked["own"]["answers"], asked["own"]["when"]) == ({"m": "Yes", "f": "No"}, {"sex": "false"})
    assert (asked["plain"]["kind"], asked["plain"]["when"]) == ("yes-no", {"own": "m"})
    assert (asked["agrees"]["answers"], asked["agrees"]["shuffle"]) == ({"yes": "I agree", "no": "I do not"}, True)
    assert asked["knows"]["answers"] == {"a": "a", "b": "b", "dontknow": "Don't know"}
    assert document["pages"][0]["shuffle"] is True
    assert "unseen" not in asked
    said = "\n".join(left_out)
    for part in (
        "the refusal of 'knows': 'prefer not to say' is offered with every sensitive question",
        "the condition of the answer 'q' of 'takes'", "radiogroup 'unseen': it is never shown",
        "matrixdropdown 'table': ", "completedHtmlOnCondition: ",
    ):  # fmt: skip
        assert part in said
    assert "Write it anew" not in said
    Definition.from_yaml(questionnaire_text(document, "s.json", left_out))


def test_what_changes_a_question_of_a_workbook_is_carried_over_or_named(tmp_path: Path) -> None:
    columns = ["type", "name", "label", "parameters", "disabled", "readonly", "media::image"]
    rows = [
        ["select_one brand", "shuffled", "Which?", "randomize=true"],
        ["select_one brand", "off", "Off?", "", "yes"],
        ["select_one brand", "shown", "Shown?", "", "", "yes", "brand.png"],
        ["range", "odd", "Odd?", "start=a end==5"],
        *([kind, kind.split()[0].replace("-", "_"), "?"] for kind in (
            "geopoint", "geotrace", "geoshape", "image", "audio", "video", "file", "barcode", "rank brand", "hidden",
            "select_one_from_file towns.csv", "csv-external", "xml-external", "select_one_external towns", "trigger",
        )),
    ]  # fmt: skip
    document, left_out = carried_over(
        workbook(tmp_path / "form.xlsx", [columns, *([*row, *[""] * 7][:7] for row in rows)])
    )
    asked = questions(document)
    assert list(asked) == ["shuffled", "shown"]
    assert asked["shuffled"]["shuffle"] is True
    said = "\n".join(left_out)
    for row in rows[3:]:
        (line,) = [one for one in left_out if f"'{row[1]}'" in one]
        assert "Write it anew" not in line
    assert "answers: {file: towns.csv}" in said
    assert "the picture or sound of 'shown'" in said
    assert "'off'" not in said


def test_old_spellings_and_painted_sheets_are_read(tmp_path: Path) -> None:
    """The first XLSForms wrote their types out; a sheet that was painted to its end has a million empty rows."""
    rows = [["type", "name", "label::EN"], ["select one from yes_no or specify other", "good", "A good day?"]]
    rows.append(["select all that apply from where", "where", "Where?"])
    path = workbook(tmp_path / "form.xlsx", rows)
    book = openpyxl.load_workbook(path)
    book["survey"].cell(row=1_048_576, column=16_384).fill = openpyxl.styles.PatternFill("solid", "FF0000")
    book.save(path)
    document, left_out = carried_over(path)
    assert {name: one["kind"] for name, one in questions(document).items()} == {"good": "yes-no", "where": "several"}
    assert any("'or_other' of 'good'" in line for line in left_out)
    (tmp_path / "old.xls").write_bytes(b"x")
    with pytest.raises(InvalidInput, match=r"old Excel workbook. Save it as .xlsx"):
        carried_over(tmp_path / "old.xls")


def test_a_language_without_words_is_named_with_how_to_write_them(tmp_path: Path) -> None:
    rows = [["type", "name", "label::Kiswahili (sw)"], ["select_one yes_no", "good", "Nzuri?"]]
    _, left_out = carried_over(workbook(tmp_path / "form.xlsx", rows))
    assert any("the page's own words in 'sw'" in line and "tacit survey words sw.yaml" in line for line in left_out)


def test_many_open_texts_are_shorter_each(tmp_path: Path) -> None:
    rows = form(["select_one yes_no", "smokes", "Do you smoke?"], *(["text", f"t{n}", f"T {n}?"] for n in range(10)))
    document, left_out = carried_over(workbook(tmp_path / "form.xlsx", rows))
    assert {one.get("longest") for one in questions(document).values()} == {None, 300}
    Definition.from_yaml(questionnaire_text(document, "form.xlsx", left_out))


def test_texts_repeat_public_answers_only(tmp_path: Path) -> None:
    rows = form(
        ["select_one brand", "Brand", "Which brand?"],
        ["select_one yes_no", "likes", "Do you like ${Brand}?"],
        ["select_one yes_no", "again", "You said ${likes} of ${ Brand }: again?"],
    )
    document, left_out = carried_over(workbook(tmp_path / "form.xlsx", rows), public=["brand"])
    asked = questions(document)
    assert asked["likes"]["text"] == "Do you like {brand}?"
    assert asked["again"]["text"] == "You said … of {brand}: again?"
    assert any("the repeated answer ${likes} in the text of 'again'" in line for line in left_out)
    Definition.from_yaml(questionnaire_text(document, "form.xlsx", left_out))


SMOKES = {"type": "radiogroup", "name": "smokes", "title": "Do you smoke?", "choices": ["Yes", "No"]}
BROKEN = {
    "a list from elsewhere": (
        {"type": "checkbox", "name": "c", "choicesByUrl": {"url": "https://x"}},
        "it has no answers",
    ),
    "a rating up to a word": ({"type": "rating", "name": "r", "rateMax": "many"}, "no least and greatest value"),
    "half a step": ({"type": "rating", "name": "r", "rateMin": 0.5, "rateMax": 5}, "the exact number of 'r'"),
    "no element": (3, "the element 3: it is no mapping"),
    "a condition on itself": (
        {"type": "rating", "name": "r", "visibleIf": "{r} = 3"},
        "the condition of 'r' ({r} = 3): it is asked of everybody",
    ),
    "a formula": (
        {"type": "radiogroup", "name": "f", "title": "F?", "choices": ["=1+1", "b"]},
        "the value '=1+1' of 'f': a spreadsheet would run it; it is called 'answer 1' here",
    ),
    "a refusal among the answers": (
        {"type": "radiogroup", "name": "f", "title": "F?", "choices": ["prefer not to say", "b"]},
        "the page itself gives it a meaning",
    ),
    "repeated panels": (
        {"type": "paneldynamic", "name": "p", "templateElements": [{"type": "text", "name": "child"}]},
        "It holds 'child'.",
    ),
    "none of several": (
        {"type": "checkbox", "name": "c", "choices": ["a", "b"], "showNoneItem": True, "maxSelectedChoices": 1},
        "the answer 'none' of 'c': choosing nothing says so",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_parts_of_surveyjs_are_named_and_the_rest_can_be_opened(tmp_path: Path, case: str) -> None:
    element, said = BROKEN[case]
    document, left_out = carried_over(surveyjs(tmp_path / "s.json", {"elements": [SMOKES, element]}), [], None)
    Definition.from_yaml(questionnaire_text(document, "s.json", left_out))
    assert any(said in line for line in left_out), left_out


def test_one_name_for_three_questions_becomes_three_names(tmp_path: Path) -> None:
    named = [
        {**SMOKES, "title": f"{number}?", "name": name} for number, name in enumerate(("smokes", "smokes", "SMOKES"))
    ]
    document, _ = carried_over(surveyjs(tmp_path / "s.json", {"elements": named}), [], None)
    assert list(questions(document)) == ["smokes", "smokes_2", "smokes_3"]
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(InvalidInput, match="nested too deeply"):
        carried_over(tmp_path / "deep.json", [], None)


def test_an_end_without_its_beginning_drops_no_question_of_a_workbook(tmp_path: Path) -> None:
    rows = [
        ["end repeat", "", ""],
        ["select_one yes_no", "smokes", "Do you smoke?"],
        ["begin repeat", "child", "Child"],
    ]
    rows += [["integer", "child_age", "Age?"], ["end repeat", "", ""], ["select_one yes_no", "drinks", "Do you drink?"]]
    survey = [["type", "name", "label::English (en)"], *rows]
    document, left_out = carried_over(workbook(tmp_path / "f.xlsx", survey), [], None)
    assert list(questions(document)) == ["smokes", "drinks"]
    assert any(line.startswith("integer 'child_age': it is repeated") for line in left_out)
