"""Pipelines that run: as one batch, or live with metrics."""
