"""Pictures of queries and of matches."""

from cereus.show.diagram import Diagram, diagram
from cereus.show.funnel import funnel_chart
from cereus.show.pictures import save
from cereus.show.timeline import matches_per_key, matches_per_time, timeline

__all__ = [
    "Diagram",
    "diagram",
    "funnel_chart",
    "matches_per_key",
    "matches_per_time",
    "save",
    "timeline",
]
