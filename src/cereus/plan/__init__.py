"""Syntax tree → Plan: atoms, automaton, window, keys, output. The same Plan runs everywhere."""
