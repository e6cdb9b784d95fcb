"""Help, completion and pictures: what people see of the commands before they run one."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cereus
from cereus.cli import main

from .conftest import Run

QUERY = "SELECT * WHERE A ; B WITHIN 5 EVENTS"


@pytest.mark.parametrize("command", ["", "run", "check", "show", "demo", "funnel", "spark doctor"])
def test_flags_are_shown_as_flags(command: str, cli: Run) -> None:
    shown = cli(*command.split(), "--help")
    assert shown.exit_code == 0 and "<bool>" not in shown.output


def completed(words: str) -> list[str]:
    """What bash offers for the last word."""
    given = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    environment = {**os.environ, **given, "_CEREUS_COMPLETE": "complete_bash"}
    done = CliRunner().invoke(main.app, [], env=environment, prog_name="cereus")
    return done.stdout.split()


def test_a_shell_completes_commands_and_values() -> None:
    assert completed("cereus ex") == ["explain"]
    assert completed("cereus run --dialect s") == ["sase", "sremo"]
    assert completed("cereus run --limit no") == ["nodes="]
    assert completed("cereus run --engine l") == ["local"]


def test_a_shell_can_be_taught_to_complete() -> None:
    environment = {"_CEREUS_COMPLETE": "source_bash"}
    shown = CliRunner().invoke(main.app, [], env=environment, prog_name="cereus")
    assert "COMPREPLY" in shown.stdout
    assert "--install-completion" in CliRunner().invoke(main.app, ["--help"]).stdout


def test_exit_codes_are_those_of_the_documentation(cli: Run) -> None:
    page = (Path(cereus.__file__).parents[2] / "docs" / "api.md").read_text()
    documented = {int(code) for code in re.findall(r"^\| (\d+) \| ", page, re.MULTILINE)}
    seen = {
        cli("check", QUERY).exit_code,
        cli("check", "SELECT").exit_code,
        cli("check", "--nothing").exit_code,
        cli("equivalent", "(", "a", "--dialect", "par").exit_code,
        main.INTERRUPTED,
    }
    assert seen == documented == {0, 1, 2, 3, 130}


# ---------------------------------------------------------------- pictures


PICTURES = {"png": b"\x89PNG", "svg": b"<svg", "mmd": b"flowchart LR", "dot": b"digraph"}


@pytest.mark.parametrize("kind", PICTURES)
def test_show_draws_in_the_format_of_the_suffix(cli: Run, kind: str) -> None:
    for library in ("igraph", "pydot", "vl_convert"):
        pytest.importorskip(library)
    assert cli("show", QUERY, "-o", f"a.{kind}").exit_code == 0
    assert Path(f"a.{kind}").read_bytes().startswith(PICTURES[kind])


def test_show_draws_nothing_else(cli: Run) -> None:
    failed = cli("show", QUERY, "-o", "a.gif")
    assert failed.exit_code == 1 and ".svg, .png, .mmd, .dot" in failed.stderr
