"""A function on tensors as records: what it holds, who reads what, and what is known of sizes and spaces."""
