"""What the texts of all languages share: running a grammar, literals, error messages."""
