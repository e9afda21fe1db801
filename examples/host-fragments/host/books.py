"""The shop's data, and nothing else."""

from typing import Any

BOOKS: dict[int, dict[str, Any]] = {
    1: {
        "title": "The Old Lock-Keeper",
        "author": "Ida Marsh",
        "price_cents": 1890,
        "reviews": [{"by": "Ann", "stars": 5, "text": "Read in one night."}, {"by": "Ben", "stars": 4, "text": "Slow, & good."}],
        "related": [2, 3],
    },
    2: {
        "title": "Weirs </script><script>alert(1)</script> & Sluices",
        "author": "Tom <b>Reed</b>",
        "price_cents": 2450,
        "reviews": [{"by": "Cleo", "stars": 3, "text": "<!-- odd --> but useful"}],
        "related": [1],
    },
    # Its reviews were lost: the component has nothing to count, and throws.
    3: {"title": "A River's Year", "author": "Ida Marsh", "price_cents": 1200, "reviews": None, "related": [1, 2]},
}
