"""The languages of Cereus, each in a room of its own. Importing this package registers them."""

from cereus.language.registry import register
from cereus.languages.algebra.language import Algebra
from cereus.languages.ceql.language import Ceql
from cereus.languages.match_recognize.language import MatchRecognize
from cereus.languages.par.language import Par
from cereus.languages.sase.language import Sase
from cereus.languages.sremo.language import Sremo

register(Ceql(), default=True)
for _language in (Algebra(), MatchRecognize(), Par(), Sase(), Sremo()):
    register(_language)
