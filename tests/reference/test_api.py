"""The page of the Python interface names everything that is public, and each has a docstring."""

from __future__ import annotations

import inspect
import re
from pkgutil import resolve_name
from types import ModuleType

import pytest

import cereus
from cereus import errors, show, spark
from tests.reference.pages import FOLDER

PAGE = (FOLDER / "api.md").read_text("utf-8")
NAMED = re.findall(r"^::: ([\w.]+)$", PAGE, re.MULTILINE)
PUBLIC = {"cereus": cereus, "cereus.show": show, "cereus.spark": spark}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_on_the_page(name: str) -> None:
    module = PUBLIC[name]
    for each in module.__all__:
        value = getattr(module, each, None)
        path = value.__name__ if isinstance(value, ModuleType) else f"{name}.{each}"
        assert path in NAMED, f"docs/reference/api.md does not have {path}"


def test_every_error_is_on_the_page() -> None:
    for kind in [each for each in vars(errors).values() if inspect.isclass(each)]:
        if not issubclass(kind, Exception):
            continue
        assert f"cereus.errors.{kind.__name__}" in NAMED or f"cereus.{kind.__name__}" in NAMED


@pytest.mark.parametrize("path", NAMED)
def test_what_is_on_the_page_says_what_it_does(path: str) -> None:
    assert inspect.getdoc(resolve_name(path))
