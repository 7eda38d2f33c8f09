"""Generators of machine code that Hotdesk brings itself: elementary functions, micro-kernels, packing, products."""
