"""Sinks that may be given the same rows twice: tables that are merged into, and webhooks."""
