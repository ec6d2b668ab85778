"""Lowering: model.Model -> TNF, one row of `x = y op z` at a time."""
