"""What is put together in one tensor, and may be computed where it lies there."""
