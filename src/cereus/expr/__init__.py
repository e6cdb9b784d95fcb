"""The condition language: tree, grammar, types, functions, checks, printing."""
