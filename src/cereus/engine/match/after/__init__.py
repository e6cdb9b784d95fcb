"""What happens after a match: others are skipped, or it waits for what must not follow."""
