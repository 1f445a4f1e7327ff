"""JSON lines: a line is a row, whatever it holds, and the first names the columns."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from covey.errors import DataError, NotNumericError
from covey.private.tables.files import open_file
from covey.private.tables.json import records as json_records
from covey.private.tables.json.records import as_id, decoded, items, lines

NAN = np.nan


@pytest.fixture
def save(tmp_path):
    def write(content: str | bytes):
        (tmp_path / "rows.jsonl").write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / "rows.jsonl"

    return write


def read(path, columns=("a",)) -> list[list[float]]:
    table = open_file(path)
    return np.concatenate([piece() for piece in table.pieces(columns)], axis=1).T.tolist()


HEAD = '{"a": 1, "who": "ann"}\n'


@pytest.mark.parametrize(
    ("line", "value"),
    [
        *(('{"a": 2.5}', 2.5), ('{"who": "bob", "a": -1e3}', -1000), ('{"a": true}', 1), ('{"a": NaN}', NAN)),
        *(
            ('{"a": 1e999}', np.inf),
            ('{"a": -Infinity}', -np.inf),
            ('{"a": "2.5"}', NAN),
            ('{"a": null}', NAN),
            ("{}", NAN),
        ),
        *(("[1]", NAN), ("7", NAN), ("null", NAN), ("{broken", NAN), ('{"a": [1]}', NAN), ('{"a": {"b": 1}}', NAN)),
        *((f'{{"a": {"9" * 400}}}', NAN), ('{"a": 1, "a": 2}', 2), ("[" * 10**5, NAN), ('{"a": 3, "b": "\\ud800"}', 3)),
        ('{"a": ' + "9" * 5000 + "}", NAN),
    ],
)
def test_a_line_is_a_row(save, line, value):
    found = read(save(f"{HEAD}{line}\r\n{HEAD}"))
    assert np.array_equal(found, [[1], [value], [1]], equal_nan=True)


def test_blank_lines_are_none_and_bytes_that_are_no_text_are_a_row(save):
    assert read(save(f"\n{HEAD}\n  \r\n{HEAD}\n\n")) == [[1], [1]]
    assert np.array_equal(read(save(HEAD.encode() + b'{"a": "\xff"}\n\xff\n')), [[1], [NAN], [NAN]], equal_nan=True)
    assert read(save("\ufeff" + HEAD)) == [[1]]


def test_ids_are_the_values(save):
    values = ["ann", "7", 7, 7.0, 7.5, True, None, [1], {"x": 1}, "", 10**30, "é", -0.0]
    path = save("".join(json.dumps({"a": 1, "who": each}) + "\n" for each in values))
    ids = [who for piece in open_file(path).pieces_with_ids(("a",), "who") for who in piece()[1].to_pylist()]
    assert ids == [
        b"ann",
        b"7",
        b"7",
        b"7",
        b"7.5",
        b"true",
        None,
        None,
        None,
        b"",
        b"1" + b"0" * 30,
        "é".encode(),
        b"0",
    ]
    assert as_id("\ud800") is not None


@pytest.mark.parametrize("content", ["", "\n\n", "[1, 2]\n", "7\n", "{}\n", "{broken\n", "x,y\n1,2\n", "[" * 10**6])
def test_a_first_line_that_names_nothing_is_refused(save, content):
    with pytest.raises(DataError, match=r"the first line of .* is no JSON object"):
        open_file(save(content))


def test_columns_are_those_of_the_first_record(save):
    path = save('{"a": 1}\n{"a": 2, "b": 3}\n')
    assert open_file(path).names == ("a",)
    with pytest.raises(DataError, match="'b' is missing"):
        read(path, ("b",))


def test_a_column_of_text_is_refused_without_it(save):
    with pytest.raises(NotNumericError) as refusal:
        open_file(save('{"a": "Quail"}\n' * 3)).check_numeric(["a"])
    assert "Quail" not in str(refusal.value)
    open_file(save('{"a": null}\n{"a": "Quail"}\n{"a": 1}\n')).check_numeric(["a"])


@settings(max_examples=150)
@given(st.binary(max_size=80), st.integers(1, 20), st.sampled_from([5, 20, 2**20]))
@example(b"  \n\n {}  \r\n", 3, 5)
def test_any_cut_of_the_bytes_gives_the_same_lines(text, size, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "LONGEST_RECORD", limit)
        whole = [line for block in lines(io.BytesIO(text), len(text) + 1) for line in block]
        assert [line for block in lines(io.BytesIO(text), size) for line in block] == whole
        assert len(whole) == sum(len(line) > limit or bool(line.strip()) for line in text.split(b"\n"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('"\\[]{},x', max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200)
@given(st.lists(json_values, max_size=6), st.integers(1, 30), st.sampled_from([None, 1]), st.booleans())
def test_the_values_of_an_array_are_found_in_any_cut(values, size, indent, plain):
    text = json.dumps(values, indent=indent, ensure_ascii=plain).encode()[1:] + b', "more": []}'
    found = [each for block in items(io.BytesIO(text), size) for each in block]
    assert [decoded(each) for each in found] == values


@settings(max_examples=100)
@given(st.lists(json_values, min_size=1, max_size=6), st.integers(1, 30), st.sampled_from([3, 10, 40]))
@example(['\\"' * 30, 1], 1, 10)
@example([[["]," * 20]], 1], 3, 10)
def test_a_value_that_is_too_long_is_one_that_cannot_be_read_in_any_cut(values, size, limit):
    texts = [json.dumps(each).encode() for each in values]
    text = b" ,  ".join(texts) + b" ]}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "LONGEST_RECORD", limit)
        found = [each for block in items(io.BytesIO(text), size) for each in block]
    assert [each.rstrip() for each in found] == [b"?" if len(each) + 1 > limit else each for each in texts]


def test_what_a_record_says_does_not_depend_on_how_deep_the_caller_is():
    """Another pass, on another thread, has more or less of the stack left."""

    def from_below(text: bytes, frames: int) -> object:
        return decoded(text) if frames == 0 else from_below(text, frames - 1)

    for depth in (50, 99, 100, 300, 600, 900):
        text = b'{"x": 1, "n": ' + b"[" * depth + b"]" * depth + b"}"
        assert {from_below(text, frames) is None for frames in (0, 100, 400)} == {depth >= 100}
    assert decoded(b"[" + b"[1, 2], " * 500 + b"[3]]")[-1] == [3]
