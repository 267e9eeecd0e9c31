"""The REST interface, one module per subject."""
