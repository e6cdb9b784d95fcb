"""The commands beside `cereus run`, a file each."""
