"""What a language is, and the registry of languages. The languages themselves are in
`languages`."""
