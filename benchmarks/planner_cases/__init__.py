"""What the planner's benchmark places, and how the page shows it."""
