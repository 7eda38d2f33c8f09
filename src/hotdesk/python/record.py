"""`Record`: what `typing.NamedTuple` is, for classes that are made whenever a program is loaded.

`NamedTuple` runs text as code and looks at each annotation, which takes a tenth of a millisecond for a class; a frozen dataclass
takes a whole one. A class of records is made in a hundredth: its fields are properties, and one `__new__` serves all classes.
That makes a record more slowly: those that each call makes are of `NamedTuple`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Record"]

if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:
    from operator import itemgetter

    class _Fields(type):
        """Makes of a class's annotations the fields of a tuple."""

        def __new__(cls, name, bases, members):
            if any(getattr(each, "_fields", ()) for each in bases):
                raise TypeError(f"{name}: its base has fields of its own")
            names = tuple(members.get("__annotations__", ()))
            defaults = {each: members[each] for each in names if each in members}
            if tuple(defaults) != names[len(names) - len(defaults) :]:
                raise TypeError(f"{name}: a field without a default follows one that has a default")
            getters = {each: property(itemgetter(number)) for number, each in enumerate(names)}
            own = {"_fields": names, "__match_args__": names, "_field_defaults": defaults, "__slots__": ()}
            return super().__new__(cls, name, bases, {**members, **getters, **own})

    class Record(tuple, metaclass=_Fields):
        """A tuple whose values have names: subclasses annotate them, those with defaults last."""

        def __new__(cls, *values, **named):
            fields = cls._fields
            if named or len(values) != len(fields):
                rest = fields[len(values) :]
                try:
                    values += tuple([named.pop(each) if each in named else cls._field_defaults[each] for each in rest])
                except KeyError as missing:
                    raise TypeError(f"{cls.__name__}: no value for field {missing}") from None
                if named or len(values) != len(fields):
                    wrong = f"no field '{next(iter(named))}' without a value" if named else f"{len(values)} values"
                    raise TypeError(f"{cls.__name__}: {wrong}, of fields {', '.join(fields)}")
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, **named):
            return type(self)(**{**self._asdict(), **named})

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            values = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({values})"
