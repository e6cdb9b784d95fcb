"""SASE+."""
