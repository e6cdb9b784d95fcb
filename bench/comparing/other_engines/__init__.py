"""What other engines run for `bench.comparing.row_patterns_elsewhere`, each in an environment of
its own."""
