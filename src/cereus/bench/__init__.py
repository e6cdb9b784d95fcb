"""Measures how fast queries run here: in CPU time, next to a floor measured in the same run.

`cereus bench` measures a query over your events, or the built-in queries over generated ones. The
benchmarks of the repository (`bench/`) use the same clock, pages and pictures.
"""
