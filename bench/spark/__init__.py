"""The same on Spark: in batch and live, with rules, beside what people write instead."""
