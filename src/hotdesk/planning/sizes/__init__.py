"""Plans for sizes that vary by call.

In order: `stacking.py` (what of a plan does not depend on sizes), `all_sizes.py` (whether one stacking is the best for all
sizes), `repacking.py`, `on_call.py` (a plan for the sizes of one call), and `symbolic_offsets.py` (offsets as expressions, for
sizes that are known only when the program runs). Polynomials in sizes, and what is proven of them, are in `hotdesk/sizes/`.
"""
