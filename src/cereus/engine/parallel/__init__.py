"""One run on several cores: the input in parts, a thread for each, results in their usual order."""
