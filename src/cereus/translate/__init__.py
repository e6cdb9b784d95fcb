"""From one language to another. The only place that knows several languages."""
