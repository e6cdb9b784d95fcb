"""The playground: a page on this machine in which queries are written, run and looked at."""
