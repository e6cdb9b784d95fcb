"""CEQL → Plan: rewriting, checks, the automaton."""
