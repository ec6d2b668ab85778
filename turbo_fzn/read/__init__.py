"""Reading: text in an input language -> model.Model."""
