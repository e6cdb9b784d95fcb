"""The languages of Cereus, each in its own folder. Importing this package registers them.

A language is loaded when one of its queries comes: before that only its name and its options are
known.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from cereus.language.registry import register
from cereus.languages.algebra.language import Algebra
from cereus.languages.ceql.language import Ceql
from cereus.languages.match_recognize.language import MatchRecognize
from cereus.languages.par.language import Par
from cereus.languages.sase.language import Sase
from cereus.languages.sremo.language import SremoLanguage

ROOMS = ("algebra", "ceql", "match_recognize", "par", "sase", "sremo")

register(Ceql(), default=True)
for _language in (Algebra(), MatchRecognize(), Par(), Sase(), SremoLanguage()):
    register(_language)


class _ShortNames(MetaPathFinder, Loader):
    """Lets `import cereus.sremo` and `from cereus.sremo import event` find the api module of a
    language."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, room = fullname.partition(".")
        return ModuleSpec(fullname, self) if package == "cereus" and room in ROOMS else None

    def exec_module(self, module: ModuleType) -> None:
        room = module.__name__.rpartition(".")[2]
        sys.modules[module.__name__] = import_module(f"cereus.languages.{room}.api")


sys.meta_path.append(_ShortNames())
