"""Runs a SASE+ program and computes its output."""
