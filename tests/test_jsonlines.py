"""Facts are found among whatever else was printed."""

import pytest

from burnish.jsonlines import parse_json_lines


def test_objects_come_in_order_and_everything_else_is_passed_over() -> None:
    lines = ['{"a": 1}', "", "noise", "[1]", "3", '{"torn": ', b'{"b": 2}', b"\xff{", '{"a": 3}']
    assert list(parse_json_lines(lines)) == [{"a": 1}, {"b": 2}, {"a": 3}]


@pytest.mark.parametrize("line", ["[" * 200_000, '{"a":' * 200_000], ids=["lists", "objects"])
def test_a_line_nested_too_deep_to_read_is_no_fact(line: str) -> None:
    assert list(parse_json_lines([line, '{"a": 1}'])) == [{"a": 1}]
