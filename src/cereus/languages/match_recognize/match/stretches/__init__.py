"""Which rows change nothing for a run that waits: blocks of rows, and conditions over them."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
