"""Starts Spark on this machine, and checks a machine or a cluster before jobs run there."""
