"""Sinks that may get the same rows twice: tables that are merged into, and webhooks."""
