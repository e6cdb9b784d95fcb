"""Explains why a query matched little or nothing, and why it has not found one expected match."""

from cereus.why.expected import ExpectedMatch
from cereus.why.result import Ended, Miss, RuleEffect, StepCounts, Why

__all__ = ["Ended", "ExpectedMatch", "Miss", "RuleEffect", "StepCounts", "Why"]
