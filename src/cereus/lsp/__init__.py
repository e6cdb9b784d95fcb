"""A language server for query files: diagnostics, hover, completion, formatting, colours."""
