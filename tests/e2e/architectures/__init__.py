"""Small random models of `transformers`, one for each architecture, and what becomes of them in `hotdesk.compile`."""
