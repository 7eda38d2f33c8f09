"""Runs bufferized programs and tells what they do to memory."""

from tests.running.executable import Executable, Run
from tests.running.heap import Traffic
from tests.running.subjects import (
    MLIR,
    MLIR_AT_CALLERS,
    MLIR_UNFREED,
    OURS,
    RefusedError,
    Subject,
    agree,
    assert_no_more,
    check,
    compiled,
    wanted,
)

__all__ = [
    "MLIR",
    "MLIR_AT_CALLERS",
    "MLIR_UNFREED",
    "OURS",
    "Executable",
    "RefusedError",
    "Run",
    "Subject",
    "Traffic",
    "agree",
    "assert_no_more",
    "check",
    "compiled",
    "wanted",
]
