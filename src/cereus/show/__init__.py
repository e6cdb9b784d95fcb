"""Pictures of queries and of matches."""

from cereus.show.diagram import Diagram, diagram
from cereus.show.timeline import matches_per_key, matches_per_time, save, timeline

__all__ = ["Diagram", "diagram", "matches_per_key", "matches_per_time", "save", "timeline"]
