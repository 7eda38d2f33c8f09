"""`Source`: an operation as users know it, by its name, its Python line and its submodule."""

from hotdesk.python.record import Record


class Source(Record):
    """An operation a decision rests on.

    Attributes:
        op: its name.
        location: its Python line such as `model.py:12`, or `""` if unknown.
        module: the submodule of the model that it comes from, such as `encoder.layer.3`; `""` if unknown.
    """

    op: str
    location: str = ""
    module: str = ""

    def __str__(self) -> str:
        return f"{self.op} at {self.location}" if self.location else self.op
