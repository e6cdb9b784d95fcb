"""Reads files of one format: lines in blocks, texts as values, columns as they are stored."""
