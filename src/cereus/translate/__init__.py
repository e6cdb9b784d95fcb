"""Translates queries from one language to another. Only this folder knows several languages."""
