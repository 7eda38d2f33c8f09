"""Who frees each buffer, and where."""
