"""First-stage retrieval, one file a backend."""
