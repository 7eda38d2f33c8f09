"""The passes that give buffers another place, or one buffer to several, by name."""

MOVING = (
    "hotdesk-buffer-hoisting",
    "hotdesk-buffer-loop-hoisting",
    "hotdesk-promote-buffers-to-stack",
    "hotdesk-copy-removal",
    "hotdesk-displace-buffers",
    "hotdesk-share-buffers",
    "hotdesk-merge-allocations",
)
