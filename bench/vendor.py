"""A vendor's fleet: each customer is a tenant, and all of them are alike.

`python -m bench.vendor [--customers N]` prints what the fleet weighs as rows of a table and as an entry for each customer, and how
long commands take on both.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tenantry.compare.diff import diff_all
from tenantry.load import load_fleet, plan_all
from tenantry.render import files

PLANS = ("small", "small", "small", "large")
EXTRAS = ("", "", "sso", "backup")
CELLS = ("eu-1", "eu-2", "us-1", "us-2")

MAIN = """\
apiVersion: tenantry/v1
include:
  - {tenants: customers.csv, each: {class: ["{plan}", "{extra}"], state: "{state}"}}
environments:
  test: {management: hub-test, namespace: "c-{tenant}", tenants: [acme]}
  prod: {management: hub, after: test, namespace: "c-{tenant}", protected: true, maxDeletions: 5%}
clusterGroups:
  cell:
    environments: [prod]
    kubeconfig: {capi: {cluster: "{cluster}", namespace: clusters}}
clusters:
  hub: {environments: [prod]}
  hub-test: {environments: [test], labels: {cell: test}}
  eu-1: {group: cell, labels: {cell: eu-1, region: eu}}
  eu-2: {group: cell, labels: {cell: eu-2, region: eu}}
  us-1: {group: cell, labels: {cell: us-1, region: us}}
  us-2: {group: cell, labels: {cell: us-2, region: us}}
platform:
  chart: {helm: {url: "https://charts.example.com", version: 1.0.0}}
tenantClasses:
  customer:
    variables: {seats: 5}
    clusters: {labels: {cell: "{cell}"}}
    sources: {charts: {helm: {url: "https://charts.example.com"}}}
    apps:
      app: {helm: {source: charts, chart: shop, version: 4.2.0, values: {seats: "{seats}", host: "{tenant}.example.com"}}}
      db: {helm: {source: charts, chart: postgres, version: 16.1.0}}
  small: {class: customer, quota: {pods: 10}}
  large: {class: customer, quota: {pods: 50}}
  sso: {apps: {sso: {helm: {source: charts, chart: sso, version: 2.1.0}}}}
  backup: {apps: {backup: {helm: {source: charts, chart: backup, version: 1.4.0}}}}
"""


def customers(count: int) -> list[dict[str, str]]:
    """The rows of the table."""
    return [
        {
            "name": "acme" if index == 0 else f"customer-{index}",
            "plan": PLANS[index % 4],
            "extra": EXTRAS[index // 2 % 4],
            "state": "paused" if index % 100 == 99 else "",
            "seats": str(index % 50 * 5) if index % 3 else "",
            "cell": CELLS[index % 4],
        }
        for index in range(count)
    ]


def as_rows(directory: Path, count: int) -> Path:
    """Write the fleet with a row for each customer."""
    rows = customers(count)
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    (directory / "customers.csv").write_text("\n".join(lines) + "\n")
    (directory / "tenants.yaml").write_text(MAIN)
    return directory / "tenants.yaml"


def as_entries(directory: Path, count: int) -> Path:
    """Write the same fleet with all that a tenant has in an entry of its own."""
    main: dict[str, Any] = yaml.safe_load(MAIN)
    classes = main.pop("tenantClasses")
    del main["include"]
    main["tenants"] = {row["name"]: _entry(row, classes) for row in customers(count)}
    (directory / "tenants.yaml").write_text(yaml.dump(main, sort_keys=False, Dumper=_Plain))
    return directory / "tenants.yaml"


class _Plain(yaml.SafeDumper):
    """Writes equal parts out, as people do."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _entry(row: dict[str, str], classes: dict[str, Any]) -> dict[str, Any]:
    base = classes["customer"]
    entry = {
        "variables": {"seats": int(row["seats"] or 5)},
        "clusters": {"labels": {"cell": row["cell"]}},
        "sources": base["sources"],
        "apps": {**base["apps"], **classes.get(row["extra"], {"apps": {}})["apps"]},
        "quota": classes[row["plan"]]["quota"],
    }
    return {**entry, **({"state": row["state"]} if row["state"] else {})}


def main() -> int:
    parser = argparse.ArgumentParser(description="Weigh a vendor's fleet as rows of a table and as entries.")
    parser.add_argument("--customers", type=int, default=800)
    count = parser.parse_args().customers
    for name, make in (("rows", as_rows), ("entries", as_entries)):
        with tempfile.TemporaryDirectory() as directory:
            print(f"{name}: {_weighed(make(Path(directory), count))}")
    return 0


def _weighed(file: Path) -> str:
    sizes = [
        f"{each.name} {len(each.read_text().splitlines())} lines, {each.stat().st_size} bytes"
        for each in sorted(file.parent.iterdir())
    ]
    seconds: dict[str, float] = {}
    plans = _timed(seconds, "validate", lambda: plan_all(load_fleet(file)))
    _timed(seconds, "render", lambda: [dict(files(plan.objects)) for plan in plans.values()])
    file.write_text(file.read_text().replace("version: 4.2.0", "version: 4.3.0"))
    _timed(seconds, "diff", lambda: diff_all(plans, plan_all(load_fleet(file))))
    objects = sum(len(plan.objects) for plan in plans.values())
    times = ", ".join(f"{what} {took:.2f} s" for what, took in seconds.items())
    return f"{'; '.join(sizes)}; {objects} objects; {times}"


def _timed(seconds: dict[str, float], what: str, run: Callable[[], Any]) -> Any:
    start = time.process_time()
    found = run()
    seconds[what] = time.process_time() - start
    return found


if __name__ == "__main__":
    sys.exit(main())
