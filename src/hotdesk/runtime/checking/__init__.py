"""The memory checker: an interpreter of programs on memrefs in which every byte knows who allocated, freed and wrote it."""
