"""Programs kept on disk: what compiling has made of an exported model, so that the next process need not.

An entry holds everything a `Program` is made of but the weights, which are taken from the model by name, and the way it is
called, which the export tells; machine code is an entry of its own. Its key is the identity of the exported program, the options
and the versions. A program that has a part which cannot be written is not kept. See docs/cache.md.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from hotdesk.compiling.linked_program import LinkedProgram
from hotdesk.frontends.donation import Donate
from hotdesk.models.registry import all_built_in
from hotdesk.runtime.archive import ArchiveError, NotArchivable, packed, unpacked
from hotdesk.runtime.cache import keeps_programs, key_of, sources, the_cache
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.code.products import linked_again

if TYPE_CHECKING:
    from hotdesk.frontends.torch.export import Exported


def key_of_program(exported: Exported, donate: Donate, settings: tuple[object, ...]) -> str | None:
    """The key under which a program is kept that is compiled with these settings; None if it is not to be."""
    if not keeps_programs() or the_cache() is None or not all_built_in():
        return None
    text = exported.identity()
    if text is None:
        return None
    versions = f"sympy {version('sympy')} numpy {version('numpy')}"
    return key_of("program", sources(), versions, text, repr(donate), repr(settings))


def keep(key: str, made: LinkedProgram, exported: Exported) -> None:
    """Keeps a program, if everything in it can be written and each weight is found again by its name.

    One that changes tensors of the model is not kept: whether it may depends on the memory that they share. Nor is one that calls
    kernels of PyTorch's: what those calls run is not written down.
    """
    from hotdesk.frontends.captured import Weight
    from hotdesk.frontends.torch.calling import TorchCalling

    cache, calling = the_cache(), made.captured.calling
    if cache is None or made.code is None or not isinstance(calling, TorchCalling) or made.captured.state:
        return
    if made.captured.foreign or calling.carries:
        return
    captured: Any = replace(
        made.captured,
        arguments=tuple(replace(a, tensor=None) if isinstance(a, Weight) else a for a in made.captured.arguments),
        calling=None,
        timings={},
    )
    for argument in made.captured.arguments:
        if isinstance(argument, Weight) and not _is_same(_weight(exported, argument.spec.name), argument.tensor):
            return
    try:
        cache.write(key, packed((replace(made, captured=captured), calling.template)))
    except NotArchivable:
        return


def kept(key: str, exported: Exported) -> tuple[LinkedProgram, CompiledCode] | None:
    """The program that was kept, on the weights of a model; None if there is none that can be used."""
    from hotdesk.frontends.captured import Weight
    from hotdesk.frontends.torch.calling import TorchCalling

    cache = the_cache()
    data = None if cache is None else cache.read(key)
    if cache is None or data is None:
        return None
    try:
        made, template = unpacked(data)
    except ArchiveError:
        cache.drop(key)
        return None
    if not isinstance(made, LinkedProgram) or made.code is None:
        return None
    machine = linked_again(made.code, made.entries, made.common)
    if machine is None:
        return None
    arguments = tuple(
        replace(a, tensor=_weight(exported, a.spec.name)) if isinstance(a, Weight) else a
        for a in made.captured.arguments
    )
    captured = replace(
        made.captured, arguments=arguments, calling=TorchCalling(exported.program, template, held=exported.held)
    )
    return replace(made, captured=captured), machine


def _weight(exported: Exported, name: str) -> Any:
    """The memory of a weight as the program reads it; None if the model has none of that name."""
    from hotdesk.frontends.torch.identity import tensor_of
    from hotdesk.frontends.torch.signature import order_in_memory

    tensor = tensor_of(exported.program, name)
    if tensor is None:
        return None
    tensor = tensor.detach()
    order = None if tensor.is_contiguous() else order_in_memory(tensor)
    if order is None:
        return tensor if tensor.is_contiguous() else None
    return tensor.permute(order)


def _is_same(found: Any, used: Any) -> bool:
    return found is not None and found.data_ptr() == used.data_ptr() and found.shape == used.shape
