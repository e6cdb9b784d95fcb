"""No kind of query may be slow: queries of every kind, and what each costs."""
