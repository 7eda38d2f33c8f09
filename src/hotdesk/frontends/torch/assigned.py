"""Buffers and parameters that a model assigns (`self.count = self.count + 1`): new contents are written at the end of a call.

    self.a, self.b = self.b, self.a    ->    a = self.b.clone(); b = self.a.clone(); self.a.copy_(a); self.b.copy_(b)

torch.export writes what is assigned to buffers of the outermost module alone, fails where that is another buffer or an argument,
and drops the rest.

1. New contents have the sizes of the old ones, and are converted to their type.
2. What lies in memory of the model's is cloned, before anything is written.
3. A step of training writes when its gradients are known: they may need the old contents. Its parameters are not assigned.
4. An attribute that is no buffer and that the program reads is refused if it is assigned: its new value would be lost.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.nn.modules import module as modules_of_torch

from hotdesk.errors import ExportError


@dataclass(slots=True)
class Assigned:
    """What the calls of a model have assigned while it was traced.

    Attributes:
        contents: tensors of the model with new contents that are still to be written.
        attributes: the tensors assigned that are neither buffers nor parameters, by the name of the attribute in the model.
    """

    contents: list[tuple[Tensor, Tensor]] = field(default_factory=list[tuple[Tensor, Tensor]])
    attributes: set[str] = field(default_factory=set[str])

    def write(self) -> None:
        """Writes new contents where the tensors lie."""
        for own, value in self.contents:
            (own.detach() if own.requires_grad else own).copy_(value)
        self.contents.clear()

    def refuse_lost(self, program: ExportedProgram) -> None:
        """Raises ExportError if the program reads a tensor that is an attribute, and the model assigns another."""
        for name in sorted(self.attributes & program.constants.keys()):
            expected = "a buffer, which keeps its new contents"
            raise _refusal(name, expected, "a tensor that is an attribute", "Register it with `register_buffer`.")


@contextmanager
def assignments_written(model: torch.nn.Module, *, later: bool = False) -> Generator[Assigned]:
    """While a model is traced, its calls write what they assign to buffers and parameters where these lie.

    `later` leaves that to who calls `write`, in a step of training. ExportError is raised from a call whose new contents have
    other sizes, or that assigns a parameter which is trained.
    """
    found = Assigned()
    held: list[tuple[_Places, _Places]] = []

    def remember(module: torch.nn.Module, *_: Any) -> None:
        _forget_hook_of_export()
        held.append((dict(_state(module)), dict(_attributes(module))))

    def write(module: torch.nn.Module, *_: Any) -> None:
        state, attributes = held.pop()
        found.contents += _taken_back(state, dict(_state(module)), trained=later)
        if not later:
            found.write()
        found.attributes.update(
            name for name, (_, _, tensor) in _attributes(module) if _differs(attributes, name, tensor)
        )

    hooks = (model.register_forward_pre_hook(remember, prepend=True), model.register_forward_hook(write))
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


_Place = tuple[dict[str, Any], str, Tensor]
"""Where a module keeps a tensor: a dictionary, the name in it, and the tensor."""
_Places = dict[str, _Place]


def _state(model: torch.nn.Module) -> Iterator[tuple[str, _Place]]:
    """The buffers and parameters of a model and its modules, by name."""
    for prefix, module in model.named_modules():
        for kept in (module._buffers, module._parameters):
            yield from _tensors(prefix, cast("dict[str, Any]", kept))


def _attributes(model: torch.nn.Module) -> Iterator[tuple[str, _Place]]:
    """The tensors that are attributes of a model and its modules, by name."""
    for prefix, module in model.named_modules():
        yield from _tensors(prefix, module.__dict__)


def _tensors(prefix: str, kept: dict[str, Any]) -> Iterator[tuple[str, _Place]]:
    for name, value in kept.items():
        if isinstance(value, Tensor):
            yield f"{prefix}.{name}".removeprefix("."), (kept, name, value)


def _differs(places: _Places, name: str, tensor: Tensor) -> bool:
    return name in places and places[name][2] is not tensor


def _taken_back(before: _Places, after: _Places, *, trained: bool) -> list[tuple[Tensor, Tensor]]:
    """Puts back the tensors that others were assigned to; each with its new contents."""
    memory = {_memory(tensor) for _, _, tensor in before.values()}
    contents: list[tuple[Tensor, Tensor]] = []
    for name in [name for name, (_, _, tensor) in after.items() if _differs(before, name, tensor)]:
        (kept, key, own), value = before[name], after[name][2]
        if trained and own.requires_grad:
            raise _refusal(name, "a parameter that is trained stays", "another one", "Write it in place, by `copy_`.")
        if value.shape != own.shape:
            expected = f"the sizes that it has: {tuple(own.shape)}"
            raise _refusal(name, expected, str(tuple(value.shape)), "A program writes state where it lies.")
        value = value.detach() if value.requires_grad else value
        contents.append((own, value.clone() if _memory(value) in memory else value))
        kept[key] = own
    return contents


def _refusal(name: str, expected: str, got: str, hint: str) -> ExportError:
    return ExportError(f"the model assigns `{name}`", expected=expected, got=got, hint=hint)


def _memory(tensor: Tensor) -> int:
    return cast(Any, tensor.untyped_storage())._cdata if tensor.layout == torch.strided else id(tensor)


def _forget_hook_of_export() -> None:
    """Takes away what torch.export has PyTorch call when a buffer is assigned: what is assigned is written already."""
    hooks: dict[int, Any] = modules_of_torch._global_buffer_registration_hooks
    for key, hook in list(hooks.items()):
        if hook.__name__ == "_map_assigned_buffer_to_proxy":
            del hooks[key]
