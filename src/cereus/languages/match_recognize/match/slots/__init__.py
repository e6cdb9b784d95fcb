"""Conditions that know the match so far, as slots and code for `slots_kernel`."""
