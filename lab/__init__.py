"""Programs that measure the product and study it; they are not installed."""
