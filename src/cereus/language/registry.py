"""The registered languages by name. Every surface looks here; none names a language.

Languages of other packages are looked for when all are listed, or when an unknown one is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from cereus.errors import CereusError, QuerySyntaxError, did_you_mean, switch
from cereus.language.compiled import CompiledQuery
from cereus.language.plugins import installed
from cereus.language.protocol import Language, Option, OptionKind, Options, Params
from cereus.limits import Limits
from cereus.stream import Stream

_LANGUAGES: dict[str, Language] = {}
_DEFAULT: list[str] = []


def register(language: Language, *, default: bool = False) -> None:
    """Make a language known by its name and its suffixes. Texts are in the `default` language
    where nothing declares another."""
    _LANGUAGES[language.name] = language
    if default:
        _DEFAULT[:] = [language.name]


def unregister(name: str) -> None:
    """Forget a language, as tests do."""
    _LANGUAGES.pop(name, None)


def names() -> list[str]:
    """The names of all languages, in alphabetical order."""
    _look_for_others_once()
    return sorted(_LANGUAGES)


@cache
def _look_for_others_once() -> None:
    look_for_others()


def look_for_others() -> None:
    """Register the languages of other packages that are not known yet."""
    for other in installed(set(_LANGUAGES)):
        register(other)


def default_name() -> str:
    """The name of the language that texts are in where nothing declares another."""
    return _DEFAULT[0]


def languages() -> Iterator[Language]:
    """All languages, in the order of their names."""
    return (_LANGUAGES[name] for name in names())


def embedding_languages() -> list[Language]:
    """The languages whose clauses stand in statements of SQL."""
    return [each for each in languages() if each.embedded]


def language(name: str) -> Language:
    """The language of a name."""
    if not isinstance(name, str):
        raise CereusError(f"unknown dialect {name!r}", hint=f"known: {', '.join(names())}")
    if name not in _LANGUAGES:
        look_for_others()  # look again: a worker of Spark may have been sent a package
    if name not in _LANGUAGES:
        raise CereusError(f"unknown dialect {name!r}", hint=did_you_mean(name, names()))
    return _LANGUAGES[name]


def compile_source(
    source: object,
    dialect: str | None,
    stream: Stream,
    limits: Limits,
    options: Options,
    params: Params | None = None,
) -> CompiledQuery:
    """A text of a language, or a syntax tree of one, compiled with options that it has. `params`
    are the values of the parameters in a text."""
    chosen = language(dialect) if dialect is not None else language_of_source(source)
    source = chosen.text_of(source) or source
    _check_options(chosen, options)
    _check_limits(chosen, limits)
    if chosen.accepts(source):
        if params:
            raise CereusError(
                "params= are for the parameters of a text, and this is an object",
                hint="build the object with the values themselves",
            )
        return chosen.compile(source, stream, limits=limits, **options)
    try:
        tree = chosen.parse(source, params=params, **options)  # type: ignore[arg-type]  # refuses what is no text
    except QuerySyntaxError as error:
        raise _with_its_language(error, str(source), chosen) from None
    return chosen.compile(tree, stream, limits=limits, text=str(source), **options)


def _with_its_language(error: QuerySyntaxError, text: str, tried: Language) -> QuerySyntaxError:
    """The error; if the text has the signature of another language, it names that language."""
    for each in languages():
        if each is tried or each.signature is None:
            continue
        if re.search(each.signature, text, re.IGNORECASE | re.DOTALL):
            statement = ", or give a whole statement to cereus.sql" if each.embedded else ""
            hint = f"this is {each.title}, not {tried.title}: say dialect={each.name!r}{statement}"
            return QuerySyntaxError(error.reason, text=error.text, span=error.span, hint=hint)
    return error


def _check_options(chosen: Language, options: Options) -> None:
    for name, value in options.items():
        option = chosen.option(name)
        if option is None:
            known = [option.name for option in chosen.options]
            hint = _of_stream(name, value) or did_you_mean(name, known)
            hint = hint or f"{chosen.name} has no options of its own"
            raise CereusError(f"{chosen.name} has no option {name!r}", hint=hint)
        if value is not None:
            _check_kind(option, value)


def _of_stream(name: str, value: Any) -> str | None:
    """`compile(text, time="ts")`: the columns are named by a Stream."""
    names = [each.name for each in fields(Stream)]
    return f"write stream=cereus.Stream({name}={value!r})" if name in names else None


def _check_kind(option: Option, value: Any) -> None:
    if option.kind is OptionKind.SWITCH:
        switch(option.name, value)
    elif option.kind is OptionKind.TEXT and (
        isinstance(value, bool) or not isinstance(value, str | int | float)
    ):
        raise CereusError(
            f"{option.name}= is a text or a number, not a {type(value).__name__}",
            hint="a text stands in quotation marks",
        )


def _check_limits(chosen: Language, limits: Limits) -> None:
    for name in limits.given:
        if name not in chosen.limits:
            known = f"it has {', '.join(chosen.limits)}" if chosen.limits else "it has none at all"
            raise CereusError(f"{chosen.name} has no limit {name!r}", hint=known)


def language_of_source(source: object) -> Language:
    """The language that an object is a syntax tree of; the default language for texts."""
    default = language(default_name())
    if isinstance(source, str):
        return default
    return next((each for each in languages() if each.accepts(source)), default)


def text_of_source(source: object) -> object:
    """The text that a built query stands for; anything else as it is."""
    return (
        source if isinstance(source, str) else language_of_source(source).text_of(source) or source
    )


def dialect_of(path: str | Path) -> str | None:
    """The name of the language that the suffix of a file declares."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    return next((each.name for each in languages() if suffix in each.suffixes), None)


def suffixes() -> list[str]:
    """The suffixes of query files, of all languages."""
    return [suffix for each in languages() for suffix in each.suffixes]


def options_of(dialect: str, *kinds: OptionKind) -> list[str]:
    """The names of a language's options, all or those of some kinds."""
    if dialect not in names():
        return []
    options = language(dialect).options
    return [option.name for option in options if not kinds or option.kind in kinds]
