"""Who frees each buffer, and where.

Read in this order: `slots` (what is passed on together), `candidates` (whose a memref may be), `owners` (the rules, and their
solution), `releases` (the places); `problem` joins what does not change while they are solved.
"""
