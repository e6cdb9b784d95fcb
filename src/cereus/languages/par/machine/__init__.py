"""From PAR programs to machines: derivatives → machine → minimal machine → one pass over events."""

from cereus.compiled import obey_pure

obey_pure(__path__)  # before any other module of this package is imported
