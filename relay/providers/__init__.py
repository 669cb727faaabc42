"""Live models behind one seam (`model.py`); siblings do not know each other."""
