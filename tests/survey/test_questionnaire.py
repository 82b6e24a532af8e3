from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.channel.scheme import Scheme
from tacit.errors import InvalidInput
from tacit.survey.codes import ALPHABET, new_code, print_code, read_code
from tacit.survey.definition import Definition, changed_line
from tacit.survey.proposal import LEVELS
from tacit.survey.wire import InvalidReport, Wire
from tacit.survey.yaml_lines import parse
from tests.survey.page import STATIC, node
from tests.survey.questionnaires import RICH, SMALL

TEMPLATE = STATIC.parent / "templates" / "questionnaire.yaml"


def test_the_template_is_a_questionnaire() -> None:
    definition = Definition.read(TEMPLATE)
    assert definition.scheme.public_names == ("age", "field")
    assert [group.names for group in definition.scheme.groups] == [("medication", "told"), ("drinks",), ("exhaustion",)]


def test_every_kind_of_question_becomes_attributes() -> None:
    schema = Definition.from_yaml(RICH).scheme.schema
    assert schema["hours"].answers == ("1", "2", "3", "prefer not to say", "not asked")
    assert schema["symptoms_cough"].answers == ("no", "yes")
    assert schema["income"].answers == ("below 1000", "1000 to below 2500.5", "2500.5 or more")
    assert schema["income"].ordered
    assert schema["region"].answers == ("north", "south")


def test_groups_are_as_written_then_unrelated_questions_then_one_each() -> None:
    groups = Definition.from_yaml(RICH).scheme.groups
    assert [group.names for group in groups] == [
        ("income", "debts"), ("works", "hours"), ("symptoms_cough",), ("symptoms_fever",), ("cheated",), ("stole",),
    ]  # fmt: skip
    assert groups[-1].channel.parameters["keep"] == 0.6
    assert groups[1].channel.amplification <= LEVELS["moderate"]
    assert groups[2].channel.parameters == {"gamma": LEVELS["moderate"]}


def test_the_levels_keep_what_their_words_say() -> None:
    for level, sure in {"light": 0.9, "moderate": 0.8, "strong": 0.7, "very strong": 0.6}.items():
        definition = Definition.from_yaml(SMALL.replace("privacy: strong", f"privacy: {level}"))
        assert definition.scheme.groups[0].channel.matrix.max() == pytest.approx(sure, abs=1e-6)
        assert definition.scheme.groups[0].channel.amplification <= LEVELS[level]


def test_the_hash_is_the_one_the_page_computes() -> None:
    for text in (SMALL, RICH, TEMPLATE.read_text()):
        document = Definition.from_yaml(text).document
        assert node("hash", script="page_hash.mjs", document=document) == document["hash"]


def test_a_definition_survives_storage_and_a_changed_one_does_not() -> None:
    definition = Definition.from_yaml(RICH)
    again = Definition.from_json(definition.to_json())
    assert again.document == definition.document
    with pytest.raises(InvalidInput, match="changed after it was opened"):
        Definition.from_json(definition.to_json().replace('"keep":0.6', '"keep":0.9'))


def test_any_change_changes_the_fingerprint() -> None:
    fingerprints = {
        Definition.from_yaml(text).fingerprint
        for text in (SMALL, SMALL.replace("Health", "health"), SMALL.replace("strong", "light"), SMALL + "wave: two\n")
    }
    assert len(fingerprints) == 4


def question(**changes: object) -> str:
    fields = {"name": "q", "kind": "yes-no", "text": "T", "sensitive": True, **changes}
    return SMALL + f"      - {json.dumps(fields)}\n"


def group(questions: str, channel: str) -> str:
    return f"{{questions: [{questions}], channel: {{{channel}}}}}"


def groups(*written: str) -> str:
    return "groups:\n" + "".join(f"  - {group}\n" for group in written)


SURE = group("smokes", "kind: warner, p: 0.7")

