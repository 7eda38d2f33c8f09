"""Reads IR and returns frozen records; changes nothing."""
