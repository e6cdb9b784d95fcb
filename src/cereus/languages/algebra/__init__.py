"""The resource-bounded event algebra."""
