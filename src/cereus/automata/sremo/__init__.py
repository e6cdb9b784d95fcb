"""SREMO as automata made on demand, whose runs carry what their registers hold."""
