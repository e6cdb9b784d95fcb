"""Funnels: how far each key came through a row of steps."""
