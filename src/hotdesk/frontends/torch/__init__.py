"""PyTorch models: exported (`export.py`) or graph by graph (`dynamo.py`), decomposed, cut where torch-mlir sees nothing.

Read first `export.py`, then `signature.py`, `specs.py` and `dims.py` (arguments and their sizes), `calling.py` (how Python
calls it), `decompositions` (ops taken apart) and `cutting.py` (ops that torch-mlir does not see; sizes in `size_values.py`) with
those that are cut: `control_flow.py`, `data_sizes.py` (with `selections.py` and `size_checks.py`), `random.py`,
`reinterpreted.py`, `foreign.py`. What is refused is in `refusals.py`; a step of training in `training.py`.
"""
