"""PAR, reactive programs."""
