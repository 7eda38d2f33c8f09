"""What Hotdesk knows about each op, one file per dialect: reads, writes, aliases, and its form on buffers."""
