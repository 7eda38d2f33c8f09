"""PyTorch models: exported (`export.py`) or graph by graph (`dynamo.py`), decomposed, cut where torch-mlir sees nothing.

Read first `export.py`, then `signature.py`, `specs.py` and `dims.py` with `symbolic_numbers.py` (arguments and their sizes),
`calling.py` (how Python calls it, with `constants.py` for arguments that are no tensors, and `carried.py` for element types
that programs have not; `saved_calling.py` without PyTorch), `decompositions` (ops taken apart; `distinct_calls.py` does so once
for equal calls, by `call_tracing.py`) and `cutting.py` (ops that torch-mlir does not see; sizes in `size_values.py`) with those
that are cut: `control_flow.py`, `data_sizes.py` (with `selections.py` and `size_checks.py`), `size_numbers.py`,
`advanced_indexing.py`, `running_extremes.py`, `random.py`, `reinterpreted.py`, `foreign.py`.

What a model is put right by before it is exported: `functions.py`, `examples.py`, `keyed_containers.py`, `assigned.py`; after
that, in this order: `subgraph_constants.py`, `functionalized.py`, `transposed_writes`, then before import
`tensor_assertions.py`, `empties.py`, `splats.py`, `views.py`, and behind it `pooled_places.py`. What is refused is in
`refusals.py` and `refused_types.py`, its lines and messages in `lines.py` and `check_messages.py`. How PyTorch traces is kept
in hand by `tracing_lock.py`, `weighted_l1.py` and `unwritten_code.py`; `identity.py` tells programs apart.

A step of training is in `training.py`, with gradients of its own in `attention_gradient.py` and `cross_entropy.py`; for Dynamo
alone are `compiled_for.py`, `fused_optimizers.py`, `tensor_indices.py`, `subgraph_literals.py`, `saved_inputs.py` and
`returned_views.py`.
`eager.py` asks PyTorch itself.
"""
