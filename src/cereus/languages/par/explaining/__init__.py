"""How a program is explained: taken apart, in words, as a picture."""
