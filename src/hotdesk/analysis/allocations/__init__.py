"""What allocations are, and where else their memory may be: earlier, on the stack, in another's, in an arena."""
