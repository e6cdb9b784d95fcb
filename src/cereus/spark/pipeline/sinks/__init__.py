"""Where matches go: what a sink says, whether it can be, and how it is written."""
