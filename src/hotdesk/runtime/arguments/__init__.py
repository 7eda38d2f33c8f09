"""A call's arguments and results: tensors as addresses, checks of types and sizes, donation, `out=`. Read `admission` first."""
