"""From a model to a program that can be called.

Read in this order: `compile.py` with `options.py`, `capturing.py` for the front end, `building.py` for the pipeline,
`linked_program.py` for machine code, which `program_cache.py` keeps on disk for other processes, and `instantiating.py` for
memory. `saving.py` gathers what a saved program holds.
"""
