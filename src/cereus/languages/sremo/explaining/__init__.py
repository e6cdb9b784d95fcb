"""How an SREMO expression is explained: taken apart, in words, as a picture."""
