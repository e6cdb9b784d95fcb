"""Conditions on plain Python values, one event at a time: what automata ask at run time."""
