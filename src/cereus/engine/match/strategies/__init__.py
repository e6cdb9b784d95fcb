"""Strategies that choose among the matches of an event, where the kernel cannot."""
