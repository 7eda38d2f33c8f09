"""Plans of arenas for the sizes of each call, and what is proved of them. Read `planner` first."""
