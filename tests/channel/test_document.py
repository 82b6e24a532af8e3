from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Attribute, Scheme, channels
from tacit.channel.document import FORMAT, canonical, checked_document, document_hash, read_json
from tacit.errors import InvalidInput, SchemeMismatch, UnknownName

BARE = {"format": FORMAT, "attributes": [{"name": "smokes", "answers": ["no", "yes"]}], "groups": []}

finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | finite | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        # The table of RFC 8785, appendix B, by the bits of each double.
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_numbers_are_written_as_the_standard_prints_them(number: str, text: str) -> None:
    assert canonical(struct.unpack(">d", bytes.fromhex(number))[0]) == text


def test_the_example_of_the_standard() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical(value) == expected


def test_keys_are_sorted_as_utf_16() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    order = list(json.loads(canonical(dict.fromkeys(keys, 0))))
    assert order == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@given(finite)
def test_a_number_reads_back_as_itself(number: float) -> None:
    assert float(canonical(number)) == number


@given(values)
def test_canonical_text_is_json_of_the_same_value_and_stable(value: object) -> None:
    read = json.loads(canonical(value))
    assert canonical(read) == canonical(value)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_numbers_and_texts_are_those_of_javascript(tmp_path: Path) -> None:
    generator = random.Random(8785)
    numbers = [struct.unpack(">d", generator.randbytes(8))[0] for _ in range(20_000)]
    numbers += [generator.randrange(1 << 32) / (1 << 32) for _ in range(5_000)]
    numbers += [float(f"{generator.randrange(10**6)}e{generator.randrange(-30, 30)}") for _ in range(5_000)]
    sample = [number for number in numbers if math.isfinite(number)]
    sample += [
        "".join(chr(generator.choice([generator.randrange(0xD800), generator.randrange(128)])) for _ in range(9))
        for _ in range(500)
    ]
    given_file = tmp_path / "values.json"
    given_file.write_text(json.dumps(sample))
    script = "const v = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8')); process.stdout.write(JSON.stringify(v))"
    theirs = subprocess.run(["node", "-e", script, str(given_file)], capture_output=True, check=True, timeout=60)
    assert canonical(sample) == theirs.stdout.decode()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 10**400])
def test_numbers_that_json_has_not_are_refused(number: float) -> None:
    with pytest.raises(InvalidInput, match="cannot hold the number"):
        canonical({"p": number})


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", object()])
def test_values_that_json_has_not_are_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="A scheme document cannot hold"):
        canonical([value])


@pytest.mark.parametrize("value", ["\ud800", {"\udc00": 1}])
def test_half_a_surrogate_pair_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="half of a surrogate pair"):
        canonical(value)


def test_the_hash_is_that_of_the_document_without_it() -> None:
    digest = hashlib.sha256(canonical(BARE).encode()).hexdigest()
    assert document_hash(BARE) == digest
    assert document_hash({**BARE, "hash": "anything"}) == digest
    assert document_hash(dict(reversed(BARE.items()))) == digest


def test_a_right_or_absent_hash_is_accepted() -> None:
    assert checked_document(BARE) == BARE
    checked_document({**BARE, "hash": document_hash(BARE)})


@pytest.mark.parametrize("stated", ["0" * 64, "", 7])
def test_a_wrong_hash_is_refused(stated: object) -> None:
    with pytest.raises(
        SchemeMismatch, match=r"The file was changed after its hash was computed: it states .* remove `hash`"
    ):
        checked_document({**BARE, "hash": stated}, "The file")


def test_a_changed_document_is_refused() -> None:
    tampered = {**BARE, "hash": document_hash(BARE), "attributes": [{"name": "smokes", "answers": ["yes", "no"]}]}
    with pytest.raises(SchemeMismatch, match="was changed"):
        checked_document(tampered)


@pytest.mark.parametrize("version", ["tacit-scheme/2", "", None, 1])
def test_an_unknown_version_is_refused(version: object) -> None:
    with pytest.raises(InvalidInput, match=r"has the format .*; this version of Tacit reads 'tacit-scheme/1'"):
        checked_document({**BARE, "format": version})


@pytest.mark.parametrize("document", [[], "text", None, 3])
def test_what_is_no_object_is_refused(document: object) -> None:
    with pytest.raises(InvalidInput, match="must be a JSON object, not"):
        checked_document(document)


@pytest.mark.parametrize("attributes", [None, [], {}, "smokes"])
def test_a_document_without_attributes_is_refused(attributes: object) -> None:
    with pytest.raises(InvalidInput, match="names no attributes"):
        checked_document({**BARE, "attributes": attributes})


@pytest.mark.parametrize(
    ("key", "meant"), [("group", "groups"), ("Groups", "groups"), ("questionaires", "questionnaires")]
)
def test_a_misspelt_entry_is_refused_because_it_would_disguise_nothing(key: str, meant: str) -> None:
    with pytest.raises(UnknownName, match=rf"the entry '{key}' does not exist\. Did you mean '{meant}'\?"):
        checked_document({"format": FORMAT, "attributes": BARE["attributes"], key: []})


def test_an_entry_of_another_program_is_let_be() -> None:
    checked_document({**BARE, "title": "A survey of commuters"})


def test_json_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "scheme.json"
    path.write_text('{"a": "ä"}', encoding="utf-8")
    assert read_json(path) == {"a": "ä"}


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"There is no file '.*nothing\.json'"):
        read_json(tmp_path / "nothing.json")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is a folder, not a file"):
        read_json(tmp_path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scheme.json"
    path.write_bytes(b"\xff\xfe\x00PAR1")
    with pytest.raises(InvalidInput, match="is not a text file"):
        read_json(path)


def test_a_truncated_file_is_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "scheme.json"
    path.write_text('{"format": "tacit-scheme/1",\n "attributes": [')
    with pytest.raises(InvalidInput, match=r"is not JSON: line 2, column 17"):
        read_json(path)


@pytest.mark.parametrize("p", [np.float32(0.7), np.float64(0.7), np.int64(1)], ids=repr)
def test_a_chance_of_numpy_is_written_as_the_one_that_is_sampled(p: np.number) -> None:
    scheme = Scheme.of([Attribute("smokes", ("no", "yes"))], [(["smokes"], channels.warner(p))])
    again = Scheme.from_document(json.loads(json.dumps(scheme.to_document())))
    assert again.hash == scheme.hash
    assert again.groups[0].channel.program() == scheme.groups[0].channel.program()
