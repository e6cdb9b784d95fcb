"""The common part of the texts of all languages: running a grammar, literals, error messages."""
