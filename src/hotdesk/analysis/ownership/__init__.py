"""Who frees each buffer, and where.

Read in this order: `slots` (what is passed on together), `candidates` (whose a memref may be; `shifted_views`: whose address
does not tell), `owners` (the rules, and their solution), `allocators` (which op frees), `releases` (the places) and
`unreleased` (why there is none); `problem` joins what does not change while they are solved.
"""
