"""Networks whose memory depends on the order of their operations, and what reordering makes of it."""
