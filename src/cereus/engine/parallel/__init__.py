"""Runs a query on several cores: the input in parts, a thread for each, results in their usual
order."""
