"""Text → tree: what names and calls mean, and what a clause may not say."""
