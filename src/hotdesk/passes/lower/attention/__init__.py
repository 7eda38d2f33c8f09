"""The kernel of attention, and what its op's region says of scores."""
