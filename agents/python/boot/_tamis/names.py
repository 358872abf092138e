"""Names as the plan of `tamis select` has them."""

from functools import lru_cache


@lru_cache(1 << 16)
def name_hash(name):
    """FNV-1a with 32 bits."""
    found = 0x811C9DC5
    for byte in name.encode("utf-8", "surrogatepass"):
        found = ((found ^ byte) * 0x01000193) & 0xFFFFFFFF
    return found
