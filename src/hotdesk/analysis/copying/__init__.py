"""Which copies between memrefs need not be made."""
