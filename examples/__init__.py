"""Scripts that a reader can run as they are; each says how at its top. `study/` has what the pages share that two of them write."""
