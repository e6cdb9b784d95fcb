"""Explains the plans of CEQL: conditions between events, growth, warnings."""
