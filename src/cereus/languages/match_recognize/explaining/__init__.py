"""How a row pattern is explained: taken apart, in words, as a picture."""
