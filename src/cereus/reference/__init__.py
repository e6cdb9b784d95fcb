"""The meaning of each language: slow evaluators written straight from the papers' definitions.

They import nothing of the engine, so the engine can be compared with them.
"""
