"""Turns conditions that know the match so far into slots and code for `slots_kernel`."""
