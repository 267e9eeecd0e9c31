"""One module a page: what it needs, what it shows, what its form does."""
