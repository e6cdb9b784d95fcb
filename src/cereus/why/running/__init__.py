"""How queries are run over events in memory, each of which is put to each test once."""
