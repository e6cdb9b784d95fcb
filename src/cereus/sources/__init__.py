"""Events in any form → Arrow record batches. Files are described once (`Files`), and both engines
read them by that description."""

from cereus.sources.files import Files
from cereus.sources.formats import KNOWN_FORMATS, SUFFIXES
from cereus.sources.reading.columnar import BATCH_ROWS
from cereus.sources.scan import Scan, scan
from cereus.sources.source import Source, source
from cereus.sources.tables import to_schema, to_table

__all__ = [
    "BATCH_ROWS",
    "KNOWN_FORMATS",
    "SUFFIXES",
    "Files",
    "Scan",
    "Source",
    "scan",
    "source",
    "to_schema",
    "to_table",
]
