"""Finds languages of other packages. A package that is installed beside Cereus is known everywhere,
in Spark's workers too, by an entry point that names its class:

    [project.entry-points."cereus.languages"]
    then = "then_language:ThenLanguage"
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.metadata import entry_points

from cereus.language.protocol import Language

GROUP = "cereus.languages"


def installed(known: set[str]) -> Iterator[Language]:
    """The languages of other packages, except those whose names are known. One that cannot be
    imported is skipped with a warning: the others work without it."""
    for point in entry_points(group=GROUP):
        if point.name in known:
            continue
        try:
            yield point.load()()
        except Exception as error:  # anything that a package raises when it is imported
            warnings.warn(f"the language {point.name!r} cannot be loaded: {error}", stacklevel=2)