REFUSALS = {
    "is empty": "",
    "this is not YAML": "name: [",
    "The braces or brackets were opened in line 2: close them there": "name: a\ntitle: {en: What\ncontact: b\n",
    "put a text that holds a comma, a colon or a brace into quotes": "name: a\ntitle: {en: What: this}\n",
    "survey.yaml, line 2: this is not YAML: mapping values are not allowed in this context. Put a text that holds a colon "
    "into quotes": "name: a\ntitle: What: this\n",
    "The quotes were opened in line 2: close them there": 'name: a\ntitle: "What\n',
    "begin in the same column, after spaces and not tabs": "name: a\n\ttitle: b\n",
    "survey.yaml, line 9: 'or did you?' has no value. Between braces a comma ends a text: put a text that holds one into "
    "quotes": SMALL.replace("text: Do you smoke?", "text: Do you smoke, or did you?"),
    "survey.yaml, line 2: 'two' has no value": SMALL.replace("title: Health", "title: {en: One, two}"),
    "line 11: the question 'smokes' stands also in line 9": question(name="smokes"),
    "line 11: The kind 'yesno' does not exist. Did you mean 'yes-no'": question(kind="yesno"),
    "line 11: A question has no key 'sensitiv'": question(sensitiv=True),
    "A questionnaire needs the keys 'title', 'introduction', 'contact', 'pages'": "name: small\n",
    "needs the key 'sensitive'": SMALL.replace(", sensitive: true, prefer_not_to_say: false", ""),
    "sensitive must be true or false, not 'perhaps'": question(sensitive="perhaps"),
    "a question of kind 'choice' needs the key 'answers'": question(kind="choice"),
    "the key 'answers' belongs to questions of kind 'choice'": question(answers=["a", "b"]),
    "a choice needs at least two answers": question(kind="choice", answers=["a"]),
    "the answer 'a' stands here twice": question(kind="choice", answers=["a", "a"]),
    "begins as a formula does": question(kind="choice", answers=["=1+1", "b"]),
    "the answer '-2+3+cmd|x!A0' begins as a formula does": question(kind="choice", answers=["a", "-2+3+cmd|x!A0"]),
    "the answer '＝1' begins as a formula does": question(kind="choice", answers=["a", "＝1"]),
    "the answer '-cmd' begins as a formula does": question(kind="choice", answers=["a", "-cmd"]),
    "is added by the page itself": question(kind="choice", answers=["a", "prefer not to say"]),
    "at most 20 above": question(kind="scale", scale={"from": 1, "to": 40}),
    "ascending numbers": question(kind="number", ranges=[3, 2]),
    "the option 'Big cough' needs a short name": question(kind="several", options=["Big cough"]),
    "must be an earlier question": question(when={"later": "yes"}),
    "has no answer 'maybe'": question(when={"smokes": "maybe"}),
    "line 11: the public question 'q' depends on the answer to 'smokes', which is sensitive": question(
        sensitive=False, when={"smokes": "yes"}
    ),
    "Ask everybody (leave out the condition on 'drinks'), or mark it with sensitive: true": question(
        sensitive=False, when={"age": "below 30", "drinks": "prefer not to say"}
    ),
    "must be a short word": question(name="Has Space"),
    "keep must lie strictly between 0 and 1": question(unrelated={"keep": 1, "distribution": [0.5, 0.5]}),
    "a chance above 0 for every answer": question(unrelated={"keep": 0.5, "distribution": [1.0, 0.0]}),
    "distribution has 2 chances, but 'q' has 3 answers": question(unrelated={"keep": 0.5, "distribution": [0.5, 0.5]}),
    "both need the same answers": question(unrelated={"keep": 0.5, "distribution": [0.4, 0.3, 0.3], "ask": "B?"}),
    "goes with one sensitive question": question(sensitive=False, unrelated={"keep": 0.5, "distribution": [0.5, 0.5]}),
    "the page has no words of its own (buttons, the privacy label) in 'xx'": SMALL + "languages: [xx]\n",
    "needs a text for each language": SMALL + "languages: [en, de]\n",
    "has a text in 'fr', but languages lists en": SMALL.replace("title: Health", "title: {en: H, fr: S}"),
    "title has no text in 'en'": SMALL.replace("title: Health", "title: {}"),
    "is in no group": SMALL.replace("privacy: strong\n", ""),
    "line 5: The privacy level 'stronk' does not exist": SMALL.replace("privacy: strong", "privacy: stronk"),
    "The privacy level 'high' does not exist. Did you mean 'strong'?": SMALL.replace("privacy: strong", "privacy: high"),
    "The privacy level 'Low' does not exist. Did you mean 'light'?": SMALL.replace("privacy: strong", "privacy: Low"),
    "labels name each step of a scale, from 2 to 21": question(kind="scale", scale={"labels": ["never"]}),
    "with 3 labels ends at 3. Leave `to` out": question(kind="scale", scale={"labels": ["a", "b", "c"], "to": 5}),
    "A scale needs the key 'to', or labels:": question(kind="scale", scale={"from": 1}),
    "The access 'closed' does not exist": SMALL + "access: closed\n",
    "no question is sensitive": SMALL.replace("sensitive: true", "sensitive: false"),
    "the key 'title' stands here twice (first in line 2)": SMALL + "title: Again\n",
    "the channel kind 'warnr' does not exist. Did you mean 'warner'": SMALL + groups(group("smokes", "kind: warnr")),
    "must be a mapping with a kind": SMALL + groups("{questions: [smokes], channel: strong}"),
    "the group holds 'age', which is public": SMALL + groups(group("age", "kind: warner, p: 0.7")),
    "a group needs at least one sensitive question": SMALL + groups(group("", "kind: warner, p: 0.7")),
    "names a question 'smoks' that does not exist. Did you mean 'smokes'": SMALL + groups(group("smoks", "kind: warner, p: 0.7")),
    "'smokes' is in two groups": SMALL + groups(SURE, SURE),
    "lacks 'p'": SMALL + groups(group("smokes", "kind: warner")),
    "would let someone be 99.0% sure": SMALL + groups(group("smokes", "kind: warner, p: 0.99")),
    "allow_unbounded: true": question(prefer_not_to_say=False) + groups(group("smokes, q", "kind: flip, theta: 0.8")),
    "needs at least one option": question(kind="several", options={}),
    "line 11: no question may be called 'questionnaire'": question(name="questionnaire"),
    "line 11: A text of 'q' is missing, or two are the same": question(kind="choice", answers={"a": "S", "b": "S"}),
    "line 11: 'smokes' and 'q' ask the same": question(text="Do you smoke?"),
    "line 11: A question's text holds the character U+0007": question(text="a\x07b"),
    "line 11: A question's text holds the character U+202E": question(text="a\u202eb"),
    "{Age} would be shown as it stands. Write {age}": question(text="At {Age}?"),
    "{ age } would be shown as it stands": question(text="At { age }?"),
    "an answer cannot repeat {age}": question(kind="choice", answers={"a": "At {age}", "b": "B"}),
    "every answer to 'age' ends the questions": SMALL
    + "screen_out:\n  - {when: {age: [below 30, 30 to 59]}}\n  - {when: {age: 60 or more}}\n",
    "line 11: parts cannot be merged": SMALL + "      - {<<: {kind: yes-no}, name: q, text: T, sensitive: true}\n",
    "without a line of three dashes": SMALL + "---\n" + SMALL,
    "the report '=cmd()' begins as a formula does": SMALL
    + groups(group("smokes", "kind: matrix, matrix: [[0.7, 0.3], [0.3, 0.7]], reports: ['=cmd()', b]")),
    "too many for a page to explain": question(kind="several", options=[f"o{n}" for n in range(12)])
    + groups(group("q", "kind: gamma-diagonal, gamma: 5")),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSALS)
