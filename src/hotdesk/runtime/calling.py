"""The plain way to call a program: a tensor for each input, by position or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotdesk.errors import ArgumentCountError


class Positional:
    """Tensors in, one tensor or a tuple of tensors out."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    @property
    def parameters(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return tuple((name, (number,)) for number, name in enumerate(self._names))

    def flatten(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Sequence[object]:
        if not kwargs and len(args) == len(self._names):
            return args
        given = dict(zip(self._names, args, strict=False))
        unknown = sorted(kwargs.keys() - set(self._names))
        if unknown:
            raise ArgumentCountError("arguments", expected=_listed(self._names), got=f"a keyword '{unknown[0]}'")
        twice = sorted(kwargs.keys() & given.keys())
        if twice:
            raise ArgumentCountError("arguments", expected=_listed(self._names), got=f"'{twice[0]}' twice")
        given.update(kwargs)
        if len(args) > len(self._names) or len(given) < len(self._names):
            missing = [name for name in self._names if name not in given]
            got = f"{len(args) + len(kwargs)}" + (f", without {', '.join(missing)}" if missing else "")
            raise ArgumentCountError("arguments", expected=_listed(self._names), got=got)
        return tuple(given[name] for name in self._names)

    def unflatten(self, results: Sequence[object], symbols: Mapping[str, int], leaves: Sequence[object]) -> object:
        return results[0] if len(results) == 1 else tuple(results)


def _listed(names: tuple[str, ...]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "none"
