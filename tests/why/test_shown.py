"""What notebooks, reports and the playground show of an answer."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

import cereus
from cereus.language.anatomy import RuleKind
from cereus.why.result import RuleEffect

QUERY = cereus.compile("SELECT * WHERE A AS a ; B AS b FILTER b[x > 5]")
EVENTS = pa.table({"type": ["A", "B"], "x": [1, 2]})


def test_a_rule_that_could_not_be_left_out_is_shown_with_the_reason() -> None:
    rule = RuleEffect(RuleKind.CONDITION, "b[x > 5]", None, note="it takes too many steps")
    shown = replace(QUERY.why(EVENTS), rules=(rule,))._repr_html_()
    assert "condition b[x &gt; 5]: it takes too many steps" in shown
    assert '<td class="number">?</td>' in shown


def test_texts_are_aligned_to_the_left_in_notebooks_too() -> None:
    shown = QUERY.why(EVENTS)._repr_html_()
    assert shown.count("<td") == shown.count('<td class="number"') + shown.count(
        '<td style="text-align:left"'
    )


def test_an_expected_match_shows_itself_with_its_events() -> None:
    shown = QUERY.why_not(EVENTS, [0, 1])._repr_html_()
    assert "<b>rows 0, 1: no match: one rule excludes them</b>" in shown
    assert "<li>the condition b[x &gt; 5]: b.x is 2, off by 3</li>" in shown
    assert shown.count("<tr>") == 3
    assert (
        "<ul>"
        not in QUERY.why_not(pa.table({"type": ["A", "B"], "x": [1, 9]}), [0, 1])._repr_html_()
    )
