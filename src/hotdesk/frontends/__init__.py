"""From user programs to linalg on tensors."""
