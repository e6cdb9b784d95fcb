"""What other engines run for `bench.match_recognize_others`, each in an environment of its own."""
