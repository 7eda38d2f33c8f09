"""A function on memrefs as records: what each memref may be, and what ops do to its memory."""
