"""PAR on the way to running: derivatives → machine → minimal machine → one pass over events."""
