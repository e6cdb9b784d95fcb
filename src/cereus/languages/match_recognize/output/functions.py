"""Numbers of the functions that `scan_kernel` computes."""

SUM = 0
MINIMUM = 1
MAXIMUM = 2
SQUARES = 3  # squared distances from the mean
