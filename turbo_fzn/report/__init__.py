"""A run as a page for people: what is kept while it goes on, and how that is drawn."""
