"""Each mistake in a CEQL text, with the whole message that the person sees.

`errors.txt` has the cases: the text, a line of dashes, the error.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cereus.errors import QueryError
from cereus.languages.ceql.text import parse

CASES = [
    case.split("\n----\n")
    for case in (Path(__file__).parent / "errors.txt").read_text("utf-8").split("====\n")
]


@pytest.mark.parametrize(("text", "message"), CASES, ids=[text for text, _ in CASES])
def test_error_says_where_and_what_to_do(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert f"{type(caught.value).__name__}: {caught.value}\n" == message
