"""How functions take and give memory at their edges, whether tensors may be left, and whose signatures may change."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.memory_spaces import USUAL_SPACES, SpaceRules
from hotdesk.explain import Reason, Source
from hotdesk.ir.functions import Uses, is_private
from hotdesk.ir.locations import source_of


@dataclass(frozen=True, slots=True)
class Conventions:
    """What bufferization does at the edge of a function.

    Attributes:
        functions: signatures become memrefs; if not, they keep their tensors, and arguments are only read.
        returned: results are returned as memrefs, new memory that the caller owns; if not, they are arguments where possible.
        strided_arguments: arguments come in any layout; if not, in row-major order without gaps.
        partial: ops without a model, or of dialects that are left out, keep their tensors.
        in_donated: results may stay in the memory of donated arguments.
        spaces: how memory spaces are found.
    """

    functions: bool = True
    returned: bool = False
    strided_arguments: bool = False
    partial: bool = False
    in_donated: bool = False
    spaces: SpaceRules = USUAL_SPACES


USUAL = Conventions()


def why_fixed(function: ir.Operation, uses: Uses, *, public: bool) -> tuple[Reason, tuple[Source, ...]] | None:
    """Why what a function returns may not change, and the op behind that: somebody calls it who is not known; None if it may.

    `public` says that public functions may change too.
    """
    if not (public or is_private(function)):
        return Reason.PUBLIC_FUNCTION, ()
    if uses.others:
        return Reason.ADDRESS_TAKEN, (source_of(uses.others[0]),)
    return None
