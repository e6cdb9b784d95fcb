"""The languages that are known, by name. Every surface asks here; none names a language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cereus.errors import CereusError, did_you_mean
from cereus.language.compiled import CompiledQuery
from cereus.language.protocol import Language, OptionKind, Options, Params
from cereus.limits import Limits
from cereus.stream import Stream

_LANGUAGES: dict[str, Language] = {}


def register(language: Language) -> None:
    """Make a language known by its name and its suffixes."""
    _LANGUAGES[language.name] = language


def unregister(name: str) -> None:
    """Forget a language, as tests do with one of their own."""
    del _LANGUAGES[name]


def names() -> list[str]:
    """The names of all languages, in alphabetical order."""
    return sorted(_LANGUAGES)


def languages() -> Iterator[Language]:
    """All languages, in the order of their names."""
    return (_LANGUAGES[name] for name in names())


def language(name: str) -> Language:
    """The language of a name."""
    if name not in _LANGUAGES:
        raise CereusError(f"unknown dialect {name!r}", hint=did_you_mean(str(name), names()))
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
    for name in options:
        if chosen.option(name) is None:
            known = [option.name for option in chosen.options]
            hint = did_you_mean(name, known) or f"{chosen.name} has no options of its own"
            raise CereusError(f"{chosen.name} has no option {name!r}", hint=hint)
    if chosen.accepts(source):
        if params:
            raise CereusError(
                "params= are for the parameters of a text, and this is an object",
                hint="build the object with the values themselves",
            )
        return chosen.compile(source, stream, limits=limits, **options)
    tree = chosen.parse(source, params=params, **options)  # type: ignore[arg-type]  # refuses what is no text
    return chosen.compile(tree, stream, limits=limits, text=str(source), **options)


def language_of_source(source: object) -> Language:
    """The language that an object is a syntax tree of; texts are in CEQL unless declared."""
    return next((each for each in languages() if each.accepts(source)), language("ceql"))


def dialect_of(path: str | Path) -> str | None:
    """The name of the language that the suffix of a file declares: `q.sase` is in SASE+."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    return next((each.name for each in languages() if suffix in each.suffixes), None)


def suffixes() -> list[str]:
    """The suffixes of query files, of all languages."""
    return [suffix for language in languages() for suffix in language.suffixes]


def options_of(dialect: str, *kinds: OptionKind) -> list[str]:
    """The names of a language's options, all or those of some kinds."""
    if dialect not in _LANGUAGES:
        return []
    options = _LANGUAGES[dialect].options
    return [option.name for option in options if not kinds or option.kind in kinds]
