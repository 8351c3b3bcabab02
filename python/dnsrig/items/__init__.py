"""The items of verification, one module each: `items/<role>/<id>_<name>.py` has ITEM and `check`."""
