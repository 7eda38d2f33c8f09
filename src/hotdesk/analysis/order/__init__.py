"""A block as a scheduling problem, and its operations done in parts or again, so that less is held at once."""
