"""Citations: the store that holds them."""
