"""How a plan will run, in words."""
