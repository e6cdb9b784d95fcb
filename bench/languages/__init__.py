"""What the queries of the papers cost, language by language."""
