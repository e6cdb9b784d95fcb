"""What happens after a match: it skips others, or waits for what must not follow it."""
