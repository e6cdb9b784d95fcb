"""What a language is, and which languages there are. The languages themselves: `languages`."""
