"""PyTorch ops taken apart before import. Read `table` first: it names all the others."""
