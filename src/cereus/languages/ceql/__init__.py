"""CEQL, the query language of complex event logic (CEL)."""
