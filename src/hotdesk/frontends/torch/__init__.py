"""PyTorch models: exported (`export`) or graph by graph (`dynamo`), decomposed, cut where torch-mlir sees nothing, lowered."""
