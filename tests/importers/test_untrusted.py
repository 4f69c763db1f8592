"""Reading files of unknown origin: limits, and refusals that say what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ncirl.errors import InputError
from ncirl.formats.untrusted import SIZE_LIMIT, read_csv, read_data, read_json, read_text, read_xml, read_yaml


def written(folder: Path, content: str | bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "raw", [b"\xef\xbb\xbf[1]", b"[1]", "[1]".encode("utf-16"), b"\xfe\xff" + "[1]".encode("utf-16-be")]
)
def test_byte_order_marks_are_understood(raw: bytes, tmp_path: Path) -> None:
    assert read_json(written(tmp_path, raw)) == [1]


@pytest.mark.parametrize(
    ("raw", "essence"),
    [(b"a\nb\xff", "line 2, byte 3: not UTF-8"), (b" \n", "the file is empty"), (b"x" * 101, "--size-limit raises")],
)
def test_what_is_no_text_is_refused(raw: bytes, essence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=essence):
        read_text(written(tmp_path, raw), limit=100)


def test_missing_files_and_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_text(tmp_path / "nothing")
    with pytest.raises(InputError, match="directory"):
        read_text(tmp_path)


def test_a_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    assert read_text(written(tmp_path, "x" * 100), limit=100) == "x" * 100


@pytest.mark.parametrize(
    ("source", "essence"),
    [
        ('{"a": 1, "a": 2}', "key 'a' appears twice"),
        ("[1, 1e999]", "must be finite"),
        ("[" * 101 + "]" * 101, "nested more than 100 levels"),
        ("[" * 100_000, "nested more than 100 levels"),
        ("[1,]", "line 1, column .*: not JSON"),
        ("9" * 5000, "not JSON"),
    ],
)
def test_malformed_json_is_refused(source: str, essence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=essence):
        read_json(written(tmp_path, source))


def test_json_at_the_deepest_is_read_and_nan_is_absent(tmp_path: Path) -> None:
    assert read_json(written(tmp_path, "[" * 100 + "NaN" + "]" * 100)) is not None
    assert read_json(written(tmp_path, '{"a": NaN}')) == {"a": None}


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("2: a\ntrue: b\n2020-01-02: c", {"2": "a", "True": "b", "2020-01-02": "c"}),
        ("when: 2020-01-02", {"when": "2020-01-02"}),
        ("(2, 0): x", {"(2, 0)": "x"}),
    ],
)
def test_yaml_becomes_plain_with_text_keys(source: str, plain: Any, tmp_path: Path) -> None:
    assert read_yaml(written(tmp_path, source)) == plain


@pytest.mark.parametrize(
    ("source", "essence"),
    [
        ("1: a\n'1': b", "key '1' appears twice"),
        ("a: 1\na: 2", "key 'a' appears twice"),
        ("!!python/object/apply:os.getcwd []", "not YAML"),
        ("!!set {a, b}", "type set"),
        (
            "\n".join(
                [
                    "a: &a [x]",
                    *(
                        f"{c}: &{c} [{', '.join('*' + b for b in [d] * 20)}]"
                        for d, c in zip("abcdef", "bcdefg", strict=True)
                    ),
                ]
            ),
            "unfold",
        ),
    ],
)
def test_yaml_that_is_not_plain_is_refused(source: str, essence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=essence):
        read_yaml(written(tmp_path, source))


def test_yaml_may_have_an_eighth_of_the_size(tmp_path: Path) -> None:
    path = written(tmp_path, "a: " + "x" * 97)
    assert read_yaml(path, limit=800)
    with pytest.raises(InputError, match="--size-limit 800 lets it in"):
        read_yaml(path, limit=799)


def test_the_name_or_the_first_bracket_tells_json_from_yaml(tmp_path: Path) -> None:
    assert read_data(written(tmp_path, "{a: 1}", "x.yaml")) == {"a": 1}
    assert read_data(written(tmp_path, '{"a": 1}', "x.afb")) == {"a": 1}
    assert read_data(written(tmp_path, "a: 1", "x.txt")) == {"a": 1}
    with pytest.raises(InputError, match="not JSON"):
        read_data(written(tmp_path, "a: 1", "x.json"))


def test_xml_names_lose_their_namespaces_and_any_declared_encoding_is_read(tmp_path: Path) -> None:
    root = read_xml(written(tmp_path, '<a:r xmlns:a="u" a:x="1"><a:c>é</a:c></a:r>'))
    assert (root.tag, root.get("x"), root[0].text) == ("r", "1", "é")
    latin = '<?xml version="1.0" encoding="ISO-8859-1"?><r>é</r>'.encode("latin-1")
    assert read_xml(written(tmp_path, latin)).text == "é"


@pytest.mark.parametrize(
    ("source", "essence"),
    [
        ("<!DOCTYPE r [<!ENTITY a 'b'>]><r>&a;</r>", "line 1: has a document type"),
        ("<!DOCTYPE r SYSTEM 'file:///etc/passwd'><r/>", "document type"),
        ("<r>&a;</r>", "not well-formed XML: undefined entity"),
        ("<r>\n<c></r>", "line 2, column .*: not well-formed XML: mismatched tag"),
        ("<r>", "not well-formed XML: no element found|unclosed"),
        ("<a>" * 200 + "</a>" * 200, "nested more than 100 levels"),
        ('<?xml version="1.0" encoding="none"?><r/>', "not well-formed XML"),
    ],
)
def test_xml_that_is_dangerous_or_malformed_is_refused(source: str, essence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=essence):
        read_xml(written(tmp_path, source))


def test_rows_and_elements_count_against_the_limit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="more than 10 elements"):
        read_xml(written(tmp_path, "<r>" + "<c/>" * 20 + "</r>"), limit=320)
    with pytest.raises(InputError, match="more than 10 rows"):
        list(read_csv(written(tmp_path, "1,2\n" * 20), limit=320))


def test_csv_rows_come_with_their_lines(tmp_path: Path) -> None:
    rows = list(read_csv(written(tmp_path, "1,\"a,'b'\"\r\n\r\n 2 , x\n")))
    assert rows == [(1, ["1", "a,'b'"]), (3, ["2", "x"])]


def test_csv_fields_beyond_reason_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: not CSV"):
        list(read_csv(written(tmp_path, "x" * 200_000)))


def test_a_large_domain_is_no_larger_than_a_file_may_be() -> None:
    assert SIZE_LIMIT > 236_000 * 370  # edges as graph databases write them, with the nodes between
