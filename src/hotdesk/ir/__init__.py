"""Small typed helpers over MLIR, which know nothing of what passes want with them.

Read first IR as it is: `context.py`, `walking.py`, `locations.py`, `types.py`, `functions.py`, `symbols.py`, and
`printed_constants.py`, what the bindings do not tell of constants; `op_maps.py` keeps something by ops. Making ops:
`building.py`, `loops.py`, `generic_inputs.py`, `recompute.py`, `arithmetic.py`, `divisions.py`, `size_ops.py`, `laid_out.py`;
`linking.py` takes functions of others. Attributes: `signature.py` (of functions, with `argument_sizes.py`) and `dialect.py`
(the `hotdesk` dialect). Sizes of results: `shapes.py`.
"""
