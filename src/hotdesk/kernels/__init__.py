"""Generators of machine code that Hotdesk brings itself."""
