"""Pictures of queries and of matches."""

from cereus.show.diagram import Diagram, diagram
from cereus.show.funnel import funnel_chart
from cereus.show.timeline import timeline

__all__ = ["Diagram", "diagram", "funnel_chart", "timeline"]
