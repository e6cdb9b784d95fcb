"""Rows → matches: conditions as letters and slots, and the kernels that search."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