def test_bad_questionnaires_are_refused_with_what_to_change(message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Definition.from_yaml(REFUSALS[message], "survey.yaml")
    assert message in str(refusal.value)
    assert "survey.yaml" in str(refusal.value)


def test_answers_that_look_like_numbers_are_what_stands_in_the_file() -> None:
    """YAML takes a postal code for an octal number, a time for minutes and on for true."""
    text = SMALL + "      - {name: q, kind: choice, text: T, answers: [01234, 12:30, 1.50, on, yes], sensitive: true}\n"
    answers = Definition.from_yaml(text).scheme.schema["q"].answers
    assert answers[:5] == ("01234", "12:30", "1.50", "on", "yes")


def test_a_scale_may_have_a_word_for_each_step() -> None:
    definition = Definition.from_yaml(question(kind="scale", scale={"labels": ["never", "rarely", "often"]}))
    attribute = definition.scheme.schema["q"]
    assert attribute.answers[:3] == ("1", "2", "3")
    assert attribute.ordered
    assert [definition.answer_text("q", number) for number in "123"] == ["1 (never)", "2 (rarely)", "3 (often)"]


def test_a_public_question_after_a_sensitive_answer_would_send_that_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: without the refusal the page sends "not asked" in the clear to exactly those who said no."""
    text = question(sensitive=False, when={"smokes": "yes"})
    monkeypatch.setattr("tacit.survey.questionnaire_file.refuse_telling", lambda *_, **__: None)
    monkeypatch.setattr("tacit.survey.definition._checked_label", lambda *_: {})
    unguarded = Definition.from_yaml(text)
    assert "q" in unguarded.scheme.public_names
    assert "not asked" in unguarded.scheme.schema["q"].answers
    monkeypatch.undo()
    with pytest.raises(InvalidInput, match="would send that answer undisguised"):
        Definition.from_yaml(text)


def test_a_public_question_may_follow_a_public_answer_and_a_sensitive_one_any() -> None:
    after_public = Definition.from_yaml(question(sensitive=False, when={"age": "below 30"}))
    assert after_public.scheme.public_names == ("age", "q")
    assert Definition.from_yaml(question(when={"smokes": "yes"})).scheme.public_names == ("age",)


def test_an_unbounded_scheme_is_allowed_where_it_is_said() -> None:
    text = question(prefer_not_to_say=False) + groups(group("smokes, q", "kind: flip, theta: 0.8"))
    assert Definition.from_yaml(text + "allow_unbounded: true\n").scheme.groups[0].names == ("smokes", "q")


def test_a_stated_prior_counts_for_the_cap() -> None:
    group = groups("{questions: [smokes], channel: {kind: warner, p: 0.7}, prior: [0.9, 0.1]}")
    with pytest.raises(InvalidInput, match=r"95\.5% sure"):
        Definition.from_yaml(SMALL + group)
    definition = Definition.from_yaml(SMALL + group.replace("[0.9, 0.1]", "[0.8, 0.2]"))
    assert definition.scheme.prior == {"smokes": (0.8, 0.2)}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="tacit survey new"):
        Definition.read(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"title: caf\xe9")
    with pytest.raises(InvalidInput, match="UTF-8"):
        Definition.read(tmp_path / "latin.yaml")


def test_the_first_changed_line_is_found() -> None:
    assert changed_line("a\nb\nc", "a\nx\nc") == 2
    assert changed_line("a\nb", "a\nb\nc") == 3


def test_a_report_travels_in_a_fixed_length_and_comes_back() -> None:
    wire = Wire.of(Definition.from_yaml(RICH))
    text = "00" * (wire.length // 2)
    assert wire.encode(wire.decode(text)) == text
    assert len(wire.decode(text)) == len(wire.names)


def test_sets_and_bits_travel_too() -> None:
    written = groups(
        group("drinks", "kind: subset, size: 2, gamma: 3"),
        group("smokes", "kind: mask, p: 0.6"),
    )
    wire = Wire.of(Definition.from_yaml(SMALL + written))
    assert wire.names == ("drinks", "smokes=no", "smokes=yes", "age")
    assert wire.decode("0102" + "0001" + "00") == ('["yes", "prefer not to say"]', 0, 1, "below 30")
    assert wire.encode(wire.decode("0102000100")) == "0102000100"
    for wrong in ("0201000100", "0101000100", "0103000100"):
        with pytest.raises(InvalidReport, match="ascending order"):
            wire.decode(wrong)


def test_a_bucket_and_its_seed_travel_too() -> None:
    written = groups(group("drinks", "kind: local-hashing, gamma: 3"))
    wire = Wire.of(Definition.from_yaml(SMALL + written))
    # Three answers in four buckets: two numbers of three bits make a seed.
    assert wire.names == ("drinks", "drinks:seed", "smokes", "age")
    assert wire.decode("03" + "0705" + "0000")[:2] == (3, 7 * 8 + 5)
    assert wire.encode(wire.decode("0307050000")) == "0307050000"
    for wrong in ("0400000000", "0308000000", "0300080000", "030-000000", "03 0000000"):
        with pytest.raises(InvalidReport, match="has no digit"):
            wire.decode(wrong)


def test_codes_notice_any_single_typing_error() -> None:
    code = new_code()
    assert read_code(print_code(code).lower()) == code
    for place in range(len(code)):
        for letter in ALPHABET:
            if letter != code[place]:
                with pytest.raises(InvalidInput, match="not an invitation code"):
                    read_code(code[:place] + letter + code[place + 1 :])


def test_the_page_reads_codes_as_the_server_does() -> None:
    codes = [new_code() for _ in range(50)]
    wrong = [("1" if code[3] != "1" else "2").join([code[:3], code[4:]]) for code in codes]
    assert node("codes", script="page_hash.mjs", codes=[*map(print_code, codes), *wrong]) == [*codes, *[None] * 50]


def test_a_scheme_document_is_read_once_however_many_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    real = Scheme.from_document.__func__
    monkeypatch.setattr(
        Scheme, "from_document", classmethod(lambda cls, *given: (read.append(1), real(cls, *given))[1])
    )
    lines = [f"      - {{name: q{i}, kind: yes-no, text: 'Question {i}?', sensitive: true}}" for i in range(8)]
    definition = Definition.from_yaml(
        "name: a\ntitle: t\nintroduction: i\ncontact: c\nprivacy: strong\npages:\n  - questions:\n" + "\n".join(lines)
    )
    assert len(definition.scheme.groups) == 8
    assert len(read) == 1


def test_aliases_of_aliases_do_not_fill_the_memory() -> None:
    """Nine lists, each of ten times the one before: a thousand million texts from 300 bytes."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(InvalidInput, match=r"repeats itself to more than 2,000,000 parts. Use fewer aliases"):
        parse("\n".join(lines))
    with pytest.raises(InvalidInput, match="nested too deeply"):
        parse("a: &a [*a]")


def many_options(count: int, more: str) -> str:
    options = ", ".join(f"o{n}: Option {n}" for n in range(count))
    return SMALL + f"      - {{name: had, kind: several, text: Which?, options: {{{options}}}, {more}}}\n"


def test_many_options_are_counted_not_listed() -> None:
    """Sixty options have 2^60 ways to be answered; each option is disguised by itself, so nobody needs them all."""
    definition = Definition.from_yaml(many_options(25, "sensitive: true, prefer_not_to_say: false"))
    assert definition.whole.gamma == pytest.approx((7 / 3) ** 27)
    assert len(Definition.from_yaml(many_options(60, "sensitive: false")).columns) == 63
    with pytest.raises(InvalidInput, match="had can be answered in more than 65,536 ways"):
        Definition.from_yaml(many_options(60, "sensitive: true, prefer_not_to_say: true"))
