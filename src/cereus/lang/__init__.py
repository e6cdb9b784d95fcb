"""Text → syntax tree: one grammar file and one module per language."""
