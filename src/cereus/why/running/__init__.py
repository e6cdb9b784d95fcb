"""Runs queries over events in memory; every event is tested once with each test."""
