"""Compare two controls on the same traffic, and look at the data behind the table.

Run it from the top of the checkout: `.venv/bin/python examples/compare.py`
"""

import polars as pl
from rich import print as show

import tidegate

SCENARIO = "scenarios/overloaded-access-link.toml"
SHORT = {"duration": "60s", "warmup": "20s"}


def main() -> None:
    """Print the comparison, and how long small and large transfers took under control."""
    comparison = tidegate.compare(SCENARIO, gates=["none", "close-probe"], seeds=2, settings=SHORT)
    show(comparison.table)
    for row in comparison.rows:
        print(row["settings"], "seed", row["seed"], "completed", row["classes"][0]["completed"])

    run = tidegate.run(SCENARIO, seed=1, settings=SHORT)
    by_size = (
        run.flows.filter(pl.col("fct_s").is_not_null())
        .group_by(small=pl.col("size_bytes") <= 10_000)
        .agg(flows=pl.len(), fct_s=pl.col("fct_s").mean())
        .sort("small")
    )
    print(by_size)


if __name__ == "__main__":
    main()
