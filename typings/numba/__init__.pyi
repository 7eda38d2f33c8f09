from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

def njit(*, cache: bool = ..., nogil: bool = ...) -> Callable[[F], F]: ...
