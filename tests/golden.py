"""Golden files: texts that are kept beside the tests, compared, and renewed on demand.

`pytest --update-golden` writes what is found now; the difference is then read in `git diff`.
There are two kinds: a whole text, and a list of pairs,

    # a heading
    what is given
    → what comes of it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HEADING, ARROW = "# ", "→ "
UPDATE = "--update-golden"


@dataclass(frozen=True)
class Pair:
    heading: str
    given: str
    expected: str


def pairs(path: Path) -> list[Pair]:
    """What a file of pairs holds. A pair that has no arrow yet expects nothing."""
    found: list[Pair] = []
    heading = given = ""
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith(ARROW):
            found.append(Pair(heading, given, line.removeprefix(ARROW)))
            given = ""
            continue
        if given:
            found.append(Pair(heading, given, ""))
        heading = line.removeprefix(HEADING) if line.startswith(HEADING) else heading
        given = "" if line.startswith(HEADING) else line
    return found


@dataclass(frozen=True)
class Golden:
    """The fixture `golden`; when updating it writes, else it compares."""

    update: bool

    def text(self, path: Path, found: str) -> None:
        """The whole file is what was found."""
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{found}\n", encoding="utf-8")
        assert found == path.read_text(encoding="utf-8").removesuffix("\n"), _hint(path)

    def pairs(self, path: Path, change: Callable[[Pair], str]) -> None:
        """What `change` makes of each given line is the line behind its arrow."""
        made = [(pair, change(pair)) for pair in pairs(path)]
        if self.update:
            path.write_text(_pairs_text(made), encoding="utf-8")
        else:
            wrong = [(pair, found) for pair, found in made if pair.expected != found]
            assert not wrong, f"{_hint(path)}\n{_pairs_text(wrong)}"
        assert made, f"{path} is empty"


def _pairs_text(made: list[tuple[Pair, str]]) -> str:
    blocks: dict[str, list[str]] = {}
    for pair, found in made:
        blocks.setdefault(pair.heading, []).append(f"{pair.given}\n{ARROW}{found}\n")
    return "\n".join(
        "".join([f"{HEADING}{heading}\n" if heading else "", "\n".join(lines)])
        for heading, lines in blocks.items()
    )


def _hint(path: Path) -> str:
    return f"not as in {path.name}; if that is meant: pytest {UPDATE}"
