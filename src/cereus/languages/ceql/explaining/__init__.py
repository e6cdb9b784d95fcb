"""How CEQL explains its plans: conditions between events, growth, warnings."""
