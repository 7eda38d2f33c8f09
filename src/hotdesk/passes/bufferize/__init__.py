"""Values to memory."""
