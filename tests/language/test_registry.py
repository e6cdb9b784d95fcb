"""What the registry knows of the languages is what the docs, the help and every surface show."""

from __future__ import annotations

from pathlib import Path

import pytest

from cereus.errors import CereusError
from cereus.language.protocol import EquivalenceAnswer, Language, OptionKind
from cereus.language.registry import default_name, dialect_of, language, languages, names
from cereus.translate.translate import INTO

DOCS = Path(__file__).parent.parent.parent / "docs" / "api.md"


def row(each: Language) -> str:
    """A language as docs/api.md lists it."""
    options = ", ".join(f"`{option.name}`" for option in each.options) or "–"
    limits = "all" if each.limits == Language.limits else ", ".join(each.limits) or "none"
    files = ", ".join(f"`.{suffix}`" for suffix in each.suffixes)
    return f"| `{each.name}` | {each.title} | {files} | {options} | {limits} |"


@pytest.mark.parametrize("name", names())
def test_the_docs_list_every_language(name: str) -> None:
    assert row(language(name)) in DOCS.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", names())
def test_the_docs_explain_every_option(name: str) -> None:
    text = DOCS.read_text(encoding="utf-8")
    for option in language(name).options:
        assert f"| `{option.name}` | {name} | {option.help} |" in text


@pytest.mark.parametrize("name", names())
def test_a_language_says_all_of_itself(name: str) -> None:
    each = language(name)
    assert each.name == name and each.title and each.suffixes
    assert all(dialect_of(f"query.{suffix}") == name for suffix in each.suffixes)
    assert all(option.help and option.kind in OptionKind for option in each.options)
    assert all(option.name.isidentifier() for option in each.options)
    assert set(each.limits) <= set(Language.limits)


def test_no_two_languages_share_a_suffix() -> None:
    suffixes = [suffix for each in languages() for suffix in each.suffixes]
    assert len(suffixes) == len(set(suffixes))


def test_texts_are_in_the_default_language_and_others_can_be_written_as_some() -> None:
    assert default_name() in names()
    assert set(INTO) <= set(names())


def test_what_is_not_known_is_refused_with_what_is() -> None:
    with pytest.raises(CereusError, match=r"unknown dialect 'seql'\nhint: did you mean 'ceql'"):
        language("seql")


def test_only_some_languages_compare_queries() -> None:
    for each in languages():
        if each.compares:
            assert isinstance(each.equivalent("a", "a"), EquivalenceAnswer)
        else:
            with pytest.raises(NotImplementedError):
                each.equivalent("a", "a")
