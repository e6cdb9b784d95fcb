"""Rules that come and go while a stream runs."""
