"""Why a query matched little or nothing, and why it has not found one expected match."""

from cereus.why.expected import Expected
from cereus.why.result import Ended, Miss, RuleEffect, StepCounts, Why

__all__ = ["Ended", "Expected", "Miss", "RuleEffect", "StepCounts", "Why"]
