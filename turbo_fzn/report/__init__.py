"""The page of a run: the records kept during the run, and the charts drawn from them."""
