"""Arrow batches → events that the kernel can read: letters, keys, times, compared values."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
