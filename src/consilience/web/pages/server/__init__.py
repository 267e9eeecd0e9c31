"""The study server's pages, one module each: what it needs, what it shows, what its forms do."""
