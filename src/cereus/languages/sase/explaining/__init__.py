"""How a query is explained: taken apart, in words, as a picture."""
