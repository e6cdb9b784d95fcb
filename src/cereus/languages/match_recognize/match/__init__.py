"""Rows → matches: conditions as letters and slots, and the kernels that search."""
