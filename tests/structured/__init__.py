"""Random tensor programs with control flow, as MLIR text."""

from tests.structured.programs import Program, structured_programs

__all__ = ["Program", "structured_programs"]
