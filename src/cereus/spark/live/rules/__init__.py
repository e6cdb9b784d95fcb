"""Rules that change while a stream runs."""
