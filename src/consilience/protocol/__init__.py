"""What is asked of a site, and what it answers."""
