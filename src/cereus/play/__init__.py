"""The playground: a page on this machine to write, run and look at queries."""
