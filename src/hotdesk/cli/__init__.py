"""The command lines of Hotdesk."""
